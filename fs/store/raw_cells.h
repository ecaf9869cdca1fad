// SPDX-License-Identifier: MIT
//
// What is stored on a column, in a family or in all of one row, whatever hides it: hidden and
// expired versions, and tombstones.
#ifndef CELLFS_FS_STORE_RAW_CELLS_H_
#define CELLFS_FS_STORE_RAW_CELLS_H_

#include <memory>
#include <string>

#include "engine/store.h"

namespace cellfs::fs {

// Of which column, and how much of it.
struct RawCellsQuery {
  const TableName& table;
  const std::string& row;
  const std::string& family;  // empty: all families
  int32_t max_versions = kAllVersions;  // of puts; tombstones do not count
  bool lengths_only = true;
  TimeRange times = {};
  int32_t limit = -1;  // cells
  TableId table_id = 0;  // as of engine/read.h
  std::shared_ptr<const Moment> moment = {};  // likewise; null: the present
};

// Those that the filter lets through (null: all), in cell order.
StatusOr<RowCells> RawCells(Store& store, const Caller& caller, const RawCellsQuery& query,
                            FilterPtr filter);
// The column's, newest first, and its family's tombstones.
StatusOr<RowCells> RawCellsOfColumn(Store& store, const Caller& caller, const RawCellsQuery& query,
                                    const std::string& qualifier);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_RAW_CELLS_H_
