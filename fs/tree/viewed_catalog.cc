// SPDX-License-Identifier: MIT
#include "fs/tree/viewed_catalog.h"

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

std::shared_ptr<const PastCatalog> CatalogOf(const Place& place) {
  const bool is_system = place.table.namespace_name == kSystemNamespace;
  return place.view != nullptr && !is_system ? place.view->Catalog() : nullptr;
}

Status NoNamespace(const Place& place) {
  return {StatusCode::kNamespaceNotFound,
          "namespace '" + place.table.namespace_name + "' was not there"};
}

// Whoever asks has found it: it was there, and shall not be taken for empty now.
Status TableHasGone(const Place& place) {
  return {StatusCode::kUnavailable,
          "table '" + place.table.ToString() + "' was dropped since, and is not kept"};
}

}  // namespace

StatusOr<std::vector<std::string>> ViewedNamespaces(Store& store, const Place& root) {
  const auto catalog = CatalogOf(root);
  if (catalog == nullptr) return store.ListNamespaces();
  std::vector<std::string> names;
  for (const auto& [name, space] : catalog->namespaces) names.push_back(name);
  return names;
}

StatusOr<std::vector<TableName>> ViewedTables(Store& store, const Place& name_space) {
  const std::string& name = name_space.table.namespace_name;
  const auto catalog = CatalogOf(name_space);
  if (catalog == nullptr) return store.ListTables(name);
  if (!catalog->namespaces.contains(name)) return NoNamespace(name_space);
  std::vector<TableName> tables;
  for (auto it = catalog->tables.lower_bound({name, ""});
       it != catalog->tables.end() && it->first.namespace_name == name; ++it)
    tables.push_back(it->first);
  return tables;
}

namespace {

// Null: it is one of the present. kNamespaceNotFound.
StatusOr<std::shared_ptr<const PastNamespace>> FindPastNamespace(const Place& place) {
  const auto catalog = CatalogOf(place);
  if (catalog == nullptr) return std::shared_ptr<const PastNamespace>();
  const auto found = catalog->namespaces.find(place.table.namespace_name);
  if (found == catalog->namespaces.end()) return NoNamespace(place);
  return std::shared_ptr<const PastNamespace>(catalog, &found->second);
}

}  // namespace

StatusOr<NamespaceSchema> ViewedNamespaceSchema(Store& store, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(const auto past, FindPastNamespace(place));
  if (past != nullptr) return past->schema;
  return store.DescribeNamespace(place.table.namespace_name);
}

StatusOr<PastNamespace> ViewedNamespace(Store& store, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(const auto past, FindPastNamespace(place));
  if (past != nullptr) return *past;
  PastNamespace seen;
  const std::string& name = place.table.namespace_name;
  CELLFS_ASSIGN_OR_RETURN(seen.schema, store.DescribeNamespace(name));
  CELLFS_ASSIGN_OR_RETURN(seen.space_quota, store.NamespaceSpaceQuota(name));
  return seen;
}

StatusOr<std::shared_ptr<const TableSchema>> ViewedSchema(Store& store, const Place& place) {
  if (place.view == nullptr) return store.DescribeTable(place.table);
  if (const auto past = place.view->FindPast(place.table)) return past->schema;
  return PresentSchema(store, place);
}

StatusOr<PastTable> ViewedTable(Store& store, const Place& place) {
  if (place.view != nullptr) {
    if (const auto past = place.view->FindPast(place.table)) return *past;
  }
  PastTable seen;
  CELLFS_ASSIGN_OR_RETURN(seen.schema, PresentSchema(store, place));
  const TableName& name = seen.schema->name();
  CELLFS_ASSIGN_OR_RETURN(seen.enabled, store.IsTableEnabled(name));
  CELLFS_ASSIGN_OR_RETURN(seen.space_quota, store.TableSpaceQuota(name));
  return seen;
}

StatusOr<std::shared_ptr<const TableSchema>> PresentSchema(Store& store, const Place& place) {
  const TableId id = place.view != nullptr ? place.view->IdOf(place.table) : 0;
  if (id == 0) return store.DescribeTable(place.table);
  auto present = store.FindTable(id);
  if (present.status().code() != StatusCode::kTableNotFound) return present;
  if (const auto past = place.view->FindPast(place.table)) return past->schema;
  return TableHasGone(place);
}

}  // namespace cellfs::fs
