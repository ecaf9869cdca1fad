// SPDX-License-Identifier: MIT
//
// What a row's cells, as the region made them, are in SQL: a put inserts a row or replaces its
// value; a tombstone removes at once what it covers, and leaves nothing that would cover what comes
// later; what is withdrawn goes too.
#ifndef CELLFS_ENGINE_OBKV_ROW_WRITES_H_
#define CELLFS_ENGINE_OBKV_ROW_WRITES_H_

#include "engine/obkv/described_table.h"
#include "engine/obkv/transaction.h"
#include "engine/storage/cell_storage.h"

namespace cellfs::obkv {

// What WriteRow would refuse of what a mutation puts, before anything is written.
Status CheckFits(const DescribedTable& table, const RowMutations& mutations);

// kIllegalArgument: a row or a qualifier is longer than its column; kUnsupportedOperation: a time to
// live of a cell whose table has no column for it; kValueTooLarge.
Status WriteRow(const Transaction& transaction, const DescribedTable& table,
                const RowBatch& batch);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_ROW_WRITES_H_
