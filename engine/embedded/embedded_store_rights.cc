// SPDX-License-Identifier: MIT
//
// Namespaces, space quotas and grants: the acts that change the catalog alone, but that a table in
// violation of a quota may be disabled.
#include <algorithm>

#include "engine/catalog/access_control.h"
#include "engine/catalog/dropped.h"
#include "engine/catalog/namespace_quota.h"
#include "engine/catalog/space_quotas.h"
#include "engine/embedded/embedded_store.h"

namespace cellfs {
namespace {

Status CheckNamespaceExists(const Catalog& catalog, const std::string& name) {
  if (catalog.namespaces.count(name) != 0) return {};
  return {StatusCode::kNamespaceNotFound, "namespace '" + name + "' does not exist"};
}

Status NamespaceRefused(const std::string& name, std::string_view why) {
  return {StatusCode::kConstraint, "namespace '" + name + "' " + std::string(why)};
}

Status CheckQuota(const std::optional<SpaceQuota>& quota) {
  if (!quota || quota->limit >= 0) return {};
  return {StatusCode::kIllegalArgument,
          "space quota of " + std::to_string(quota->limit) + " bytes; at least 0 is allowed"};
}

template <typename K>
void SetQuota(std::map<K, Stamped<SpaceQuota>>& quotas, const K& key,
              const std::optional<SpaceQuota>& quota, Timestamp now) {
  if (quota) {
    quotas[key] = {*quota, now};
  } else {
    quotas.erase(key);
  }
}

template <typename K>
std::optional<SpaceQuota> FindQuota(const std::map<K, Stamped<SpaceQuota>>& quotas, const K& key) {
  const auto found = quotas.find(key);
  return found == quotas.end() ? std::nullopt : std::optional(found->second.value);
}

// So that one scope has one spelling: beside a table the namespace means nothing.
GrantScope Normalized(GrantScope scope) {
  if (scope.table) scope.namespace_name.clear();
  return scope;
}

bool Disables(const std::map<TableName, SpaceViolationPolicy>& violations, const TableName& table) {
  const auto found = violations.find(table);
  return found != violations.end() && found->second == SpaceViolationPolicy::kDisable;
}

}  // namespace

// ---- Namespaces -------------------------------------------------------------------------------

Status EmbeddedStore::CreateNamespace(const Caller& caller, const NamespaceSchema& schema) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  CELLFS_RETURN_IF_ERROR(CheckNamespaceName(schema.name));
  if (catalog.namespaces.count(schema.name) != 0) {
    return {StatusCode::kNamespaceExists, "namespace '" + schema.name + "' exists"};
  }
  CELLFS_RETURN_IF_ERROR(CheckNamespaceQuota(schema));
  const Timestamp now = Now();
  catalog.namespaces[schema.name] = {schema, now, now};
  return Commit(std::move(catalog));
}

Status EmbeddedStore::AlterNamespace(const Caller& caller, const NamespaceSchema& schema) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(catalog, schema.name));
  if (schema.name == kSystemNamespace) {
    return {StatusCode::kReadOnly, "namespace '" + schema.name + "' is read-only"};
  }
  CELLFS_RETURN_IF_ERROR(CheckNamespaceQuota(schema));
  CatalogNamespace& altered = catalog.namespaces.at(schema.name);
  altered.value = schema;
  altered.changed = Now();
  return Commit(std::move(catalog));
}

Status EmbeddedStore::DropNamespace(const Caller& caller, const std::string& name) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(catalog, name));
  if (name == kDefaultNamespace || name == kSystemNamespace) {
    return NamespaceRefused(name, "is reserved and cannot be dropped");
  }
  if (const size_t tables = TablesOf(catalog, name).size(); tables > 0) {
    return NamespaceRefused(name, "has " + std::to_string(tables) + " tables; it must have none");
  }
  KeepDroppedNamespace(name, Now(), catalog);
  return Commit(std::move(catalog));
}

StatusOr<NamespaceSchema> EmbeddedStore::DescribeNamespace(const std::string& name) {
  const Snapshot<Catalog> catalog = directory_->catalog();
  CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(*catalog, name));
  return catalog->namespaces.at(name).value;
}

StatusOr<std::vector<std::string>> EmbeddedStore::ListNamespaces() {
  std::vector<std::string> names;
  const Snapshot<Catalog> catalog = directory_->catalog();
  for (const auto& [name, unused] : catalog->namespaces) names.push_back(name);
  return names;
}

// ---- Space quotas -----------------------------------------------------------------------------

Status EmbeddedStore::SetTableSpaceQuota(const Caller& caller, const TableName& table,
                                         const std::optional<SpaceQuota>& quota) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", TableScope(table)));
  CELLFS_RETURN_IF_ERROR(CheckQuota(quota));
  if (auto found = directory_->Find(table); !found.ok()) return found.status();
  if (table.IsSystemTable()) {
    return {StatusCode::kReadOnly, "table '" + table.ToString() + "' is a system table"};
  }
  SetQuota(catalog.table_quotas, table, quota, Now());
  return Commit(std::move(catalog));
}

