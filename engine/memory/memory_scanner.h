// SPDX-License-Identifier: MIT
//
// A scan of a table in memory: it reads again what there is, for each batch.
#ifndef CELLFS_ENGINE_MEMORY_MEMORY_SCANNER_H_
#define CELLFS_ENGINE_MEMORY_MEMORY_SCANNER_H_

#include <memory>

#include "engine/memory/table_cells.h"
#include "engine/read.h"
#include "engine/status_or.h"

namespace cellfs {

// kNoSuchColumnFamily, and what else is wrong with the scan. REQUIRES: shared->mutex.
StatusOr<std::unique_ptr<Scanner>> OpenMemoryScanner(std::shared_ptr<MemoryShared> shared,
                                                     std::shared_ptr<TableCells> table,
                                                     const Scan& scan);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_MEMORY_SCANNER_H_
