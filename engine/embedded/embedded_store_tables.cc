// SPDX-License-Identifier: MIT
//
// The life of tables, as HBase's table procedures and HMaster have it.
#include <algorithm>

#include "engine/catalog/access_control.h"
#include "engine/catalog/catalog_history.h"
#include "engine/catalog/dropped.h"
#include "engine/catalog/emptied.h"
#include "engine/catalog/namespace_quota.h"
#include "engine/catalog/system_tables.h"
#include "engine/embedded/embedded_store.h"

namespace cellfs {
namespace {

Status NamespaceMissing(const std::string& name) {
  return {StatusCode::kNamespaceNotFound, "namespace '" + name + "' does not exist"};
}

Status TableExists(const TableName& table) {
  return {StatusCode::kTableExists, "table '" + table.ToString() + "' exists"};
}

Status NotEnabled(const TableName& table) {
  return {StatusCode::kTableNotEnabled, "table '" + table.ToString() + "' is disabled"};
}

Status NotDisabled(const TableName& table) {
  return {StatusCode::kTableNotDisabled, "table '" + table.ToString() + "' is enabled"};
}

Status SystemTableRefused(const TableName& table) {
  return {StatusCode::kReadOnly, "table '" + table.ToString() + "' is in the namespace '" +
                                     std::string(kSystemNamespace) + "', which is read-only"};
}

}  // namespace

StatusOr<CatalogTable*> EmbeddedStore::FindChangeable(const Caller& caller, Catalog& catalog,
                                                      const TableName& table) const {
  CELLFS_RETURN_IF_ERROR(Require(caller, "AC", TableScope(table)));
  if (table.IsSystemTable()) return SystemTableRefused(table);
  const auto found = catalog.tables.find(table);
  if (found == catalog.tables.end()) return directory_->Find(table).status();
  return &found->second;
}

void EmbeddedStore::FlushBeforehand(const Caller& caller, const TableName& table) {
  if (!Require(caller, "AC", TableScope(table)).ok()) return;
  const auto handle = directory_->FindEnabled(table);
  if (handle.ok()) static_cast<void>((*handle)->region->Flush());
}

StatusOr<std::shared_ptr<Region>> EmbeddedStore::OpenRegion(const CatalogTable& table) const {
  const OpenedTable& opened = opened_.at(table.id);
  if (opened.region == nullptr) return opened.unopened;
  return opened.region;
}

void EmbeddedStore::GrantOwner(Catalog& catalog, const Caller& caller,
                               const TableName& table) const {
  if (!options_.site.authorization || caller.is_superuser()) return;
  AddGrant(catalog, {caller.user, TableScope(table), "RWXCA"}, /*merge=*/false, Now());
}

Status EmbeddedStore::CreateTable(const Caller& caller, const TableSchema& schema) {
  Status made = MakeTable(caller, schema);
  while (made.code() == StatusCode::kStoreFull && MakeRoom(0)) made = MakeTable(caller, schema);
  return made;
}

Status EmbeddedStore::MakeTable(const Caller& caller, const TableSchema& schema) {
  const TableName& name = schema.name();
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  auto made = std::make_shared<TableSchema>(schema);
  SetDefaultVersions(*made, nullptr);
  std::sort(made->split_keys.begin(), made->split_keys.end());
  CELLFS_RETURN_IF_ERROR(CheckTableName(name));
  if (catalog.namespaces.count(name.namespace_name) == 0) {
    return NamespaceMissing(name.namespace_name);
  }
  CELLFS_RETURN_IF_ERROR(CheckSchema(*made));
  CELLFS_RETURN_IF_ERROR(CheckSchemaLimits(*made, nullptr));
  CELLFS_RETURN_IF_ERROR(Require(caller, "AC", NamespaceScope(name.namespace_name)));
  if (name.IsSystemTable()) return SystemTableRefused(name);
  if (catalog.tables.count(name) != 0) return TableExists(name);
  CELLFS_RETURN_IF_ERROR(CheckRoomForTable(catalog, *made));

  // Not given again, should anything below fail.
  const TableId id = last_id_ = std::max(catalog.next_table_id, last_id_ + 1);
  catalog.next_table_id = id + 1;
  made->set_id(id);
  CELLFS_ASSIGN_OR_RETURN(auto storage, engine_->CreateTable({id, made}));
  opened_[id] = {MakeRegion(made, std::move(storage)), {}};
  catalog.tables[name] = {id, std::move(made), /*enabled=*/true, Now()};
  GrantOwner(catalog, caller, name);
  Status saved = Commit(std::move(catalog));
  if (!IsInForce(saved)) {
    opened_.erase(id);
    dropped_.push_back(id);
  }
  return saved;
}

Status EmbeddedStore::RenameTable(const Caller& caller, const TableName& from,
                                  const TableName& to) {
  const Act act(*this);
  const Catalog before = CopyCatalog();
  Catalog catalog = before;
  CELLFS_ASSIGN_OR_RETURN(CatalogTable* const entry, FindChangeable(caller, catalog, from));
  CELLFS_RETURN_IF_ERROR(CheckTableName(to));
  if (catalog.namespaces.count(to.namespace_name) == 0) return NamespaceMissing(to.namespace_name);
  CELLFS_RETURN_IF_ERROR(Require(caller, "AC", NamespaceScope(to.namespace_name)));
  if (to.IsSystemTable()) return SystemTableRefused(to);
  if (catalog.tables.count(to) != 0) return TableExists(to);
  CELLFS_ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, OpenRegion(*entry));
  auto schema = std::make_shared<TableSchema>(entry->schema->Renamed(to));
  NoteTableRenamed(from, to, Now(), catalog);
  if (from.namespace_name != to.namespace_name)
    CELLFS_RETURN_IF_ERROR(CheckRoomForTable(catalog, *schema));
  MoveTable(catalog, from, schema);
  return CommitSchema(before, std::move(catalog), *region, std::move(schema));
}

