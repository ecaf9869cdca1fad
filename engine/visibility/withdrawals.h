// SPDX-License-Identifier: MIT
//
// Withdrawals: the rule by which withdrawal markers hide cells. A marker hides the cells of its
// row, column and timestamp that are of the type in its value and have a smaller sequence id: what
// its own mutation writes there stays. It lies before them in cell order, whichever memstore or
// store file holds either, so that whoever walks a merge of all of them in order needs to remember
// the markers of one column and timestamp only.
//
// A read is shown the markers up to its read point, so a moment before the withdrawal goes on
// seeing the cell. A rewrite is shown all of them, and decides itself who sees a withdrawn cell
// still: at most reads with a read point below WithdrawnBy(cell).
#ifndef CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_
#define CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_

#include <span>
#include <string>
#include <vector>

#include "engine/cell.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// Shown markers and cells of one family in cell order. Not thread-safe.
class Withdrawals {
 public:
  struct Marker {
    CellType type;
    SequenceId sequence_id;
  };

  // Takes a marker in, or tells whether the cell is one that a marker took back.
  bool Hides(const CellView& cell) {
    if (cell.type == kWithdrawMarker) {
      Add(cell);
      return true;
    }
    return !markers_.empty() && WithdrawnBy(cell) != 0;
  }

  // REQUIRES: the cell is a marker.
  void Add(const CellView& marker);
  // The sequence id of the first marker that took the cell back; later ones (see markers()) do so
  // again. 0: none. REQUIRES: the cell is no marker.
  SequenceId WithdrawnBy(const CellView& cell);

  // Those at the column and timestamp of the cell shown last; the later written come first.
  std::span<const Marker> markers() const { return markers_; }

  // Before the walk goes on elsewhere than at the next cell.
  void Reset() { markers_.clear(); }

 private:
  bool IsHere(const CellView& cell) const {
    return cell.timestamp == timestamp_ && cell.qualifier == qualifier_ && cell.row == row_;
  }

  std::vector<Marker> markers_;
  // Where markers_ lie, if there are any.
  std::string row_;
  std::string qualifier_;
  Timestamp timestamp_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_WITHDRAWALS_H_
