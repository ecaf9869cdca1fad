// SPDX-License-Identifier: MIT
#include "engine/catalog/namespace_quota.h"

#include <charconv>
#include <limits>

namespace cellfs {
namespace {

constexpr std::string_view kMaxTables = "hbase.namespace.quota.maxtables";
constexpr std::string_view kMaxRegions = "hbase.namespace.quota.maxregions";

// The largest number where the property is not set.
StatusOr<uint64_t> Limit(const NamespaceSchema& schema, std::string_view property) {
  const auto found = schema.properties.find(std::string(property));
  if (found == schema.properties.end()) return std::numeric_limits<uint64_t>::max();
  const std::string& text = found->second;
  const auto refuse = [&](StatusCode code) {
    return Status(code, "namespace '" + schema.name + "': " + std::string(property) + " is '" +
                            text + "'; allowed: numbers from 1 to 2147483647");
  };
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return refuse(StatusCode::kDoNotRetry);
  }
  if (number <= 0) return refuse(StatusCode::kConstraint);
  return static_cast<uint64_t>(number);
}

Status Exceeded(const TableSchema& table, const std::string& what, uint64_t limit) {
  return {StatusCode::kQuotaExceeded, "table '" + table.name().ToString() +
                                          "': its namespace would have more than its " +
                                          std::to_string(limit) + " " + what};
}

}  // namespace

Status CheckNamespaceQuota(const NamespaceSchema& schema) {
  for (const std::string_view property : {kMaxTables, kMaxRegions}) {
    if (auto limit = Limit(schema, property); !limit.ok()) return limit.status();
  }
  return {};
}

Status CheckRoomForTable(const Catalog& catalog, const TableSchema& table) {
  const std::string& name = table.name().namespace_name;
  const NamespaceSchema& schema = catalog.namespaces.at(name).value;
  CELLFS_ASSIGN_OR_RETURN(const uint64_t max_tables, Limit(schema, kMaxTables));
  if (TablesOf(catalog, name).size() >= max_tables) return Exceeded(table, "tables", max_tables);
  return CheckRoomForRegions(catalog, table);
}

Status CheckRoomForRegions(const Catalog& catalog, const TableSchema& table) {
  const std::string& name = table.name().namespace_name;
  CELLFS_ASSIGN_OR_RETURN(const uint64_t max_regions,
                          Limit(catalog.namespaces.at(name).value, kMaxRegions));
  uint64_t regions = table.split_keys.size() + 1;
  for (const CatalogTable* present : TablesOf(catalog, name)) {
    if (present->schema->name() != table.name())
      regions += present->schema->split_keys.size() + 1;
  }
  if (regions > max_regions) return Exceeded(table, "regions", max_regions);
  return {};
}

}  // namespace cellfs
