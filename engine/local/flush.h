// SPDX-License-Identifier: MIT
//
// Flush: a memstore's cells go into the store file, as HBase's DefaultStoreFlusher writes an HFile:
// by the minor rules, seeing nothing but the memstore.
#ifndef CELLFS_ENGINE_LOCAL_FLUSH_H_
#define CELLFS_ENGINE_LOCAL_FLUSH_H_

#include <memory>

#include "engine/local/dropped_columns.h"
#include "engine/local/memstore.h"
#include "engine/local/store_file.h"
#include "engine/visibility/compaction_matcher.h"

namespace cellfs {

// Writes the memstore, in key order, within one transaction, which the caller commits or drops. The
// memstore gets no more cells. Withdrawals take their cells out of the file, and are not stored;
// what the rules drop is added to `dropped`.
StatusOr<std::unique_ptr<StoreFileWriter>> WriteMemstore(StoreFile& file, const TableSchema& schema,
                                                         std::shared_ptr<const Memstore> memstore,
                                                         const Rewrite& rewrite,
                                                         int32_t inline_value_limit,
                                                         DroppedColumns& dropped);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_FLUSH_H_
