// SPDX-License-Identifier: MIT
//
// rename.
#ifndef CELLFS_FS_OPERATIONS_NAME_CHANGES_H_
#define CELLFS_FS_OPERATIONS_NAME_CHANGES_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// `flags` as of renameat2(2). Also moves the node (InodeTable::Move).
Outcome Rename(MountContext& mount, const Request& request, const Place& directory,
               std::string_view name, const Place& new_directory, std::string_view new_name,
               unsigned flags);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_NAME_CHANGES_H_
