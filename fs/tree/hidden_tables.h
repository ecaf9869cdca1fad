// SPDX-License-Identifier: MIT
//
// The file system's own tables, which are neither in the tree nor there for commands: those of the
// namespace `cellfs`, and the one that a configuration names for owners and modes, wherever that is.
#ifndef CELLFS_FS_TREE_HIDDEN_TABLES_H_
#define CELLFS_FS_TREE_HIDDEN_TABLES_H_

#include "engine/names.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

inline bool IsHidden(const MountOptions& options, const TableName& table) {
  return table.namespace_name == kHiddenNamespace || table == options.attributes_table;
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_HIDDEN_TABLES_H_
