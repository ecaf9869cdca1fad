// SPDX-License-Identifier: MIT
//
// PastCatalog: which namespaces and tables a store had at a time, and how they were
// (Store::CatalogAt).
#ifndef CELLFS_ENGINE_PAST_CATALOG_H_
#define CELLFS_ENGINE_PAST_CATALOG_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/admin.h"
#include "engine/names.h"
#include "engine/schema.h"

namespace cellfs {

// A quota is told where it is in force still as it was then; of former ones nothing is known.
struct PastNamespace {
  NamespaceSchema schema;
  std::optional<SpaceQuota> space_quota;
  // Whether it is there still, or at least one of its name. Where it is kept (engine/dropped.h), one
  // that was made since is another one, and this is when it was dropped.
  bool is_there = true;
  int64_t dropped = 0;
};

// The schema has the name of that time, and the id by which the table is read now
// (Query::table_id).
struct PastTable {
  std::shared_ptr<const TableSchema> schema;
  bool enabled = true;
  std::optional<SpaceQuota> space_quota;
};

// Immutable once told.
struct PastCatalog {
  std::map<std::string, PastNamespace> namespaces;
  std::map<TableName, PastTable> tables;  // but for those of the namespace `hbase`
  std::map<TableId, TableName> names;     // of these

  // Null: there was none.
  const PastTable* Find(const TableName& table) const {
    const auto found = tables.find(table);
    return found == tables.end() ? nullptr : &found->second;
  }
  const PastTable* Find(TableId id) const {
    const auto found = names.find(id);
    return found == names.end() ? nullptr : Find(found->second);
  }
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_PAST_CATALOG_H_
