// SPDX-License-Identifier: MIT
//
// What a client can only look at, where a store of ours knows it.
#ifndef CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_
#define CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_

#include "engine/store.h"

namespace cellfs {

// Whether the table shows anybody a cell now.
inline StatusOr<bool> ShowsACell(Store& store, const Caller& caller, const TableName& table) {
  Scan scan;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, store.OpenScanner(caller, table, scan));
  while (!scanner->at_end()) {
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({.max_rows = 1}));
    if (!rows.empty()) return true;
  }
  return false;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REMOTE_SHOWN_CELLS_H_
