// SPDX-License-Identifier: MIT
//
// Maintenance, quotas and grants.
#include <algorithm>
#include <iterator>

#include "fs/operations/callers_store.h"
#include "fs/operations/shown_tables.h"
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {

Status CallersStore::Flush(const Caller& caller, const TableName& table) {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  const Status done = store_.Flush(caller, table);
  filesystem_.AwaitKernel();
  return done;
}

Status CallersStore::Compact(const Caller& caller, const TableName& table, CompactionKind kind) {
  CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  const Status done = store_.Compact(caller, table, kind);
  filesystem_.AwaitKernel();
  return done;
}

Statistics CallersStore::GetStatistics() {
  Statistics statistics = store_.GetStatistics();
  std::erase_if(statistics.tables, [this](const TableStatistics& table) {
    return table.table.namespace_name == kHiddenNamespace ||
           !rights_.CheckReach(table.table).ok();
  });
  std::erase_if(statistics.kept, [this](const KeptTableStatistics& kept) {
    return kept.is_in_namespace ? !rights_.CheckReachNamespace(kept.table.namespace_name).ok()
                                : !rights_.CheckMayAdminister().ok();
  });
  std::erase_if(statistics.dropped, [this](const auto& table) {
    return table.first.namespace_name == kHiddenNamespace ||
           !rights_.CheckReachNamespace(table.first.namespace_name).ok();
  });
  if (!rights_.CheckMayAdminister().ok()) {
    statistics.lost_tables.clear();
    statistics.cut_off.clear();
  }
  return statistics;
}

// As a written .toml says one: of the table's or namespace's owner.
Status CallersStore::SetTableSpaceQuota(const Caller& caller, const TableName& table,
                                        const std::optional<SpaceQuota>& quota) {
  CELLFS_RETURN_IF_ERROR(CheckChangesTable(table));
  return ChangeInTurn(table, [&] { return store_.SetTableSpaceQuota(caller, table, quota); });
}

Status CallersStore::SetNamespaceSpaceQuota(const Caller& caller, const std::string& name,
                                            const std::optional<SpaceQuota>& quota) {
  CELLFS_RETURN_IF_ERROR(CheckChangesNamespace(name));
  return ChangeNamespaceInTurn(
      name, [&] { return store_.SetNamespaceSpaceQuota(caller, name, quota); });
}

StatusOr<std::optional<SpaceQuota>> CallersStore::TableSpaceQuota(const TableName& table) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, table));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReach(table));
  return store_.TableSpaceQuota(table);
}

StatusOr<std::optional<SpaceQuota>> CallersStore::NamespaceSpaceQuota(const std::string& name) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, name));
  CELLFS_RETURN_IF_ERROR(rights_.CheckReachNamespace(name));
  return store_.NamespaceSpaceQuota(name);
}

std::map<TableName, bool> CallersStore::EnabledTables() {
  std::map<TableName, bool> tables;
  const auto namespaces = store_.ListNamespaces();
  if (!namespaces.ok()) return tables;
  for (const std::string& name : *namespaces) {
    const auto names = store_.ListTables(name);
    if (!names.ok()) continue;  // dropped meanwhile
    for (const TableName& table : *names) {
      const auto is_enabled = store_.IsTableEnabled(table);
      if (is_enabled.ok()) tables[table] = *is_enabled;
    }
  }
  return tables;
}

// A table over a quota that says so is disabled, and enabled again when it is not over it any more.
Status CallersStore::CheckSpaceQuotas() {
  const auto before = EnabledTables();
  const Status done = store_.CheckSpaceQuotas();
  if (!IsInForce(done)) return done;
  for (const auto& [table, is_enabled] : EnabledTables()) {
    const auto was = before.find(table);
    if (was != before.end() && was->second != is_enabled) parts_.tree.kernel.TableChanged(table);
  }
  return done;
}

Status CallersStore::GrantPermissions(const Caller& caller, const Grant& grant, bool merge) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, grant.scope));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  return store_.GrantPermissions(caller, grant, merge);
}

Status CallersStore::RevokePermissions(const Caller& caller, const std::string& user,
                                       const GrantScope& scope) {
  CELLFS_RETURN_IF_ERROR(CheckIsShown(parts_.options, scope));
  CELLFS_RETURN_IF_ERROR(CheckWritable());
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(rights_.CheckMayAdminister());
  return store_.RevokePermissions(caller, user, scope);
}

// As HBase's AccessController lists them: to who has A at their scope. One's own are no secret.
bool CallersStore::MaySee(const Grant& grant, const std::vector<Grant>& grants) const {
  const std::string& user = parts_.callers.Of(rights_.credentials().uid).user;
  if (grant.user == user) return true;
  return std::any_of(grants.begin(), grants.end(), [&](const Grant& held) {
    return held.user == user && held.permissions.find('A') != std::string::npos &&
           Covers(held.scope, grant.scope);
  });
}

StatusOr<std::vector<Grant>> CallersStore::ListGrants() {
  const Status may_all = rights_.CheckMayAdminister();
  if (!parts_.options.authorization) CELLFS_RETURN_IF_ERROR(may_all);
  CELLFS_ASSIGN_OR_RETURN(auto grants, store_.ListGrants());
  if (may_all.ok()) return grants;
  std::vector<Grant> seen;
  std::copy_if(grants.begin(), grants.end(), std::back_inserter(seen),
               [&](const Grant& grant) { return MaySee(grant, grants); });
  return seen;
}

}  // namespace cellfs::fs
