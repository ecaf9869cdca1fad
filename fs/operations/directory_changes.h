// SPDX-License-Identifier: MIT
//
// mkdir: namespaces, tables, rows, families, and directories below .versions.
#ifndef CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_
#define CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// The place that is there now. EEXIST where it was there.
OutcomeOr<Place> MakeDirectory(MountContext& mount, const Request& request, const Place& directory,
                               std::string_view name, mode_t mode);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_
