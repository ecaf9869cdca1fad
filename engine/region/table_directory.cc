// SPDX-License-Identifier: MIT
#include "engine/region/table_directory.h"

#include <algorithm>
#include <mutex>

namespace cellfs {
namespace {

Status NoTable(const TableName& table, const Catalog& catalog) {
  const auto& dropped = catalog.dropped_tables;
  const bool is_kept = std::any_of(dropped.begin(), dropped.end(), [&](const auto& kept) {
    return kept.with_namespace == 0 && kept.table.schema->name() == table;
  });
  return {StatusCode::kTableNotFound,
          "table '" + table.ToString() + "' does not exist" +
              (is_kept ? "; one of that name was dropped, and is kept" : "")};
}

}  // namespace

Snapshot<Catalog> TableDirectory::catalog() const {
  std::shared_lock lock(mutex_);
  return catalog_;
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::Find(const TableName& table) const {
  {
    std::shared_lock lock(mutex_);
    if (const auto found = tables_.find(table); found != tables_.end()) return found->second;
  }
  const Snapshot<Catalog> present = catalog();
  return NoTable(table, *present);
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::Find(TableId id) const {
  {
    std::shared_lock lock(mutex_);
    if (const auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  }
  return Status(StatusCode::kTableNotFound, "the table was dropped");
}

namespace {

StatusOr<std::shared_ptr<const TableHandle>> IfEnabled(std::shared_ptr<const TableHandle> handle) {
  if (!handle->enabled) {
    return Status(StatusCode::kTableNotEnabled,
                  "table '" + handle->schema->name().ToString() + "' is disabled");
  }
  if (handle->region == nullptr) return handle->unopened;
  return handle;
}

}  // namespace

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::FindEnabled(
    const TableName& table) const {
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<const TableHandle> handle, Find(table));
  return IfEnabled(std::move(handle));
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::FindEnabled(TableId id) const {
  CELLFS_ASSIGN_OR_RETURN(std::shared_ptr<const TableHandle> handle, Find(id));
  return IfEnabled(std::move(handle));
}

void TableDirectory::Replace(std::shared_ptr<const Catalog> catalog, TableHandles tables,
                             const std::vector<std::shared_ptr<const TableHandle>>& dropped) {
  std::unordered_map<TableId, std::shared_ptr<const TableHandle>> by_id;
  for (const auto& [name, handle] : tables) by_id.emplace(handle->id, handle);
  for (const auto& handle : dropped) by_id.emplace(handle->id, handle);
  std::unique_lock lock(mutex_);
  catalog_.swap(catalog);
  tables_.swap(tables);
  by_id_.swap(by_id);
  // What was in force before goes with the parameters, after the lock.
  lock.unlock();
}

}  // namespace cellfs
