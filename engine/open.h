// SPDX-License-Identifier: MIT
//
// How to get a Store. The only place that knows which kinds there are.
#ifndef CELLFS_ENGINE_OPEN_H_
#define CELLFS_ENGINE_OPEN_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/cluster_options.h"
#include "engine/controlled_store.h"
#include "engine/obkv_options.h"
#include "engine/options.h"
#include "engine/status_or.h"

namespace cellfs {

// The embedded store in `directory`, which is made (mode 0700) where it is missing or empty, and
// locked while the store lives. kUnavailable: another process holds it (its id is in the message).
// kAccessDenied: it is not ours alone; the message says what to change.
// kCorruption: not a store, a newer format, or damaged; the message says which file.
StatusOr<std::unique_ptr<ControlledStore>> OpenLocalStore(const std::string& directory,
                                                          const StoreOptions& options);

// kUnavailable names the process that has the store in `directory` open.
Status CheckLocalStoreIsFree(const std::string& directory);
// The id of the process that has the store in `directory` open, as text ("(unknown)" if it cannot
// be told); nullopt: none, as far as can be told.
std::optional<std::string> HolderOfLocalStore(const std::string& directory);
// The same, of a process that may change it: of such there is one, of those who only read any number.
std::optional<std::string> WriterOfLocalStore(const std::string& directory);

// The file system of `directory` has bytes free, and no inode for another file.
bool DiskLacksInodes(const std::string& directory);

// A running HBase, 2.3 or later; engine/hbase/hbase_store.h says what is promised. kIllegalArgument:
// the options name no server; kUnavailable: none of them answers.
StatusOr<std::unique_ptr<Store>> OpenCluster(const ClusterOptions& options);

// A database in OBKV-HBase's layout; engine/obkv/obkv_store.h says what is promised. Of `store` the
// site settings and the clock count. kUnavailable, kTimedOut, kAccessDenied.
StatusOr<std::unique_ptr<Store>> OpenDatabase(const ObkvOptions& options,
                                              const StoreOptions& store);

// Everything in memory, with a deliberately simple idea of what a read sees: the oracle of the
// tests.
std::unique_ptr<ControlledStore> OpenMemoryStore(const StoreOptions& options);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_OPEN_H_
