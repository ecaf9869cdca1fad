// SPDX-License-Identifier: MIT
//
// The store of a command or a daemon, of whatever kind its name says (src/mount/store_name.h).
#ifndef CELLFS_SRC_MOUNT_STORE_OPENING_H_
#define CELLFS_SRC_MOUNT_STORE_OPENING_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/controlled_store.h"
#include "engine/status_or.h"
#include "src/configuration.h"

namespace cellfs {

struct OpenedStore {
  std::unique_ptr<Store> store;
  StoreControls* controls = nullptr;  // of the same; null where it is not in this process
};

// A directory's store is opened once whoever had it before has let go of it: waits a while for a
// daemon that ends or was killed; one that is mounted and served is refused at once, with
// kUnavailable, and so is a cluster that does not answer.
StatusOr<OpenedStore> OpenStore(const std::string& store, const Configuration& configuration);

// Where a store of servers keeps owners, modes and times; nullopt: nowhere.
std::optional<TableName> AttributesTableOf(const std::string& store,
                                           const Configuration& configuration);

// ---- Of directories -----------------------------------------------------------------------------

// Whether it could be opened now: kUnavailable names the process that has it open, and its mount.
Status CheckIsFree(const std::string& directory);
// kIllegalArgument where there is no store, for a mount that must not make one.
Status CheckIsThere(const std::string& directory);

// Whether it can be mounted to be written, or made for that: kIllegalArgument where the directory
// above it is missing or the file system is read-only, kAccessDenied where no store is there and one
// may not be made.
Status CheckTakesMount(const std::string& directory);

// kAccessDenied where the directory is there and somebody else's.
enum class Use { kReads, kChanges };
Status CheckMayUse(const std::string& directory, Use use);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_STORE_OPENING_H_
