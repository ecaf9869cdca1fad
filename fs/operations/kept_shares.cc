// SPDX-License-Identifier: MIT
#include "fs/operations/kept_shares.h"

#include <sys/types.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/dropped.h"
#include "fs/tree/place.h"

namespace cellfs::fs {
namespace {

// In the order of the drops, by owner.
using TablesByOwner = std::map<uid_t, std::vector<const DroppedTable*>>;

OutcomeOr<TablesByOwner> ByOwner(AttributeStore& attributes, const Dropped& dropped) {
  TablesByOwner tables;
  for (const DroppedTable& table : dropped.tables) {
    CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode owner, attributes.FindOwner(*table.schema));
    tables[owner.uid].push_back(&table);
  }
  return tables;
}

Outcome FreeWithAttributes(AttributeStore& attributes, ErrorLog& errors,
                           const TableSchema& dropped, const std::function<Status()>& free) {
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, attributes.DroppedTableOf(dropped));
  CELLFS_RETURN_IF_FAILED(free());
  errors.Record("rmdir", NamespacePlace(dropped.name().namespace_name),
                attributes.DropTable(table));
  return {};
}

Outcome FreeOldestOfMost(Store& store, AttributeStore& attributes, ErrorLog& errors,
                         const Dropped& dropped) {
  CELLFS_ASSIGN_OR_RETURN(const TablesByOwner tables, ByOwner(attributes, dropped));
  const auto most = std::max_element(tables.begin(), tables.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  const DroppedTable& oldest = *most->second.front();
  const std::string why = "of " + std::to_string(kKeptOfAll) +
                          " tables that are kept its owner has the most";
  CELLFS_RETURN_IF_FAILED(FreeWithAttributes(attributes, errors, *oldest.schema, [&] {
    return store.FreeDroppedEarly(Caller::Superuser(), oldest.schema->id(), why);
  }));
  const TableName& name = oldest.schema->name();
  errors.Hint("drop", NamespacePlace(name.namespace_name),
              "'" + name.ToString() + "', dropped at " + std::to_string(oldest.dropped) +
                  ", went for good before its time: " + why);
  return {};
}

}  // namespace

Outcome FreeDroppedTable(Store& store, AttributeStore& attributes, ErrorLog& errors,
                         const Caller& caller, const TableSchema& dropped) {
  return FreeWithAttributes(attributes, errors, dropped,
                            [&] { return store.FreeDroppedTable(caller, dropped.id()); });
}

void FreeBeyondShares(Store& store, AttributeStore& attributes, ErrorLog& errors) {
  if (!store.traits().keeps_dropped) return;
  const auto dropped = store.ListDropped();
  if (!dropped.ok() || dropped->tables.size() <= kKeptOfAll) return;
  errors.Record("drop", RootPlace(), FreeOldestOfMost(store, attributes, errors, *dropped));
}

}  // namespace cellfs::fs
