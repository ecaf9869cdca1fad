// SPDX-License-Identifier: MIT
//
// A table gets another name, also in another namespace: by rename, or by a command. It stays the
// table that it was, with its history, owners, grants and quota; who has something in it open goes
// on with that.
#ifndef CELLFS_FS_OPERATIONS_RENAME_TABLE_H_
#define CELLFS_FS_OPERATIONS_RENAME_TABLE_H_

#include <string_view>

#include "engine/caller.h"
#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/nodes/live_tree.h"
#include "fs/operations/directory_changing.h"
#include "fs/requests/request.h"
#include "fs/schema/schema_changes.h"

namespace cellfs::fs {

// What stands at `to` in the tree, if anything does, is of a table that has gone. The parents are
// the caller's to tell of.
Status RenameTable(Store& store, SchemaChanges& schemas, AttributeStore& attributes,
                   LiveTree& tree, const Caller& caller, const TableName& from,
                   const TableName& to);

// rename of a table's directory: EEXIST where the target is there, EXDEV where it is no table or
// the store renames none.
Outcome RenameTableDirectory(const DirectoryChanging& with, const Request& request,
                             const Place& from, const Place& new_directory,
                             std::string_view new_name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_RENAME_TABLE_H_
