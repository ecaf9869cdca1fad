// SPDX-License-Identifier: MIT
//
// What mkdir and rmdir work with.
#ifndef CELLFS_FS_OPERATIONS_DIRECTORY_CHANGING_H_
#define CELLFS_FS_OPERATIONS_DIRECTORY_CHANGING_H_

#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/schema_changes.h"
#include "fs/store/kept_tables.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

struct DirectoryChanging {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  Store& store;
  KeptTables* kept_tables;  // null where the store takes tables without families
  SchemaChanges& schemas;
  AttributeStore& attributes;
  ErrorLog& errors;
  const MountOptions& options;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_DIRECTORY_CHANGING_H_
