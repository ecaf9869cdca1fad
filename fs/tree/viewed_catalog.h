// SPDX-License-Identifier: MIT
//
// Namespaces and tables as a place's view sees them: those of its time, or else the present ones.
// Those of the namespace `hbase` are always of the present.
#ifndef CELLFS_FS_TREE_VIEWED_CATALOG_H_
#define CELLFS_FS_TREE_VIEWED_CATALOG_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/past_catalog.h"
#include "engine/store.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Sorted.
StatusOr<std::vector<std::string>> ViewedNamespaces(Store& store, const Place& root);
StatusOr<std::vector<TableName>> ViewedTables(Store& store, const Place& name_space);
// kNamespaceNotFound.
StatusOr<NamespaceSchema> ViewedNamespaceSchema(Store& store, const Place& place);
// kTableNotFound; kUnavailable where the view shows it no more, for it was dropped for good.
StatusOr<std::shared_ptr<const TableSchema>> ViewedSchema(Store& store, const Place& place);
// With what is said of them beside their schemas.
StatusOr<PastNamespace> ViewedNamespace(Store& store, const Place& place);
StatusOr<PastTable> ViewedTable(Store& store, const Place& place);
// As it is now, whatever it is called: owners and rights go by it. That of the time where the table
// is there no more.
StatusOr<std::shared_ptr<const TableSchema>> PresentSchema(Store& store, const Place& place);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_VIEWED_CATALOG_H_
