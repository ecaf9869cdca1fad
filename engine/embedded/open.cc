// SPDX-License-Identifier: MIT
#include "engine/open.h"

#include "engine/disk/file_layer.h"
#include "engine/disk/full_disk.h"
#include "engine/disk/store_lock.h"
#include "engine/embedded/embedded_store.h"
#include "engine/local/local_engine.h"
#include "engine/memory/memory_engine.h"

namespace cellfs {

StatusOr<std::unique_ptr<ControlledStore>> OpenLocalStore(const std::string& directory,
                                                          const StoreOptions& options) {
  CELLFS_ASSIGN_OR_RETURN(std::unique_ptr<StorageEngine> engine,
                          LocalEngine::Open(directory, options,
                                            options.read_only ? UnchangedFiles() : PosixFiles()));
  return EmbeddedStore::Open(std::move(engine), options);
}

Status CheckLocalStoreIsFree(const std::string& directory) { return CheckIsUnlocked(directory); }

std::optional<std::string> HolderOfLocalStore(const std::string& directory) {
  return HolderOfLock(directory);
}

std::optional<std::string> WriterOfLocalStore(const std::string& directory) {
  return WriterUnderLock(directory);
}

bool DiskLacksInodes(const std::string& directory) { return LacksInodes(directory); }

std::unique_ptr<ControlledStore> OpenMemoryStore(const StoreOptions& options) {
  // Memory has nothing that could fail to open.
  return *EmbeddedStore::Open(MakeMemoryEngine(options), options);
}

}  // namespace cellfs
