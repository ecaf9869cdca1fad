// SPDX-License-Identifier: MIT
#include "engine/visibility/withdrawals.h"

#include <cassert>

namespace cellfs {

void Withdrawals::Add(const CellView& marker) {
  assert(marker.type == kWithdrawMarker && marker.value.size() == 1);
  if (markers_.empty() || !IsHere(marker)) {
    markers_.clear();
    row_ = marker.row;
    qualifier_ = marker.qualifier;
    timestamp_ = marker.timestamp;
  }
  markers_.push_back({static_cast<CellType>(marker.value[0]), marker.sequence_id});
}

SequenceId Withdrawals::WithdrawnBy(const CellView& cell) {
  if (markers_.empty()) return 0;
  if (!IsHere(cell)) {
    markers_.clear();
    return 0;
  }
  SequenceId first = 0;
  for (const Marker& marker : markers_) {
    if (marker.type == cell.type && cell.sequence_id < marker.sequence_id) {
      first = marker.sequence_id;
    }
  }
  return first;
}

}  // namespace cellfs