// Who drops for room gets it at once.
Status EmbeddedStore::DropTable(const Caller& caller, const TableName& table) {
  Status dropped = DropDisabledTable(caller, table);
  if (dropped.ok()) MakeRoomWhilePutsAreRefused();
  return dropped;
}

Status EmbeddedStore::DropDisabledTable(const Caller& caller, const TableName& table) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_ASSIGN_OR_RETURN(const CatalogTable* const entry, FindChangeable(caller, catalog, table));
  if (entry->enabled) return NotDisabled(table);
  return CommitDrop(std::move(catalog), table);
}

StatusOr<bool> EmbeddedStore::DropEmptyTable(const Caller& caller, const TableName& table) {
  StatusOr<bool> dropped = DropEnabledTable(caller, table);
  if (dropped.ok() && *dropped) MakeRoomWhilePutsAreRefused();
  return dropped;
}

StatusOr<bool> EmbeddedStore::DropEnabledTable(const Caller& caller, const TableName& table) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_ASSIGN_OR_RETURN(const CatalogTable* const entry, FindChangeable(caller, catalog, table));
  if (!entry->enabled) return NotEnabled(table);
  CELLFS_ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, OpenRegion(*entry));
  CELLFS_ASSIGN_OR_RETURN(const bool closed, region->CloseIfEmpty());
  if (!closed) return false;
  Status dropped = CommitDrop(std::move(catalog), table);
  if (!IsInForce(dropped)) region->Reopen();
  if (!dropped.ok()) return dropped;
  return true;
}

Status EmbeddedStore::CommitDrop(Catalog catalog, const TableName& table) {
  const TableId id = catalog.tables.at(table).id;
  const std::shared_ptr<Region> region = opened_.at(id).region;
  const bool held_cells = region == nullptr || region->HoldsCells(std::nullopt);
  if (held_cells && IsToBeKept(catalog.tables.at(table))) {
    KeepDropped(table, Now(), catalog);
    std::vector<TableId> gone;
    if (catalog.dropped_tables.size() > kMostKeptTables) {
      const CatalogDroppedTable& oldest = catalog.dropped_tables.front();
      gone = {oldest.table.id};
      NoteFreedEarly(oldest, std::to_string(kMostKeptTables) + " others are kept", catalog);
    }
    Status kept = CommitFree(std::move(catalog), gone);
    // Who has found it before the drop writes no more.
    if (IsInForce(kept) && region != nullptr) region->Close();
    return kept;
  }
  NoteTableEmptied(table, Now(), catalog);
  EraseTable(catalog, table);
  Status committed = Commit(std::move(catalog), /*forgotten=*/held_cells ? id : 0);
  if (!IsInForce(committed)) return committed;
  opened_.erase(id);
  // What power loss may still bring back goes when the store is opened next.
  if (committed.ok()) dropped_.push_back(id);
  return committed;
}

