// SPDX-License-Identifier: MIT
//
// The namespace of the file system's own tables: neither listed nor found in the tree.
#ifndef CELLFS_FS_TREE_HIDDEN_NAMESPACE_H_
#define CELLFS_FS_TREE_HIDDEN_NAMESPACE_H_

#include <string_view>

#include "engine/names.h"

namespace cellfs::fs {

inline constexpr std::string_view kHiddenNamespace = "cellfs";
// Its table of owners, modes and times (fs/attributes/attribute_store.h).
inline constexpr std::string_view kAttributesName = "attributes";
// Whether the row of a table of the namespace `hbase` is about that namespace: it is not shown
// either.
bool IsHiddenRow(const TableName& table, std::string_view row);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_HIDDEN_NAMESPACE_H_
