// SPDX-License-Identifier: MIT
//
// mkdir: namespaces, tables, rows, families, and directories below .versions.
#ifndef CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_
#define CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_

#include <string_view>

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/schema_changes.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What mkdir works with, and rmdir (directory_removal.h).
struct DirectoryChanges {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  Store& store;
  SchemaChanges& schemas;
  AttributeStore& attributes;
  ErrorLog& errors;
  const MountOptions& options;
};

// The place that is there now. EEXIST where it was there.
OutcomeOr<Place> MakeDirectory(const DirectoryChanges& with, const Request& request,
                               const Place& directory, std::string_view name, mode_t mode);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DIRECTORY_CHANGES_H_
