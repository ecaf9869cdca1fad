// SPDX-License-Identifier: MIT
//
// Tables and namespaces that were dropped and are kept: how they come back, and how they go.
#include <algorithm>
#include <map>

#include "engine/catalog/access_control.h"
#include "engine/catalog/catalog_history.h"
#include "engine/catalog/dropped.h"
#include "engine/catalog/namespace_quota.h"
#include "engine/embedded/embedded_store.h"

namespace cellfs {
namespace {

Status NothingKept() {
  return {StatusCode::kTableNotFound, "nothing that was dropped is kept there any more"};
}

Status NameIsTaken(const TableName& table) {
  return {StatusCode::kTableExists, "table '" + table.ToString() + "' exists"};
}

GrantScope FormerNamespace(const CatalogDroppedTable& dropped) {
  return NamespaceScope(dropped.table.schema->name().namespace_name);
}

}  // namespace

TableStatistics EmbeddedStore::StatisticsOf(TableId id) const {
  const auto handle = directory_->Find(id);
  if (!handle.ok() || (*handle)->region == nullptr) return {};
  return (*handle)->region->GetStatistics();
}

std::vector<KeptTableStatistics> EmbeddedStore::StatisticsOfKept(const Catalog& catalog) const {
  std::vector<KeptTableStatistics> kept;
  for (const CatalogDroppedTable& dropped : catalog.dropped_tables) {
    KeptTableStatistics& told = kept.emplace_back();
    told.table = dropped.table.schema->name();
    told.dropped = dropped.dropped;
    told.is_in_namespace = dropped.with_namespace == 0;
    const auto handle = directory_->Find(dropped.table.id);
    if (!handle.ok()) continue;
    if ((*handle)->region == nullptr) {
      told.damage = (*handle)->unopened.message();
      continue;
    }
    TableStatistics statistics = (*handle)->region->GetStatistics();
    told.file_bytes = statistics.file_bytes;
    told.memstore_bytes = statistics.memstore_bytes;
    told.damage = std::move(statistics.damage);
  }
  return kept;
}

StatusOr<Dropped> EmbeddedStore::ListDropped() {
  const Snapshot<Catalog> catalog = directory_->catalog();
  Dropped dropped;
  for (const CatalogDroppedTable& table : catalog->dropped_tables) {
    dropped.tables.push_back({.schema = table.table.schema,
                              .dropped = table.dropped,
                              .with_namespace = table.with_namespace});
  }
  for (const CatalogDroppedNamespace& space : catalog->dropped_namespaces)
    dropped.namespaces.push_back({space.space.value, space.dropped});
  return dropped;
}

// ---- Coming back --------------------------------------------------------------------------------

Status EmbeddedStore::BringBackTable(const Caller& caller, TableId id, const TableName& name) {
  const Act act(*this);
  const Catalog before = CopyCatalog();
  const CatalogDroppedTable* const dropped = FindDropped(before, id);
  if (dropped == nullptr) return NothingKept();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", FormerNamespace(*dropped)));
  CELLFS_RETURN_IF_ERROR(CheckTableName(name));
  if (before.namespaces.count(name.namespace_name) == 0) {
    return {StatusCode::kNamespaceNotFound,
            "namespace '" + name.namespace_name + "' does not exist"};
  }
  CELLFS_RETURN_IF_ERROR(Require(caller, "AC", NamespaceScope(name.namespace_name)));
  if (name.IsSystemTable())
    return {StatusCode::kReadOnly, "the namespace 'hbase' is read-only"};
  if (before.tables.count(name) != 0) return NameIsTaken(name);
  CELLFS_ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, OpenRegion(dropped->table));
  auto schema = std::make_shared<TableSchema>(dropped->table.schema->Renamed(name));
  schema->set_id(id);
  Catalog catalog = before;
  CELLFS_RETURN_IF_ERROR(CheckRoomForTable(catalog, *schema));
  BringBackDropped(id, schema, Now(), catalog);
  GrantOwner(catalog, caller, name);
  const Snapshot<TableSchema> present = region->schema();
  Status committed;
  if (present->name() == name) {
    committed = Commit(std::move(catalog));
  } else {
    committed = CommitSchema(before, std::move(catalog), *region, std::move(schema));
  }
  if (IsInForce(committed)) region->Reopen();
  return committed;
}

