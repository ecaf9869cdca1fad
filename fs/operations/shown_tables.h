// SPDX-License-Identifier: MIT
//
// Which tables and namespaces are there for commands: all but the file system's own.
#ifndef CELLFS_FS_OPERATIONS_SHOWN_TABLES_H_
#define CELLFS_FS_OPERATIONS_SHOWN_TABLES_H_

#include <string>

#include "engine/admin.h"
#include "engine/names.h"
#include "engine/status.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// kTableNotFound, kNamespaceNotFound.
Status CheckIsShown(const MountOptions& options, const TableName& table);
Status CheckIsShown(const MountOptions& options, const std::string& name_space);
Status CheckIsShown(const MountOptions& options, const GrantScope& scope);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_SHOWN_TABLES_H_
