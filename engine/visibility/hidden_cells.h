// SPDX-License-Identifier: MIT
//
// HiddenCells: which cells of a family most reads need not see: tombstones, and the puts that they
// hide. A compaction puts them apart in its file, so that a directory in which a million names were
// deleted, and are kept, is listed as fast as one that never had them; and each file tells how much
// of it they take.
//
// A read that leaves them out sees the same as one that does not, where it sees all tombstones
// among them, and no other put that they hide; TableView has these conditions. A tombstone with a
// TTL of its own ends some day, and what it hid is back: it is not told to be hidden, nor what it
// hides.
#ifndef CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_
#define CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_

#include "engine/cell.h"
#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/delete_tracker.h"

namespace cellfs {

// Shown all cells of a family in cell order, but for such as are withdrawn for every reader. Not
// thread-safe. Of NEW_VERSION_BEHAVIOR, where a tombstone does not hide what comes later, no more
// than an estimate.
class HiddenCells {
 public:
  bool IsHidden(const CellView& cell, bool is_new_row) {
    if (is_new_row) deletes_.Reset();
    if (cell.type == kWithdrawMarker) return false;
    if (cell.type == CellType::kPut)
      return deletes_.IsDeleted(cell) != DeleteTracker::Result::kNotDeleted;
    if (cell.time_to_live != kNoCellTtl) return false;
    deletes_.Add(cell);
    return true;
  }

 private:
  DeleteTracker deletes_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_
