// SPDX-License-Identifier: MIT
//
// How schemas of tables change, as HBase's ModifyTableProcedure has it.
#include <algorithm>

#include "engine/catalog/access_control.h"
#include "engine/catalog/emptied.h"
#include "engine/catalog/namespace_quota.h"
#include "engine/embedded/embedded_store.h"

namespace cellfs {
namespace {

Status FamilyRefused(const TableName& table, const std::string& family, std::string_view why) {
  return {StatusCode::kInvalidFamilyOperation,
          "family '" + family + "' of table '" + table.ToString() + "' " + std::string(why)};
}

Status SplitRefused(const TableName& table, std::string_view why) {
  return {StatusCode::kDoNotRetry, "table '" + table.ToString() + "' " + std::string(why)};
}

}  // namespace

// New families get the site's VERSIONS where they say none.
void EmbeddedStore::SetDefaultVersions(TableSchema& schema, const TableSchema* before) const {
  const int32_t versions = options_.site.default_max_versions;
  for (auto& [name, family] : schema.families) {
    const bool is_new = before == nullptr || before->FindFamily(name) == nullptr;
    if (!is_new || versions == 1 || family.attributes().count("VERSIONS") != 0) continue;
    static_cast<void>(family.Set("VERSIONS", std::to_string(versions)));
  }
}

Status EmbeddedStore::ChangeSchema(const Caller& caller, const TableName& table,
                                   const SchemaChange& change, Ownership ownership) {
  FlushBeforehand(caller, table);
  const Act act(*this);
  const Catalog before = CopyCatalog();
  Catalog catalog = before;
  CELLFS_ASSIGN_OR_RETURN(CatalogTable* const entry, FindChangeable(caller, catalog, table));
  CELLFS_ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, OpenRegion(*entry));
  auto schema = std::make_shared<TableSchema>(*entry->schema);
  CELLFS_RETURN_IF_ERROR(change(*schema));
  schema->set_id(entry->id);
  SetDefaultVersions(*schema, entry->schema.get());
  CELLFS_RETURN_IF_ERROR(CheckSchema(*schema));
  CELLFS_RETURN_IF_ERROR(CheckSchemaLimits(*schema, entry->schema.get()));
  // Most of what can fail in the change of regions is its flush: before anything is said of it.
  CELLFS_RETURN_IF_ERROR(region->Flush());
  for (const auto& [name, family] : entry->schema->families) {
    if (schema->FindFamily(name) == nullptr && region->HoldsCells(name))
      NoteFamilyEmptied(table, name, Now(), catalog);
  }
  entry->schema = schema;
  if (ownership == Ownership::kTaken) GrantOwner(catalog, caller, table);
  return CommitSchema(before, std::move(catalog), *region, std::move(schema));
}

Status EmbeddedStore::CommitSchema(const Catalog& before, Catalog catalog, Region& region,
                                   std::shared_ptr<const TableSchema> schema) {
  Status committed = Commit(std::move(catalog));
  if (!IsInForce(committed)) return committed;
  Status replaced = region.ReplaceSchema(std::move(schema));
  if (IsInForce(replaced)) return committed.ok() ? replaced : committed;
  CELLFS_RETURN_IF_ERROR(Commit(before));
  return replaced;
}

Status EmbeddedStore::AlterTable(const Caller& caller, const TableSchema& schema) {
  return ChangeSchema(caller, schema.name(), [&](TableSchema& changed) -> Status {
    std::vector<std::string> split_keys = std::move(changed.split_keys);
    changed = schema;
    changed.split_keys = std::move(split_keys);
    return {};
  });
}

Status EmbeddedStore::RecreateTable(const Caller& caller, const TableSchema& schema) {
  return ChangeSchema(caller, schema.name(), [&](TableSchema& changed) -> Status {
    changed = schema;
    std::sort(changed.split_keys.begin(), changed.split_keys.end());
    Catalog others = CopyCatalog();
    others.tables.erase(schema.name());
    return CheckRoomForTable(others, changed);
  });
}

// What SplitTableRegionProcedure looks at.
Status EmbeddedStore::SplitTable(const Caller& caller, const TableName& table,
                                 const std::string& key) {
  CELLFS_RETURN_IF_ERROR(Require(caller, "A", TableScope(table)));
  const auto split = [&](TableSchema& changed) -> Status {
    CELLFS_RETURN_IF_ERROR(directory_->FindEnabled(table).status());
    if (changed.Get("SPLIT_ENABLED") != "true")
      return SplitRefused(table, "has SPLIT_ENABLED = false");
    const auto place =
        std::lower_bound(changed.split_keys.begin(), changed.split_keys.end(), key);
    if (place != changed.split_keys.end() && *place == key)
      return SplitRefused(table, "has a region that begins at that key");
    changed.split_keys.insert(place, key);
    return CheckRoomForRegions(CopyCatalog(), changed);
  };
  return ChangeSchema(caller, table, split, Ownership::kKept);
}

Status EmbeddedStore::AddFamily(const Caller& caller, const TableName& table,
                                const FamilySchema& family) {
  return ChangeSchema(caller, table, [&](TableSchema& changed) -> Status {
    const bool added = changed.families.emplace(family.name(), family).second;
    return added ? Status() : FamilyRefused(table, family.name(), "exists");
  });
}

Status EmbeddedStore::ModifyFamily(const Caller& caller, const TableName& table,
                                   const FamilySchema& family) {
  return ChangeSchema(caller, table, [&](TableSchema& changed) -> Status {
    const auto found = changed.families.find(family.name());
    if (found == changed.families.end()) {
      return FamilyRefused(table, family.name(), "does not exist");
    }
    found->second = family;
    return {};
  });
}

Status EmbeddedStore::DropFamily(const Caller& caller, const TableName& table,
                                 const std::string& family) {
  return ChangeSchema(caller, table, [&](TableSchema& changed) -> Status {
    if (changed.families.erase(family) == 0) return FamilyRefused(table, family, "does not exist");
    if (changed.families.empty()) return FamilyRefused(table, family, "is the last one");
    return {};
  });
}

}  // namespace cellfs
