// SPDX-License-Identifier: MIT
//
// Where a store may be mounted.
#ifndef CELLFS_SRC_MOUNT_MOUNTPOINT_H_
#define CELLFS_SRC_MOUNT_MOUNTPOINT_H_

#include <string>

#include "engine/status.h"

namespace cellfs {

// Refuses a mount point that is missing, no directory, or taken by a live mount of cellfs. Detaches
// a stale mount there; waits a while for one that is about to go.
Status PrepareMountpoint(const std::string& mountpoint);

// Refuses one that lies in the store's directory or above it: such a mount would wait for itself,
// in the kernel, for ever. Both absolute.
Status CheckNesting(const std::string& store_directory, const std::string& mountpoint);

// Of a mount that was refused after that: the same with what this process lacks for it, as
// kAccessDenied where that is known.
Status WithCause(const Status& refused, const std::string& mountpoint, bool allow_other);

// Whether the mount's daemon has ended and left the mount behind. Asks the mount.
bool IsStale(const std::string& mountpoint);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_MOUNTPOINT_H_
