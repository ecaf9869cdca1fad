// SPDX-License-Identifier: MIT
//
// AwaitPresent: the present as a time, for who reads the tree as of then. What this mount has written
// so far is not later, and what it writes from now on is, also in the very same millisecond: so it
// takes the rest of that, and longer where a column has run ahead of the clock, as one does that is
// written more than once in a millisecond. One that is more than ColumnMutations::kMostAhead ahead is
// not waited for.
#ifndef CELLFS_FS_STORE_PRESENT_TIME_H_
#define CELLFS_FS_STORE_PRESENT_TIME_H_

#include "engine/clock.h"
#include "fs/store/column_mutations.h"

namespace cellfs::fs {

Timestamp AwaitPresent(const Clock& clock, const ColumnMutations& mutations);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_PRESENT_TIME_H_
