// SPDX-License-Identifier: MIT
//
// Withdrawals: what a withdrawal hides (WithdrawCell, kWithdrawMarker). A marker hides the cells of
// its row, column, timestamp and of the type in its value that have a smaller sequence id, in
// whatever memstore or file marker and cell lie.
#ifndef CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_
#define CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_

#include <string>
#include <vector>

#include "engine/cell.h"

namespace cellfs {

// Is shown markers and cells in cell order, in which a marker comes before what it hides. Not
// thread-safe.
class Withdrawals {
 public:
  // Takes a marker in, and tells whether the cell is a marker or hidden by one.
  bool Hides(const CellView& cell);

 private:
  struct Marker {
    CellType type;
    SequenceId sequence_id;
  };

  bool IsHere(const CellView& cell) const;
  void StandAt(const CellView& cell);

  std::vector<Marker> markers_;  // of one column and timestamp
  std::string row_;
  std::string qualifier_;
  Timestamp timestamp_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_
