// SPDX-License-Identifier: MIT
//
// RoomOfCells: what a store file's room is taken by, as far as its own cells tell: what a tombstone
// of another file hides counts as live until a compaction brings the two together, and so does what
// one with a TTL of its own hides.
#ifndef CELLFS_ENGINE_FILE_ROOM_OF_CELLS_H_
#define CELLFS_ENGINE_FILE_ROOM_OF_CELLS_H_

#include <cstdint>

#include "engine/file/file_facts.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

class RoomOfCells {
 public:
  // In cell order, of one family. `is_hidden`: by a tombstone among them (HiddenCells).
  void Add(const CellView& cell, bool is_hidden, bool is_new_column);
  RoomFacts Facts() const;

 private:
  uint64_t bytes_ = 0, old_versions_ = 0, deleted_ = 0;
  bool has_newer_ = false;  // a put of the column that is not hidden
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_ROOM_OF_CELLS_H_
