// SPDX-License-Identifier: MIT
//
// CheckLocalStore over files of the caller's choice.
#ifndef CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_
#define CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_

#include <string>

#include "engine/check.h"
#include "engine/disk/file_layer.h"

namespace cellfs {

// Catalog and log are read through `files`; SQLite has its own way to the disk.
StatusOr<CheckReport> CheckLocalStore(FileLayer& files, const std::string& directory,
                                      const TellCheckProgress& tell = nullptr);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOCAL_CHECK_H_
