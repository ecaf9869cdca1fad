// SPDX-License-Identifier: MIT
//
// The store of a command or a daemon, opened once whoever had it before has let go of it.
#ifndef CELLFS_SRC_MOUNT_STORE_OPENING_H_
#define CELLFS_SRC_MOUNT_STORE_OPENING_H_

#include <memory>
#include <string>

#include "engine/local_store.h"
#include "engine/options.h"
#include "engine/status_or.h"

namespace cellfs {

// OpenLocalStore, which waits a while for a daemon that ends or was killed. A store that is mounted
// and served is refused at once, with kUnavailable.
StatusOr<std::unique_ptr<LocalStore>> OpenWhenFree(const std::string& directory,
                                                   const StoreOptions& options);

// Whether it could be opened now: kUnavailable names the process that has it open, and its mount.
Status CheckIsFree(const std::string& directory);
// kIllegalArgument where there is no store, for a mount that must not make one.
Status CheckIsThere(const std::string& directory);

// kAccessDenied where the directory is there and somebody else's.
enum class Use { kReads, kChanges };
Status CheckMayUse(const std::string& directory, Use use);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_STORE_OPENING_H_