// Leaves the table enabled, as TruncateTableProcedure does, unless a space quota still forbids
// that.
Status EmbeddedStore::TruncateTable(const Caller& caller, const TableName& table) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_ASSIGN_OR_RETURN(CatalogTable* const entry, FindChangeable(caller, catalog, table));
  if (entry->enabled) return NotDisabled(table);
  CELLFS_ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, OpenRegion(*entry));
  CELLFS_RETURN_IF_ERROR(region->Truncate());
  const auto violation = catalog.violations.find(table);
  NoteTableEmptied(table, Now(), catalog);
  entry->enabled =
      violation == catalog.violations.end() || violation->second != SpaceViolationPolicy::kDisable;
  return Commit(std::move(catalog));
}

Status EmbeddedStore::EnableTable(const Caller& caller, const TableName& table) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_ASSIGN_OR_RETURN(CatalogTable* const entry, FindChangeable(caller, catalog, table));
  if (entry->enabled) return NotDisabled(table);
  const auto violation = catalog.violations.find(table);
  if (violation != catalog.violations.end() &&
      violation->second == SpaceViolationPolicy::kDisable) {
    return {StatusCode::kAccessDenied,
            "table '" + table.ToString() + "' is over its space quota, which keeps it disabled"};
  }
  entry->enabled = true;
  return Commit(std::move(catalog));
}

// A region that closes flushes. What cannot be flushed stays in the log: a full disk must not keep
// anybody from dropping the table.
Status EmbeddedStore::DisableTable(const Caller& caller, const TableName& table) {
  FlushBeforehand(caller, table);
  std::shared_ptr<Region> region;
  Status committed = CommitDisabled(caller, table, region);
  if (IsInForce(committed) && region != nullptr) static_cast<void>(region->Flush());
  return committed;
}

Status EmbeddedStore::CommitDisabled(const Caller& caller, const TableName& table,
                                     std::shared_ptr<Region>& region) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_ASSIGN_OR_RETURN(CatalogTable* const entry, FindChangeable(caller, catalog, table));
  if (!entry->enabled) return NotEnabled(table);
  entry->enabled = false;
  region = opened_.at(entry->id).region;
  return Commit(std::move(catalog));
}

StatusOr<std::shared_ptr<const TableSchema>> EmbeddedStore::DescribeTable(const TableName& table) {
  return directory_->FindSchema(table);
}

StatusOr<bool> EmbeddedStore::IsTableEnabled(const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->Find(table));
  return handle->enabled;
}

StatusOr<std::shared_ptr<const TableSchema>> EmbeddedStore::FindTable(TableId id) {
  CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->Find(id));
  return handle->schema;
}

StatusOr<std::shared_ptr<const PastCatalog>> EmbeddedStore::CatalogAt(Timestamp time) {
  const std::shared_ptr<const Catalog> catalog = directory_->catalog();
  {
    const std::lock_guard lock(told_mutex_);
    if (told_of_ != catalog || told_.size() >= kMostTold) told_.clear();
    told_of_ = catalog;
    if (const auto told = told_.find(time); told != told_.end()) return told->second;
  }
  auto past = std::make_shared<const PastCatalog>(cellfs::CatalogAt(*catalog, time));
  const std::lock_guard lock(told_mutex_);
  if (told_of_ == catalog) told_[time] = past;
  return past;
}

StatusOr<std::vector<TableName>> EmbeddedStore::ListTables(const std::string& namespace_name) {
  const Snapshot<Catalog> catalog = directory_->catalog();
  if (catalog->namespaces.count(namespace_name) == 0) return NamespaceMissing(namespace_name);
  std::vector<TableName> names;
  if (namespace_name == kSystemNamespace) {
    for (const auto& schema : SystemTableSchemas()) names.push_back(schema->name());
  }
  for (const CatalogTable* table : TablesOf(*catalog, namespace_name)) {
    names.push_back(table->schema->name());
  }
  return names;
}

}  // namespace cellfs
