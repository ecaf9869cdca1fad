// SPDX-License-Identifier: MIT
#include "engine/visibility/lost_states.h"

#include <algorithm>
#include <utility>

#include "engine/visibility/query_matcher.h"

namespace cellfs {

LostStates::LostStates(const FamilySchema& family, Timestamp now)
    : now_(now),
      oldest_unexpired_(family.min_versions() == 0 ? OldestUnexpired(family, now) : kNone) {}

void LostStates::BeginRow(const CellView& cell) {
  row_ = cell.row;
  family_deleted_ = kNone;
  has_family_versions_ = false;
  BeginColumn(cell);
}

void LostStates::BeginColumn(const CellView& cell) {
  qualifier_ = cell.qualifier;
  version_deleted_ = kNone;
  superseded_ = now_;
}

void LostStates::See(const CellView& cell, bool stays) {
  if (std::exchange(is_first_, false) || cell.row != row_) {
    BeginRow(cell);
  } else if (cell.qualifier != qualifier_) {
    BeginColumn(cell);
  }
  if (cell.type == CellType::kDeleteFamily) {
    family_deleted_ = std::max(family_deleted_, cell.timestamp);
  } else if (cell.type == CellType::kDeleteFamilyVersion) {
    has_family_versions_ = true;
  } else if (cell.type == CellType::kDeleteColumn) {
    superseded_ = std::min(superseded_, cell.timestamp);
  } else if (cell.type == CellType::kDelete) {
    version_deleted_ = cell.timestamp;
  } else if (cell.timestamp != version_deleted_) {  // such a one was never seen
    SeePut(cell, stays);
  }
}

void LostStates::SeePut(const CellView& put, bool stays) {
  Timestamp seen_until = superseded_;
  if (family_deleted_ >= put.timestamp) seen_until = std::min(seen_until, family_deleted_);
  if (!stays && !HasExpired(put) && seen_until > put.timestamp)
    complete_since_ = std::max(complete_since_, seen_until);
  // A tombstone of the family's version may hide this one: then what comes next was seen for longer.
  if (!has_family_versions_) superseded_ = std::min(superseded_, put.timestamp);
}

bool LostStates::HasExpired(const CellView& put) const {
  return put.timestamp < oldest_unexpired_ ||
         (put.time_to_live != kNoCellTtl && put.time_to_live < now_ - put.timestamp);
}

}  // namespace cellfs
