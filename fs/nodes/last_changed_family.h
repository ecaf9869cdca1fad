// SPDX-License-Identifier: MIT
//
// LastChangedFamily: the family in which a column was changed last. Neither it nor its row shows the
// time of its first cell (Node::first_time): where none has come to do so since, they need not be
// looked for at the next change. Without it an overwrite takes 11 % more instructions.
#ifndef CELLFS_FS_NODES_LAST_CHANGED_FAMILY_H_
#define CELLFS_FS_NODES_LAST_CHANGED_FAMILY_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class LastChangedFamily {
 public:
  // `looked_at` is Node::FirstTimesEver() from before the two were looked for.
  void Note(const Place& column, uint64_t looked_at) {
    std::lock_guard lock(mutex_);
    table_ = column.table;
    row_ = column.row;
    family_ = column.family;
    looked_at_ = looked_at;
  }
  bool IsStill(const Place& column) const {
    std::lock_guard lock(mutex_);
    return looked_at_ == Node::FirstTimesEver() && family_ == column.family && row_ == column.row &&
           table_ == column.table;
  }

 private:
  mutable std::mutex mutex_;
  TableName table_{"", ""};  // guarded by mutex_, as are the others
  std::string row_;
  std::string family_;
  uint64_t looked_at_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_LAST_CHANGED_FAMILY_H_
