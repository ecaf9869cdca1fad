// SPDX-License-Identifier: MIT
//
// The CellStorage of one table in memory. It flushes and compacts when told.
#ifndef CELLFS_ENGINE_MEMORY_MEMORY_STORAGE_H_
#define CELLFS_ENGINE_MEMORY_MEMORY_STORAGE_H_

#include <memory>

#include "engine/memory/table_cells.h"
#include "engine/schema.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

std::shared_ptr<CellStorage> MakeMemoryStorage(std::shared_ptr<MemoryShared> shared,
                                               std::shared_ptr<const TableSchema> schema);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_MEMORY_STORAGE_H_
