// SPDX-License-Identifier: MIT
#include "engine/visibility/delete_tracker.h"

namespace cellfs {

void DeleteTracker::Reset() {
  has_family_stamp_ = false;
  family_version_stamps_.clear();
  has_column_tombstone_ = false;
}

void DeleteTracker::Add(const CellView& tombstone) {
  if (has_family_stamp_ && tombstone.timestamp <= family_stamp_) return;  // hidden itself
  if (tombstone.type == CellType::kDeleteFamily) {
    has_family_stamp_ = true;
    family_stamp_ = tombstone.timestamp;
    return;
  }
  if (tombstone.type == CellType::kDeleteFamilyVersion) {
    family_version_stamps_.insert(tombstone.timestamp);
    return;
  }
  // A DeleteColumn already hides what a Delete below it could.
  if (has_column_tombstone_ && tombstone.type < type_ && tombstone.qualifier == qualifier_) return;
  has_column_tombstone_ = true;
  qualifier_ = tombstone.qualifier;
  type_ = tombstone.type;
  timestamp_ = tombstone.timestamp;
}

bool DeleteTracker::IsRedundant(const CellView& tombstone) const {
  if (has_family_stamp_ && tombstone.timestamp <= family_stamp_) return true;
  if (tombstone.type == CellType::kDeleteFamily) return false;
  const bool one_version = tombstone.type != CellType::kDeleteColumn;
  if (one_version && family_version_stamps_.contains(tombstone.timestamp)) return true;
  if (IsFamilyTombstone(tombstone.type)) return false;
  if (!has_column_tombstone_ || tombstone.qualifier != qualifier_) return false;
  if (type_ == CellType::kDeleteColumn) return true;
  return one_version && tombstone.timestamp == timestamp_;
}

DeleteTracker::Result DeleteTracker::IsDeleted(const CellView& put) {
  if (has_family_stamp_ && put.timestamp <= family_stamp_) return Result::kColumnDeleted;
  if (family_version_stamps_.contains(put.timestamp)) return Result::kVersionDeleted;
  if (!has_column_tombstone_) return Result::kNotDeleted;
  if (put.qualifier == qualifier_) {
    if (type_ == CellType::kDeleteColumn) return Result::kColumnDeleted;
    if (put.timestamp == timestamp_) return Result::kVersionDeleted;
  }
  has_column_tombstone_ = false;  // a later column, or past the one version it hid
  return Result::kNotDeleted;
}

}  // namespace cellfs
