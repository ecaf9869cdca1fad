// SPDX-License-Identifier: MIT
//
// HiddenCells: which cells of a family most reads need not see: tombstones, and the puts that they
// hide. A compaction puts them apart in its file, so that a directory in which a million names were
// deleted, and are kept, is listed as fast as one that never had them.
//
// A read that leaves them out sees the same as one that does not, where it sees all tombstones
// among them, and no other put that they hide; TableView has these conditions. A tombstone with a
// TTL of its own ends some day, and what it hid is back: it is not told to be hidden, nor what it
// hides.
#ifndef CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_
#define CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_

#include <string>

#include "engine/cell.h"
#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/delete_tracker.h"

namespace cellfs {

// Shown all cells of a family in cell order, but for such as are withdrawn for every reader. Not
// thread-safe. Not for NEW_VERSION_BEHAVIOR, where a tombstone does not hide what comes later.
class HiddenCells {
 public:
  bool IsHidden(const CellView& cell) {
    if (cell.type == kWithdrawMarker) return false;
    if (!has_row_ || cell.row != row_) {
      has_row_ = true;
      row_ = cell.row;
      deletes_.Reset();
    }
    if (cell.type == CellType::kPut)
      return deletes_.IsDeleted(cell) != DeleteTracker::Result::kNotDeleted;
    if (cell.time_to_live != kNoCellTtl) return false;
    deletes_.Add(cell);
    return true;
  }

 private:
  DeleteTracker deletes_;
  std::string row_;
  bool has_row_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_HIDDEN_CELLS_H_
