// SPDX-License-Identifier: MIT
#include "engine/embedded/table_directory.h"

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

bool IsInUse(const TableHandle& handle) { return handle.enabled && handle.region != nullptr; }

Status WhyNotInUse(const TableHandle& handle) {
  if (handle.enabled) return handle.unopened;
  return {StatusCode::kTableNotEnabled,
          "table '" + handle.schema->name().ToString() + "' is disabled"};
}

}  // namespace

Snapshot<Catalog> TableDirectory::catalog() const {
  std::shared_lock lock(mutex_);
  return catalog_;
}

const std::shared_ptr<const TableHandle>* TableDirectory::FindLocked(
    const TableName& table) const {
  const auto* const last = last_found_.load(std::memory_order_relaxed);
  if (last != nullptr && last->first == table) return &last->second;
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  last_found_.store(&*found, std::memory_order_relaxed);
  return &found->second;
}

Status TableDirectory::WhyNotThere(const TableName& table) const {
  const Snapshot<Catalog> present = catalog();
  return NoTable(table, *present);
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::Find(const TableName& table) const {
  {
    std::shared_lock lock(mutex_);
    if (const auto* const found = FindLocked(table)) return *found;
  }
  return WhyNotThere(table);
}

StatusOr<std::shared_ptr<const TableSchema>> TableDirectory::FindSchema(
    const TableName& table) const {
  {
    std::shared_lock lock(mutex_);
    if (const auto* const found = FindLocked(table)) return (*found)->schema;
  }
  return WhyNotThere(table);
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::Find(TableId id) const {
  {
    std::shared_lock lock(mutex_);
    if (const auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  }
  return Status(StatusCode::kTableNotFound, "the table was dropped");
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::FindEnabled(
    const TableName& table) const {
  {
    std::shared_lock lock(mutex_);
    const auto* const found = FindLocked(table);
    if (found != nullptr && IsInUse(**found)) return *found;
  }
  CELLFS_ASSIGN_OR_RETURN(const auto handle, Find(table));
  if (!IsInUse(*handle)) return WhyNotInUse(*handle);
  return handle;
}

StatusOr<std::shared_ptr<const TableHandle>> TableDirectory::FindEnabled(TableId id) const {
  auto found = Find(id);
  if (found.ok() && !IsInUse(**found)) return WhyNotInUse(**found);
  return found;
}

void TableDirectory::Replace(std::shared_ptr<const Catalog> catalog, Change change) {
  std::vector<std::shared_ptr<const TableHandle>> gone;  // after the lock
  const auto take_out = [&](const TableName& name) {
    const auto found = tables_.find(name);
    if (found == tables_.end()) return;
    by_id_.erase(found->second->id);
    gone.push_back(std::move(found->second));
    tables_.erase(found);
  };
  std::unique_lock lock(mutex_);
  catalog_.swap(catalog);
  last_found_.store(nullptr, std::memory_order_relaxed);
  for (const TableName& name : change.gone) take_out(name);
  for (const auto& [name, handle] : change.tables) take_out(name);
  for (const TableId id : change.gone_dropped) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) continue;
    gone.push_back(std::move(found->second));
    by_id_.erase(found);
  }
  for (const auto& [name, handle] : change.tables) {
    tables_.emplace(name, handle);
    by_id_.insert_or_assign(handle->id, handle);
  }
  for (const auto& handle : change.dropped) by_id_.insert_or_assign(handle->id, handle);
  lock.unlock();
}

}  // namespace cellfs
