// SPDX-License-Identifier: MIT
#include "engine/visibility/new_version_tracker.h"

#include <algorithm>

namespace cellfs {

void NewVersionTracker::Period::AddVersionTombstone(const CellView& tombstone) {
  version_tombstones[tombstone.timestamp].insert(tombstone.sequence_id);
  // The stretch it ends begins with the puts counted so far that were written before it.
  const std::set<SequenceId>& following = counted.lower_bound(tombstone.sequence_id)->second;
  std::set<SequenceId> alive(following.begin(), following.lower_bound(tombstone.sequence_id));
  counted[tombstone.sequence_id] = std::move(alive);
}

void NewVersionTracker::Reset() {
  family_periods_.clear();
  family_periods_[kMaxSequenceId];
  column_periods_ = family_periods_;
  qualifier_.reset();
}

std::optional<SequenceId> NewVersionTracker::Enter(const CellView& cell) {
  const bool is_put = cell.type == CellType::kPut;
  if (qualifier_ != cell.qualifier) {
    qualifier_ = cell.qualifier;
    column_periods_ = family_periods_;
  } else if (last_was_put_ && is_put && last_timestamp_ == cell.timestamp) {
    return last_sequence_id_;
  }
  last_timestamp_ = cell.timestamp;
  last_sequence_id_ = cell.sequence_id;
  last_was_put_ = is_put;
  return std::nullopt;
}

void NewVersionTracker::Add(const CellView& tombstone) {
  Enter(tombstone);
  const SequenceId written = tombstone.sequence_id;
  const auto add = [&](Periods& periods, bool whole_range) {
    if (whole_range) {
      periods[written] = Period{.hides_up_to = tombstone.timestamp};
    } else {
      periods.lower_bound(written)->second.AddVersionTombstone(tombstone);
    }
  };
  switch (tombstone.type) {
    case CellType::kDeleteFamily:
    case CellType::kDeleteFamilyVersion:
      add(family_periods_, tombstone.type == CellType::kDeleteFamily);
      // It lies in the empty column, which is being walked.
      add(column_periods_, tombstone.type == CellType::kDeleteFamily);
      break;
    default:
      add(column_periods_, tombstone.type == CellType::kDeleteColumn);
  }
}

bool NewVersionTracker::IsHidden(const CellView& put) {
  const std::optional<SequenceId> repeated_by = Enter(put);
  const SequenceId written = put.sequence_id;
  for (auto period = column_periods_.lower_bound(written); period != column_periods_.end();
       ++period) {
    Period& now = period->second;
    SequenceId deleted_by = kMaxSequenceId;
    if (auto at = now.version_tombstones.find(put.timestamp); at != now.version_tombstones.end()) {
      if (auto first = at->second.lower_bound(written); first != at->second.end()) {
        deleted_by = *first;
      }
    }
    const SequenceId until = std::min(repeated_by.value_or(kMaxSequenceId), deleted_by);
    for (auto stretch = now.counted.lower_bound(written);
         stretch != now.counted.end() && stretch->first <= until; ++stretch) {
      if (stretch->second.size() >= max_versions_) return true;
      stretch->second.insert(written);
    }
    if (deleted_by < kMaxSequenceId) return true;
    if (now.hides_up_to && put.timestamp <= *now.hides_up_to) return true;
  }
  return repeated_by.has_value();
}

}  // namespace cellfs
