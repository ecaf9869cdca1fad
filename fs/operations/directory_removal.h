// SPDX-License-Identifier: MIT
//
// rmdir.
#ifndef CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_
#define CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_

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

// What it works with.
struct DirectoryRemoval {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  Store& store;
  SchemaChanges& schemas;
  AttributeStore& attributes;
  ErrorLog& errors;
  const MountOptions& options;
};

// ENOTEMPTY where something is in it that is no .toml.
Outcome RemoveDirectory(const DirectoryRemoval& with, const Request& request,
                        const Place& directory, std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DIRECTORY_REMOVAL_H_
