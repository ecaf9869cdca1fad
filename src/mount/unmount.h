// SPDX-License-Identifier: MIT
//
// `cellfs umount`: ends a mount and waits until its daemon has closed the store.
#ifndef CELLFS_SRC_MOUNT_UNMOUNT_H_
#define CELLFS_SRC_MOUNT_UNMOUNT_H_

#include <chrono>
#include <functional>
#include <string>

#include "engine/status.h"

namespace cellfs {

inline constexpr std::chrono::minutes kCloseTimeout{2};  // a last flush may take a while

// `path`: a mount point or a store's directory. `lazy` detaches a mount that is in use and does not
// wait. `tell` is told once what is waited for, where that takes long. kIllegalArgument: nothing is
// mounted there, or what is named is a cluster with several mounts; kUnavailable: it is in use, or
// its daemon has not closed the store in time.
Status Unmount(const std::string& path, bool lazy,
               const std::function<void(const std::string& why)>& tell,
               std::chrono::milliseconds close_timeout = kCloseTimeout);

// All mounts of a store. Those that fail keep none from being ended; why the first did is returned.
Status UnmountAll(const std::string& store, bool lazy,
                  const std::function<void(const std::string& why)>& tell);

// Takes away what is mounted there: nothing else.
Status Detach(const std::string& mountpoint, bool lazy);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_UNMOUNT_H_
