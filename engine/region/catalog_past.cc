// SPDX-License-Identifier: MIT
//
// The past of a catalog: how it comes about, how long it is kept, and what it tells.
#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "engine/region/catalog.h"

namespace cellfs {
namespace {

constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

bool IsSame(const CatalogTable& a, const CatalogTable& b) {
  return a.id == b.id && a.enabled == b.enabled &&
         (a.schema == b.schema || (a.schema->name() == b.schema->name() && *a.schema == *b.schema));
}

bool IsSame(const Stamped<NamespaceSchema>& a, const Stamped<NamespaceSchema>& b) {
  return a.changed == b.changed && a.value.properties == b.value.properties;
}

TableId KeyOf(const PastTable& past) { return past.table.id; }
const std::string& KeyOf(const PastNamespace& past) { return past.space.value.name; }

// A clock that was set back makes no past of less than nothing.
template <typename Present, typename Past>
void Record(const Present& before, Present& after, Timestamp now, std::vector<Past>& past) {
  for (const auto& [name, value] : before) {
    const auto found = after.find(name);
    if (found != after.end() && IsSame(found->second, value)) {
      found->second.changed = value.changed;
      continue;
    }
    if (value.changed < now) past.push_back({value, now});
  }
  for (auto& [name, value] : after) {
    const auto found = before.find(name);
    if (found == before.end() || !IsSame(found->second, value)) value.changed = now;
  }
}

int64_t SecondsKept(const TableSchema& schema) {
  int64_t most = 0;
  for (const auto& [name, family] : schema.families) {
    if (family.keep_deleted_cells() != KeepDeletedCells::kTrue) continue;
    most = std::max(most, family.deleted_ttl().value_or(kForEver));
  }
  return most;
}

int64_t SecondsKept(const Catalog& catalog) {
  int64_t most = kLeastPastSeconds;
  for (const auto& [name, table] : catalog.tables)
    most = std::max(most, SecondsKept(*table.schema));
  for (const auto& past : catalog.past_tables) {
    most = std::max(most, SecondsKept(*past.table.schema));
  }
  return most;
}

template <typename Past>
void Prune(std::vector<Past>& past, Timestamp kept_from) {
  std::erase_if(past, [&](const Past& old) { return old.until <= kept_from; });
  std::map<std::decay_t<decltype(KeyOf(past.front()))>, size_t> of_one;
  for (const Past& old : past) ++of_one[KeyOf(old)];
  std::erase_if(past, [&](const Past& old) {
    size_t& left = of_one[KeyOf(old)];
    if (left <= kMostPastOfOne) return false;
    --left;
    return true;
  });
  if (past.size() > kMostPast) past.erase(past.begin(), past.end() - kMostPast);
}

}  // namespace

void RecordChanges(const Catalog& before, Catalog& after, Timestamp now) {
  after.past_tables = before.past_tables;
  after.past_namespaces = before.past_namespaces;
  Record(before.tables, after.tables, now, after.past_tables);
  Record(before.namespaces, after.namespaces, now, after.past_namespaces);
}

void PrunePast(Catalog& catalog, Timestamp now) {
  const int64_t seconds = SecondsKept(catalog);
  const Timestamp kept_from = seconds > now / 1000 ? 0 : now - seconds * 1000;
  Prune(catalog.past_tables, kept_from);
  Prune(catalog.past_namespaces, kept_from);
}

std::vector<CatalogTable> TablesAt(const Catalog& catalog, const std::string& namespace_name,
                                   Timestamp time) {
  std::map<TableName, CatalogTable> tables;
  for (const PastTable& past : catalog.past_tables) {
    const TableName& name = past.table.schema->name();
    if (name.namespace_name != namespace_name) continue;
    if (past.table.changed <= time && time < past.until) tables[name] = past.table;
  }
  for (const CatalogTable* const table : TablesOf(catalog, namespace_name)) {
    if (table->changed <= time) tables[table->schema->name()] = *table;
  }
  std::vector<CatalogTable> found;
  for (auto& [name, table] : tables) found.push_back(std::move(table));
  return found;
}

std::vector<NamespaceSchema> NamespacesAt(const Catalog& catalog, Timestamp time) {
  std::map<std::string, NamespaceSchema> spaces;
  for (const PastNamespace& past : catalog.past_namespaces) {
    const Stamped<NamespaceSchema>& space = past.space;
    if (space.changed <= time && time < past.until) spaces[space.value.name] = space.value;
  }
  for (const auto& [name, space] : catalog.namespaces) {
    if (space.changed <= time) spaces[name] = space.value;
  }
  std::vector<NamespaceSchema> found;
  for (auto& [name, space] : spaces) found.push_back(std::move(space));
  return found;
}

}  // namespace cellfs
