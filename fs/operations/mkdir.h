// SPDX-License-Identifier: MIT
//
// mkdir: namespaces, tables, rows, families, and directories below .versions.
#ifndef CELLFS_FS_OPERATIONS_MKDIR_H_
#define CELLFS_FS_OPERATIONS_MKDIR_H_

#include <sys/types.h>

#include <string_view>

#include "fs/base/outcome.h"
#include "fs/operations/directory_changing.h"
#include "fs/requests/request.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// The place that is there now. EEXIST where it was there.
OutcomeOr<Place> MakeDirectory(const DirectoryChanging& with, const Request& request,
                               const Place& directory, std::string_view name, mode_t mode);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_MKDIR_H_
