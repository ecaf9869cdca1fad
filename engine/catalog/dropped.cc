// SPDX-License-Identifier: MIT
#include "engine/catalog/dropped.h"

#include <algorithm>
#include <utility>

#include "engine/catalog/catalog_history.h"
#include "engine/catalog/emptied.h"

namespace cellfs {
namespace {

constexpr size_t kMostFreedEarly = 16;

// Later than all others: drops are told from each other by their times.
Timestamp NewTime(Timestamp now, const Catalog& catalog) {
  Timestamp time = now;
  for (const auto& dropped : catalog.dropped_tables) time = std::max(time, dropped.dropped + 1);
  for (const auto& dropped : catalog.dropped_namespaces) time = std::max(time, dropped.dropped + 1);
  return time;
}

auto At(Catalog& catalog, TableId id) {
  return std::find_if(catalog.dropped_tables.begin(), catalog.dropped_tables.end(),
                      [&](const CatalogDroppedTable& dropped) { return dropped.table.id == id; });
}

}  // namespace

bool IsToBeKept(const CatalogTable& table) { return table.schema->dropped_ttl() > 0; }

Timestamp ExpiryOf(const CatalogDroppedTable& dropped) {
  const int64_t seconds = dropped.table.schema->dropped_ttl();
  const bool is_for_ever = seconds >= (kLatestTimestamp - dropped.dropped) / 1000;
  return is_for_ever ? kLatestTimestamp : dropped.dropped + seconds * 1000;
}

void KeepDropped(const TableName& table, Timestamp now, Catalog& catalog) {
  CatalogDroppedTable dropped;
  dropped.table = catalog.tables.at(table);
  dropped.dropped = NewTime(now, catalog);
  TableTimes times = TimesOf(catalog, table);
  dropped.emptied = std::move(times.emptied);
  dropped.begun = times.begun;
  NoteTableEmptied(table, dropped.dropped, catalog);
  EraseTable(catalog, table);
  catalog.dropped_tables.push_back(std::move(dropped));
}

void KeepDroppedNamespace(const std::string& name, Timestamp now, Catalog& catalog) {
  const Timestamp time = NewTime(now, catalog);
  bool keeps_one = false;
  for (CatalogDroppedTable& dropped : catalog.dropped_tables) {
    if (dropped.with_namespace != 0 || dropped.table.schema->name().namespace_name != name)
      continue;
    dropped.with_namespace = time;
    keeps_one = true;
  }
  if (keeps_one) catalog.dropped_namespaces.push_back({catalog.namespaces.at(name), time});
  EraseNamespace(catalog, name);
}

const CatalogDroppedTable* FindDropped(const Catalog& catalog, TableId id) {
  for (const CatalogDroppedTable& dropped : catalog.dropped_tables)
    if (dropped.table.id == id) return &dropped;
  return nullptr;
}

const CatalogDroppedNamespace* FindDroppedNamespace(const Catalog& catalog, Timestamp dropped) {
  for (const CatalogDroppedNamespace& space : catalog.dropped_namespaces)
    if (space.dropped == dropped) return &space;
  return nullptr;
}

std::vector<TableId> TablesDroppedIn(const Catalog& catalog, const std::string& name,
                                     Timestamp namespace_dropped) {
  std::vector<TableId> tables;
  for (const CatalogDroppedTable& dropped : catalog.dropped_tables) {
    const bool is_in_it = dropped.with_namespace == namespace_dropped &&
                          dropped.table.schema->name().namespace_name == name;
    if (is_in_it) tables.push_back(dropped.table.id);
  }
  return tables;
}

void BringBackDropped(TableId id, std::shared_ptr<const TableSchema> schema, Timestamp now,
                      Catalog& catalog) {
  const auto at = At(catalog, id);
  const TableName name = schema->name();
  NoteTableArrived({at->emptied, at->begun, at->table.created}, name, catalog);
  CatalogTable table = std::move(at->table);
  catalog.dropped_tables.erase(at);
  table.schema = std::move(schema);
  table.enabled = true;
  table.brought_back = now;
  catalog.tables[name] = std::move(table);
}

void BringBackDroppedNamespace(Timestamp dropped, const std::string& name, Timestamp now,
                               Catalog& catalog) {
  const auto at = std::find_if(
      catalog.dropped_namespaces.begin(), catalog.dropped_namespaces.end(),
      [&](const CatalogDroppedNamespace& space) { return space.dropped == dropped; });
  CatalogNamespace space = std::move(at->space);
  catalog.dropped_namespaces.erase(at);
  const bool is_renamed = space.value.name != name;
  for (CatalogDroppedTable& kept : catalog.dropped_tables) {
    if (kept.with_namespace != dropped) continue;
    kept.with_namespace = 0;
    if (!is_renamed) continue;
    const TableName renamed{name, kept.table.schema->name().name};
    kept.table.schema = std::make_shared<TableSchema>(kept.table.schema->Renamed(renamed));
  }
  space.value.name = name;
  space.changed = space.brought_back = now;
  catalog.namespaces[name] = std::move(space);
}

void ForgetDropped(TableId id, Catalog& catalog) {
  const auto at = At(catalog, id);
  const Timestamp with = at->with_namespace;
  catalog.dropped_tables.erase(at);
  ForgetPast(id, catalog);
  const auto is_in_it = [&](const CatalogDroppedTable& dropped) {
    return dropped.with_namespace == with;
  };
  const auto& left = catalog.dropped_tables;
  if (with == 0 || std::any_of(left.begin(), left.end(), is_in_it)) return;
  std::erase_if(catalog.dropped_namespaces,
                [&](const CatalogDroppedNamespace& space) { return space.dropped == with; });
}

void NoteFreedEarly(const CatalogDroppedTable& dropped, const std::string& reason,
                    Catalog& catalog) {
  std::vector<std::string>& freed = catalog.freed_early;
  freed.push_back("table '" + dropped.table.schema->name().ToString() + "', dropped at " +
                  std::to_string(dropped.dropped) + ": " + reason);
  if (freed.size() > kMostFreedEarly) freed.erase(freed.begin());
}

}  // namespace cellfs
