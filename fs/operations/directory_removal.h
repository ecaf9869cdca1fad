// SPDX-License-Identifier: MIT
//
// rmdir.
#ifndef CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_
#define CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_

#include <string_view>

#include "fs/operations/directory_changes.h"

namespace cellfs::fs {

// ENOTEMPTY where something is in it that is no .toml.
Outcome RemoveDirectory(const DirectoryChanges& with, const Request& request,
                        const Place& directory, std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_
