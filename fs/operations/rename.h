// SPDX-License-Identifier: MIT
//
// rename.
#ifndef CELLFS_FS_OPERATIONS_RENAME_H_
#define CELLFS_FS_OPERATIONS_RENAME_H_

#include <string_view>

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/content/column_change.h"
#include "fs/nodes/live_tree.h"
#include "fs/operations/directory_changing.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/schema_changes.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What it works with.
struct Renaming {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  const ColumnChanging& changing;
  SchemaChanges& schemas;  // a file may be renamed onto a .toml
  AttributeStore& attributes;
  ErrorLog& errors;
  const MountOptions& options;
  const DirectoryChanging& directories;  // a table may be renamed
};

// `flags` as of renameat2(2). Also moves the node (InodeTable::Move).
Outcome Rename(const Renaming& with, const Request& request, const Place& directory,
               std::string_view name, const Place& new_directory, std::string_view new_name,
               unsigned flags);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_RENAME_H_
