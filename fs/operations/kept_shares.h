// SPDX-License-Identifier: MIT
//
// Of tables that were dropped and are kept a store has a bounded number, and beyond it the oldest
// goes, whoever's it is. So that nobody frees by a thousand drops of his own what others dropped,
// there are a few less here, and the oldest of the user goes whose most of them are.
#ifndef CELLFS_FS_OPERATIONS_KEPT_SHARES_H_
#define CELLFS_FS_OPERATIONS_KEPT_SHARES_H_

#include <cstddef>

#include "engine/caller.h"
#include "engine/schema.h"
#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/tree/error_log.h"

namespace cellfs::fs {

// The store's own bound is 1,000: what is dropped at the same time fits in between.
inline constexpr size_t kKeptOfAll = 900;

// After a drop. What fails, or goes, it tells.
void FreeBeyondShares(Store& store, AttributeStore& attributes, ErrorLog& errors);
// A table that was dropped goes for good.
Outcome FreeDroppedTable(Store& store, AttributeStore& attributes, ErrorLog& errors,
                         const Caller& caller, const TableSchema& dropped);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_KEPT_SHARES_H_
