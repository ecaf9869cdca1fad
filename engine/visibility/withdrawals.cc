// SPDX-License-Identifier: MIT
#include "engine/visibility/withdrawals.h"

#include <algorithm>

#include "engine/visibility/cell_cursor.h"

namespace cellfs {

bool Withdrawals::Hides(const CellView& cell) {
  if (cell.type == kWithdrawMarker) {
    if (!IsHere(cell)) StandAt(cell);
    markers_.push_back({static_cast<CellType>(cell.value[0]), cell.sequence_id});
    return true;
  }
  if (markers_.empty()) return false;
  if (!IsHere(cell)) {
    markers_.clear();
    return false;
  }
  return std::any_of(markers_.begin(), markers_.end(), [&](const Marker& marker) {
    return marker.type == cell.type && cell.sequence_id < marker.sequence_id;
  });
}

bool Withdrawals::IsHere(const CellView& cell) const {
  return !markers_.empty() && cell.timestamp == timestamp_ && cell.qualifier == qualifier_ &&
         cell.row == row_;
}

void Withdrawals::StandAt(const CellView& cell) {
  markers_.clear();
  row_ = cell.row;
  qualifier_ = cell.qualifier;
  timestamp_ = cell.timestamp;
}

}  // namespace cellfs
