// SPDX-License-Identifier: MIT
//
// The storage engine of OpenMemoryStore: a memstore and, of each family, files, all of them sorted
// vectors of cells. A flush makes a new file, a compaction one of all. It has an own, deliberately
// naive idea of what a read sees and a rewrite keeps, worked out column by column from HBase's
// rules. It shares nothing with engine/visibility but the filters, so that it can be the oracle of
// it. Slow: a read copies what it touches.
#ifndef CELLFS_ENGINE_MEMORY_MEMORY_ENGINE_H_
#define CELLFS_ENGINE_MEMORY_MEMORY_ENGINE_H_

#include <memory>

#include "engine/options.h"
#include "engine/storage/storage_engine.h"

namespace cellfs {

// Keeps the clock of `options`. Flushes and compacts only when told.
std::unique_ptr<StorageEngine> MakeMemoryEngine(const StoreOptions& options);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_MEMORY_ENGINE_H_