Status EmbeddedStore::BringBackNamespace(const Caller& caller, Timestamp dropped,
                                         const std::string& name) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  if (FindDroppedNamespace(catalog, dropped) == nullptr) return NothingKept();
  CELLFS_RETURN_IF_ERROR(CheckNamespaceName(name));
  if (catalog.namespaces.count(name) != 0)
    return {StatusCode::kNamespaceExists, "namespace '" + name + "' exists"};
  BringBackDroppedNamespace(dropped, name, Now(), catalog);
  return Commit(std::move(catalog));
}

// ---- Going for good -----------------------------------------------------------------------------

Status EmbeddedStore::CommitFree(const std::vector<TableId>& ids) {
  return ids.empty() ? Status() : CommitFree(CopyCatalog(), ids);
}

Status EmbeddedStore::CommitFree(Catalog catalog, const std::vector<TableId>& ids) {
  for (const TableId id : ids) ForgetDropped(id, catalog);
  Status committed = Commit(std::move(catalog));
  if (!IsInForce(committed)) return committed;
  for (const TableId id : ids) {
    opened_.erase(id);
    if (committed.ok()) dropped_.push_back(id);  // as with a table that is not kept
  }
  return committed;
}

Status EmbeddedStore::FreeDroppedTable(const Caller& caller, TableId id) {
  const Act act(*this);
  const Snapshot<Catalog> catalog = directory_->catalog();
  const CatalogDroppedTable* const dropped = FindDropped(*catalog, id);
  if (dropped == nullptr) return NothingKept();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", FormerNamespace(*dropped)));
  return CommitFree({id});
}

Status EmbeddedStore::FreeDroppedEarly(const Caller& caller, TableId id, const std::string& why) {
  const Act act(*this);
  Catalog after = CopyCatalog();
  const CatalogDroppedTable* const dropped = FindDropped(after, id);
  if (dropped == nullptr) return NothingKept();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", FormerNamespace(*dropped)));
  NoteFreedEarly(*dropped, why, after);
  return CommitFree(std::move(after), {id});
}

Status EmbeddedStore::FreeDroppedNamespace(const Caller& caller, Timestamp dropped) {
  const Act act(*this);
  const Snapshot<Catalog> catalog = directory_->catalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  const CatalogDroppedNamespace* const space = FindDroppedNamespace(*catalog, dropped);
  if (space == nullptr) return NothingKept();
  return CommitFree(TablesDroppedIn(*catalog, space->space.value.name, dropped));
}

// What is kept counts in its namespace's quota, and gives way to what is there.
Status EmbeddedStore::FreeExpired() {
  const Snapshot<Catalog> catalog = directory_->catalog();
  Catalog after = *catalog;
  const Timestamp now = Now();
  std::vector<TableId> gone;
  std::map<std::string, uint64_t> bytes;  // of namespaces with a quota
  for (const auto& [name, quota] : catalog->namespace_quotas) {
    for (const CatalogTable* table : TablesOf(*catalog, name))
      bytes[name] += StatisticsOf(table->id).file_bytes;
  }
  // Newest first: the room that is left is theirs.
  for (auto it = catalog->dropped_tables.rbegin(); it != catalog->dropped_tables.rend(); ++it) {
    if (ExpiryOf(*it) <= now) {
      gone.push_back(it->table.id);
      continue;
    }
    const std::string& name = it->table.schema->name().namespace_name;
    const auto quota = catalog->namespace_quotas.find(name);
    if (it->with_namespace != 0 || quota == catalog->namespace_quotas.end()) continue;
    bytes[name] += StatisticsOf(it->table.id).file_bytes;
    if (bytes[name] <= static_cast<uint64_t>(std::max<int64_t>(quota->second.value.limit, 0)))
      continue;
    gone.push_back(it->table.id);
    NoteFreedEarly(*it, "its namespace is over its space quota", after);
  }
  return gone.empty() ? Status() : CommitFree(std::move(after), gone);
}

bool EmbeddedStore::MakeRoom(uint64_t lacked) {
  const Act act(*this);
  const Snapshot<Catalog> catalog = directory_->catalog();
  if (catalog->dropped_tables.empty()) return false;
  Statistics statistics;
  statistics.kept = StatisticsOfKept(*catalog);
  if (BytesOfKept(statistics) < lacked) return false;
  const CatalogDroppedTable& oldest = catalog->dropped_tables.front();
  Catalog after = *catalog;
  NoteFreedEarly(oldest, "the disk is full", after);
  return CommitFree(std::move(after), {oldest.table.id}).ok();
}

void EmbeddedStore::MakeRoomWhilePutsAreRefused() {
  while (engine_->GetStatistics().puts_refused.code() == StatusCode::kStoreFull && MakeRoom(0)) {
  }
}

}  // namespace cellfs
