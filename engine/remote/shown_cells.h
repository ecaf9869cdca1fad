// SPDX-License-Identifier: MIT
//
// What a client can only look at, where a store of ours knows it.
#ifndef CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_
#define CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_

#include "engine/store.h"

namespace cellfs {

enum class Cells {
  kVisible,
  kStored,  // hidden ones and tombstones too
};

// Whether the table has such a cell now.
inline StatusOr<bool> HoldsACell(Store& store, const Caller& caller, const TableName& table,
                                 Cells cells) {
  Scan scan;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  scan.raw = cells == Cells::kStored;
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, store.OpenScanner(caller, table, scan));
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({.max_rows = 1}));
    if (!rows.empty()) return true;
  }
  return false;
}

// Whether the table shows anybody a cell now.
inline StatusOr<bool> ShowsACell(Store& store, const Caller& caller, const TableName& table) {
  return HoldsACell(store, caller, table, Cells::kVisible);
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_
