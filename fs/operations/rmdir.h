// SPDX-License-Identifier: MIT
//
// rmdir.
#ifndef CELLFS_FS_OPERATIONS_RMDIR_H_
#define CELLFS_FS_OPERATIONS_RMDIR_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/operations/directory_changing.h"
#include "fs/requests/request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// ENOTEMPTY where something is in it that is no .toml.
Outcome RemoveDirectory(const DirectoryChanging& with, const Request& request,
                        const Place& directory, std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_RMDIR_H_
