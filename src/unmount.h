// SPDX-License-Identifier: MIT
//
// `cellfs umount`: ends a mount and waits until its daemon has closed the store.
#ifndef CELLFS_SRC_UNMOUNT_H_
#define CELLFS_SRC_UNMOUNT_H_

#include <string>

#include "engine/status.h"

namespace cellfs {

// `path`: a mount point or a store's directory. `lazy` detaches a mount that is in use and does not
// wait. kIllegalArgument: nothing is mounted there; kUnavailable: it is in use.
Status Unmount(const std::string& path, bool lazy);

}  // namespace cellfs

#endif  // CELLFS_SRC_UNMOUNT_H_