Status EmbeddedStore::SetNamespaceSpaceQuota(const Caller& caller,
                                             const std::string& namespace_name,
                                             const std::optional<SpaceQuota>& quota) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", GlobalScope()));
  CELLFS_RETURN_IF_ERROR(CheckQuota(quota));
  CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(catalog, namespace_name));
  SetQuota(catalog.namespace_quotas, namespace_name, quota, Now());
  return Commit(std::move(catalog));
}

StatusOr<std::optional<SpaceQuota>> EmbeddedStore::TableSpaceQuota(const TableName& table) {
  if (auto found = directory_->Find(table); !found.ok()) return found.status();
  const Snapshot<Catalog> catalog = directory_->catalog();
  return FindQuota(catalog->table_quotas, table);
}

StatusOr<std::optional<SpaceQuota>> EmbeddedStore::NamespaceSpaceQuota(const std::string& name) {
  const Snapshot<Catalog> catalog = directory_->catalog();
  CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(*catalog, name));
  return FindQuota(catalog->namespace_quotas, name);
}

// Entering DISABLE disables the table, leaving it enables it, whoever had disabled it before.
Status EmbeddedStore::CheckSpaceQuotas() {
  MakeRoomWhilePutsAreRefused();
  std::vector<std::shared_ptr<Region>> closed;
  Status committed = CommitViolations(closed);
  if (!IsInForce(committed)) return committed;
  for (const auto& region : closed) {
    if (region != nullptr) CELLFS_RETURN_IF_ERROR(region->Flush());
  }
  return committed;
}

Status EmbeddedStore::CommitViolations(std::vector<std::shared_ptr<Region>>& closed) {
  const Act act(*this);
  CELLFS_RETURN_IF_ERROR(FreeExpired());
  Catalog catalog = CopyCatalog();
  std::map<TableName, uint64_t> sizes;
  for (const TableStatistics& table : GetStatistics().tables) sizes[table.table] = table.file_bytes;
  auto violations = FindViolations(catalog, sizes);
  if (violations == catalog.violations) return {};
  for (auto& [name, table] : catalog.tables) {
    const bool disabled_now = Disables(violations, name);
    if (disabled_now == Disables(catalog.violations, name)) continue;
    table.enabled = !disabled_now;
    if (disabled_now) closed.push_back(opened_.at(table.id).region);
  }
  catalog.violations = std::move(violations);
  return Commit(std::move(catalog));
}

// ---- Rights -----------------------------------------------------------------------------------

Status EmbeddedStore::GrantPermissions(const Caller& caller, const Grant& grant, bool merge) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  const GrantScope scope = Normalized(grant.scope);
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", scope));
  CELLFS_ASSIGN_OR_RETURN(std::string permissions, CheckPermissions(grant.permissions));
  if (grant.user.empty()) return {StatusCode::kIllegalArgument, "a grant names no user"};
  if (scope.table) {
    CELLFS_ASSIGN_OR_RETURN(const auto handle, directory_->Find(*scope.table));
    if (!scope.family.empty() && handle->schema->FindFamily(scope.family) == nullptr) {
      return {StatusCode::kNoSuchColumnFamily, "family '" + scope.family + "' of table '" +
                                                   scope.table->ToString() + "' does not exist"};
    }
  } else if (!scope.namespace_name.empty()) {
    CELLFS_RETURN_IF_ERROR(CheckNamespaceExists(catalog, scope.namespace_name));
  }
  if ((scope.qualifier && scope.family.empty()) || (!scope.family.empty() && !scope.table)) {
    return {StatusCode::kIllegalArgument,
            "a grant on a family needs its table, one on a qualifier its family"};
  }
  const size_t before = catalog.grants.size();
  AddGrant(catalog, {grant.user, scope, std::move(permissions)}, merge, Now());
  if (catalog.grants.size() > before) CELLFS_RETURN_IF_ERROR(CheckGrantLimit(catalog, scope));
  return Commit(std::move(catalog));
}

Status EmbeddedStore::RevokePermissions(const Caller& caller, const std::string& user,
                                        const GrantScope& scope) {
  const Act act(*this);
  Catalog catalog = CopyCatalog();
  const GrantScope revoked_scope = Normalized(scope);
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", revoked_scope));
  const auto revoked = std::erase_if(catalog.grants, [&](const Stamped<Grant>& grant) {
    return grant.value.user == user && grant.value.scope == revoked_scope;
  });
  return revoked == 0 ? Status() : Commit(std::move(catalog));
}

StatusOr<std::vector<Grant>> EmbeddedStore::ListGrants() {
  std::vector<Grant> grants;
  const Snapshot<Catalog> catalog = directory_->catalog();
  for (const Stamped<Grant>& grant : catalog->grants) grants.push_back(grant.value);
  return grants;
}

}  // namespace cellfs
