// SPDX-License-Identifier: MIT
//
// What became of a step whose outcome is unknown: its cells have timestamps of its own, so that
// whoever looks finds them, or does not.
#ifndef CELLFS_FS_STORE_STORED_STEP_H_
#define CELLFS_FS_STORE_STORED_STEP_H_

#include <optional>

#include "engine/store.h"

namespace cellfs::fs {

// What the step did, where all that it writes lies there, each with its timestamp and its bytes.
// Nullopt: not all does (or not yet, or not any more), or it says nothing by which it could be
// known: what it adds to, and what the store stamps.
StatusOr<std::optional<MutationResult>> FindStored(Store& store, const TableName& table,
                                                   const RowMutations& step);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_STORED_STEP_H_
