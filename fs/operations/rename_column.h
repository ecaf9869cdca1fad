// SPDX-License-Identifier: MIT
//
// rename of a column or of one of its versions within a row: one mutation of the row, with what
// the target shows of owner, mode and time.
#ifndef CELLFS_FS_OPERATIONS_RENAME_COLUMN_H_
#define CELLFS_FS_OPERATIONS_RENAME_COLUMN_H_

#include "fs/operations/rename.h"

namespace cellfs::fs {

// Of a cell, of one of its versions, or of a place where there may be one.
inline bool IsCellOrVersion(const Place& place) {
  return place.traits().content == PlaceContent::kValue;
}

Outcome RenameColumn(const Renaming& with, ColumnChange& change, const Request& request,
                     const Place& from, const Place& to, bool must_be_absent);
// A temporary that is held in memory becomes a column, or below .versions/q a version.
Outcome PutMemory(const Renaming& with, ColumnChange& change, const Caller& caller,
                  const ResolvedEntry& from, const Place& to, bool must_be_absent);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_RENAME_COLUMN_H_
