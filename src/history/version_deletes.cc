// SPDX-License-Identifier: MIT
#include "src/history/version_deletes.h"

#include <algorithm>

namespace cellfs {

void VersionDeletes::BeginFamily() {
  with_.BeginFamily();
  without_.BeginFamily();
  family_lost_.clear();
  family_up_to_ = -1;
  family_has_any_ = false;
  BeginColumn();
}

void VersionDeletes::BeginColumn() {
  with_.BeginColumn();
  without_.BeginColumn();
  lost_ = family_lost_;
  column_up_to_ = -1;
  has_any_ = family_has_any_;
}

void VersionDeletes::See(const Cell& cell, bool loses) {
  if (cell.timestamp > time_.up_to) return;
  with_.See(cell);
  if (IsVersionTombstone(cell.type)) {
    SeeDelete(cell, loses);
    return;
  }
  without_.See(cell);
  if (cell.type == CellType::kPut) lost_.erase(cell.timestamp);
  if (cell.type == CellType::kDeleteFamily) family_up_to_ = std::max(family_up_to_, cell.timestamp);
  if (cell.type == CellType::kDeleteColumn) column_up_to_ = std::max(column_up_to_, cell.timestamp);
}

void VersionDeletes::SeeDelete(const Cell& tombstone, bool loses) {
  const bool is_of_family = IsFamilyTombstone(tombstone.type);
  has_any_ = true;
  family_has_any_ |= is_of_family;
  if (!loses) return;
  lost_.insert(tombstone.timestamp);
  if (is_of_family) family_lost_.insert(tombstone.timestamp);
}

bool VersionDeletes::Matter() {
  if (!has_any_) return false;
  const Cell* const with = with_.Visible();
  const Cell* const without = without_.Visible();
  if ((with == nullptr) != (without == nullptr)) return true;
  if (with != nullptr && with->timestamp != without->timestamp) return true;
  if (lost_.empty()) return false;
  const Timestamp newest = *lost_.rbegin();
  const bool is_above = with == nullptr || newest > with->timestamp;
  return is_above && newest > column_up_to_ && WouldShow(newest);
}

bool VersionDeletes::MatterToUnnamed() const {
  return !family_lost_.empty() && WouldShow(*family_lost_.rbegin());
}

bool VersionDeletes::WouldShow(Timestamp lost) const {
  return lost > family_up_to_ &&
         (family_.min_versions() > 0 || !HasTtlEnded(family_, lost, time_.now));
}

}  // namespace cellfs
