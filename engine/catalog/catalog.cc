// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog.h"

#include <algorithm>

namespace cellfs {

Catalog NewCatalog() {
  Catalog catalog;
  for (const std::string_view name : {kDefaultNamespace, kSystemNamespace}) {
    catalog.namespaces[std::string(name)].value.name = name;
  }
  return catalog;
}

std::vector<const CatalogTable*> TablesOf(const Catalog& catalog,
                                          const std::string& namespace_name) {
  std::vector<const CatalogTable*> tables;
  for (auto at = catalog.tables.lower_bound({namespace_name, ""});
       at != catalog.tables.end() && at->first.namespace_name == namespace_name; ++at) {
    tables.push_back(&at->second);
  }
  return tables;
}

void AddGrant(Catalog& catalog, const Grant& grant, bool merge, Timestamp now) {
  const auto found = std::find_if(
      catalog.grants.begin(), catalog.grants.end(), [&](const Stamped<Grant>& present) {
        return present.value.user == grant.user && present.value.scope == grant.scope;
      });
  if (found == catalog.grants.end()) {
    catalog.grants.push_back({grant, now});
    return;
  }
  const std::string both = grant.permissions + (merge ? found->value.permissions : "");
  found->value.permissions.clear();
  for (const char letter : std::string_view("RWXCA")) {
    if (both.find(letter) != std::string::npos) found->value.permissions.push_back(letter);
  }
  found->changed = now;
}

Status CheckGrantLimit(const Catalog& catalog, const GrantScope& scope) {
  constexpr size_t kOfEach = 64;
  size_t bytes = 0;
  for (const auto& [grant, changed] : catalog.grants) {
    const GrantScope& at = grant.scope;
    if (at.table != scope.table || at.namespace_name != scope.namespace_name) continue;
    bytes += kOfEach + grant.user.size() + at.family.size() + at.qualifier.value_or("").size();
  }
  if (bytes <= kMaxGrantBytes) return {};
  std::string of = "the store";
  if (!scope.namespace_name.empty()) of = "namespace '" + scope.namespace_name + "'";
  if (scope.table) of = "table '" + scope.table->ToString() + "'";
  return {StatusCode::kIllegalArgument,
          "the grants of " + of + " would take " + std::to_string(bytes) + " bytes, and may take " +
              std::to_string(kMaxGrantBytes) +
              "; revoke some, or grant families in place of qualifiers"};
}

void EraseTable(Catalog& catalog, const TableName& table) {
  catalog.tables.erase(table);
  catalog.table_quotas.erase(table);
  catalog.violations.erase(table);
  std::erase_if(catalog.grants,
                [&](const Stamped<Grant>& grant) { return grant.value.scope.table == table; });
}

void MoveTable(Catalog& catalog, const TableName& table,
               std::shared_ptr<const TableSchema> schema) {
  const TableName to = schema->name();
  const auto move = [&](auto& by_name) {
    auto said = by_name.extract(table);
    if (said.empty()) return;
    said.key() = to;
    by_name.insert(std::move(said));
  };
  move(catalog.tables);
  move(catalog.table_quotas);
  move(catalog.violations);
  catalog.tables.at(to).schema = std::move(schema);
  for (Stamped<Grant>& grant : catalog.grants) {
    if (grant.value.scope.table == table) grant.value.scope.table = to;
  }
}

void EraseNamespace(Catalog& catalog, const std::string& name) {
  catalog.namespaces.erase(name);
  catalog.namespace_quotas.erase(name);
  std::erase_if(catalog.grants, [&](const Stamped<Grant>& grant) {
    return !grant.value.scope.table && grant.value.scope.namespace_name == name;
  });
}

namespace {

Status CheckSplitKeys(const TableSchema& schema) {
  const auto refuse = [&](const std::string& why) {
    return Status(StatusCode::kIllegalArgument,
                  "split keys of table '" + schema.name().ToString() + "': " + why);
  };
  const std::string* before = nullptr;
  for (const std::string& key : schema.split_keys) {
    if (key.empty()) return refuse("a key is empty");
    if (key.size() > kMaxRowLength) {
      return refuse("a key has more than " + std::to_string(kMaxRowLength) + " bytes");
    }
    if (before != nullptr && *before == key) return refuse("two are the same");
    if (before != nullptr && *before > key) return refuse("they are not in order");
    before = &key;
  }
  return {};
}

size_t BytesOf(const Attributes& attributes) {
  size_t bytes = 0;
  for (const auto& [name, value] : attributes) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

Status CheckSchema(const TableSchema& schema) {
  CELLFS_RETURN_IF_ERROR(CheckTableName(schema.name()));
  // Ours: a table open to new families (free metadata of the file system) may wait for the first.
  if (schema.families.empty() && schema.Get("cellfs.open") != "true") {
    return {StatusCode::kDoNotRetry,
            "table '" + schema.name().ToString() + "' has no family; at least one is needed"};
  }
  for (const auto& [name, family] : schema.families) {
    CELLFS_RETURN_IF_ERROR(CheckFamilyName(name));
    if (name != family.name()) {
      return {StatusCode::kIllegalArgument,
              "family '" + family.name() + "' is given under the name '" + name + "'"};
    }
    CELLFS_RETURN_IF_ERROR(family.Check());
  }
  return CheckSplitKeys(schema);
}

size_t BytesBesideSplitKeys(const TableSchema& schema) {
  size_t bytes = BytesOf(schema.attributes());
  for (const auto& [name, family] : schema.families)
    bytes += name.size() + BytesOf(family.attributes());
  return bytes;
}

size_t BytesOfSplitKeys(const TableSchema& schema) {
  size_t bytes = 0;
  for (const std::string& key : schema.split_keys) bytes += key.size();
  return bytes;
}

Status CheckSchemaLimits(const TableSchema& schema, const TableSchema* before) {
  const auto refuse = [&](const std::string& what, size_t limit, const char* remedy) {
    return Status(StatusCode::kIllegalArgument,
                  "table '" + schema.name().ToString() + "' would have " + what +
                      ", and may have " + std::to_string(limit) + "; give it " + remedy);
  };
  const size_t regions = schema.split_keys.size() + 1;
  if (regions > std::max(kMaxRegionsOfTable, before ? before->split_keys.size() + 1 : 0))
    return refuse(std::to_string(regions) + " regions", kMaxRegionsOfTable, "fewer split keys");
  const auto bytes_of = [](const TableSchema& whole) {
    return BytesBesideSplitKeys(whole) + BytesOfSplitKeys(whole);
  };
  const size_t bytes = bytes_of(schema);
  if (bytes > std::max(kMaxSchemaBytes, before ? bytes_of(*before) : 0))
    return refuse("a schema of " + std::to_string(bytes) + " bytes", kMaxSchemaBytes,
                  "fewer or shorter attributes, families or split keys");
  return {};
}

}  // namespace cellfs
