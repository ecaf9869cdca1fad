// SPDX-License-Identifier: MIT
//
// unlink and rmdir.
#ifndef CELLFS_FS_OPERATIONS_REMOVAL_H_
#define CELLFS_FS_OPERATIONS_REMOVAL_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// Both also see to the nodes: open handles keep what they read, the inode table unlinks the name.
Outcome Unlink(MountContext& mount, const Request& request, const Place& directory,
               std::string_view name);
Outcome RemoveDirectory(MountContext& mount, const Request& request, const Place& directory,
                        std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_REMOVAL_H_
