// SPDX-License-Identifier: MIT
//
// What `.deleted` shows: of each column that shows nothing the newest put, where a tombstone hides
// it and it is kept.
#ifndef CELLFS_FS_READING_DELETED_VALUES_H_
#define CELLFS_FS_READING_DELETED_VALUES_H_

#include <optional>
#include <string>

#include "engine/read.h"
#include "fs/base/outcome.h"
#include "fs/reading/reading.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of one column.
OutcomeOr<std::optional<Cell>> DeletedValue(const Reading& reading, const Caller& caller,
                                            const Place& column, ReadDetail detail);

// Of a row: of each family in which columns are deleted the first of them, in the order of the
// families. Lengths only.
OutcomeOr<RowCells> FirstDeletedOfFamilies(const Reading& reading, const Caller& caller,
                                           const Place& row);
// Of a row, or a family in one: the first of all.
OutcomeOr<std::optional<Cell>> FirstDeletedValue(const Reading& reading, const Caller& caller,
                                                 const Place& row_or_family);

// Some of a family's, in the order of the columns.
struct DeletedValues {
  RowCells cells;                  // lengths only; none only at the end
  std::optional<std::string> end;  // the column up to which these are all; nullopt: no more follow
};
// Those behind the column `after` (nullopt: from the first).
OutcomeOr<DeletedValues> DeletedValuesAfter(const Reading& reading, const Caller& caller,
                                            const Place& family, std::optional<std::string> after);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_READING_DELETED_VALUES_H_
