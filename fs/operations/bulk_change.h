// SPDX-License-Identifier: MIT
//
// BulkChange: many rows of one table, brought in by a command whose caller may change all of it, at a
// small part of what a change of each row takes (fs/operations/row_change.h):
//
//   - A row that the kernel knows, or that is there by being made, goes the way of RowChange: there
//     may be open files in it. All others are put together.
//   - Meanwhile the columns of the table are closed, so that no rename, append or write reads before
//     and writes after. What this mount knows of them is told once for all rows.
//   - Nothing is stored of owner, mode and times: what is new has those of what it lies in, and the
//     times of its versions.
#ifndef CELLFS_FS_OPERATIONS_BULK_CHANGE_H_
#define CELLFS_FS_OPERATIONS_BULK_CHANGE_H_

#include <vector>

#include "engine/store.h"
#include "fs/operations/filesystem.h"

namespace cellfs::fs {

// Of one thread.
class BulkChange {
 public:
  // All of these outlive it. What it knows of the mount is as of now.
  BulkChange(FileSystem& filesystem, Store& store, const TableName& table);

  // Whether the row is one for RowChange.
  bool IsKnown(const RowMutations& row) const;
  // Each on its own, in order, as Store::Batch does it. None of them IsKnown, or became so just now.
  std::vector<StatusOr<MutationResult>> Make(const Caller& caller,
                                             const std::vector<RowMutations>& rows);

 private:
  void Tell(const std::vector<RowMutations>& rows);

  FileSystem& filesystem_;
  LiveTree& tree_;
  Store& store_;
  const TableName& table_;
  const bool is_table_known_;  // else none of its rows is
  const bool has_unstored_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_BULK_CHANGE_H_
