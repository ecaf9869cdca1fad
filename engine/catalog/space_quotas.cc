// SPDX-License-Identifier: MIT
#include "engine/catalog/space_quotas.h"

#include <algorithm>

namespace cellfs {
namespace {

bool Exceeds(uint64_t size, const SpaceQuota& quota) {
  return size > static_cast<uint64_t>(std::max<int64_t>(quota.limit, 0));
}

bool Removes(const Mutation& mutation) {
  return std::holds_alternative<Delete>(mutation) || std::holds_alternative<Withdraw>(mutation);
}

}  // namespace

std::map<TableName, SpaceViolationPolicy> FindViolations(
    const Catalog& catalog, const std::map<TableName, uint64_t>& sizes) {
  const auto size_of = [&](const TableName& table) {
    const auto found = sizes.find(table);
    return found == sizes.end() ? 0 : found->second;
  };
  std::map<TableName, SpaceViolationPolicy> violations;
  for (const auto& [table, quota] : catalog.table_quotas) {
    if (Exceeds(size_of(table), quota.value)) violations[table] = quota.value.policy;
  }
  for (const auto& [name, quota] : catalog.namespace_quotas) {
    const std::vector<const CatalogTable*> tables = TablesOf(catalog, name);
    uint64_t sum = 0;
    for (const CatalogTable* table : tables) sum += size_of(table->schema->name());
    if (!Exceeds(sum, quota.value)) continue;
    for (const CatalogTable* table : tables) {
      violations.emplace(table->schema->name(), quota.value.policy);
    }
  }
  return violations;
}

Status SpaceLimiting(const TableName& table, SpaceViolationPolicy violation) {
  return {StatusCode::kSpaceLimiting, "table '" + table.ToString() +
                                          "' is over its space quota; " +
                                          std::string(PolicyName(violation)) + " is in force"};
}

Status CheckSpace(const TableName& table, const std::optional<SpaceViolationPolicy>& violation,
                  const RowMutations& mutations) {
  if (!violation) return {};
  const bool only_inserts = *violation == SpaceViolationPolicy::kNoInserts;
  if (only_inserts &&
      std::all_of(mutations.mutations.begin(), mutations.mutations.end(), Removes)) {
    return {};
  }
  return SpaceLimiting(table, *violation);
}

}  // namespace cellfs
