// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_history.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_change.h"

namespace cellfs {
namespace {

constexpr Timestamp kForEver = kLatestTimestamp;

// How long it keeps what is deleted, milliseconds.
Timestamp KeptFor(const FamilySchema& family) {
  const auto milliseconds = [](int64_t seconds) {
    return seconds > kForEver / 1000 ? kForEver : seconds * 1000;
  };
  switch (family.keep_deleted_cells()) {
    case KeepDeletedCells::kFalse:
      return 0;
    case KeepDeletedCells::kTtl:
      return family.time_to_live() == kForever ? kForEver : milliseconds(family.time_to_live());
    case KeepDeletedCells::kTrue:
      return family.deleted_ttl() ? milliseconds(*family.deleted_ttl()) : kForEver;
  }
  return 0;
}

Timestamp LongestKept(const Catalog& catalog) {
  Timestamp longest = 0;
  const auto look_at = [&](const TableSchema& table) {
    for (const auto& [name, family] : table.families) longest = std::max(longest, KeptFor(family));
  };
  for (const auto& [name, table] : catalog.tables) look_at(*table.schema);
  for (const auto& past : catalog.past_tables) look_at(*past.state.schema);
  for (const CatalogDroppedTable& dropped : catalog.dropped_tables)
    look_at(*dropped.table.schema);
  return longest;
}

bool HasPassed(Timestamp until, Timestamp kept_for, Timestamp now) {
  return kept_for != kForEver && until <= now - kept_for;
}

// The times grow, though the clock be set back.
template <typename T>
void NoteEnd(std::vector<Past<T>>& past, T state, Timestamp now) {
  const Timestamp until = past.empty() ? now : std::max(now, past.back().until);
  past.push_back({std::move(state), until});
}

// ---- Bytes --------------------------------------------------------------------------------------

constexpr size_t kBytesOfState = 256;      // beside names, values and split keys
constexpr size_t kBytesOfAttribute = 24;   // likewise, with the indent
constexpr size_t kBytesBesideSplitKey = 16;

size_t BytesOf(const Past<CatalogTable>& past) {
  const TableSchema& schema = *past.state.schema;
  size_t attributes = schema.attributes().size();
  for (const auto& [name, family] : schema.families) attributes += 2 + family.attributes().size();
  return kBytesOfState + kBytesOfAttribute * attributes + BytesBesideSplitKeys(schema) +
         BytesOfSplitKeys(schema) + kBytesBesideSplitKey * schema.split_keys.size();
}

size_t BytesOf(const Past<CatalogNamespace>& past) {
  const NamespaceSchema& schema = past.state.value;
  size_t bytes = kBytesOfState + schema.name.size();
  for (const auto& [name, value] : schema.properties)
    bytes += kBytesOfAttribute + name.size() + value.size();
  return bytes;
}

std::string NameOf(const CatalogTable& table) { return table.schema->name().ToString(); }
std::string NameOf(const CatalogNamespace& space) { return space.value.name; }

// Where those of all states take more than they may, the older states go without.
void ForgetSplitKeys(size_t limit, std::vector<Past<CatalogTable>>& past_tables) {
  size_t bytes = 0;
  for (auto past = past_tables.rbegin(); past != past_tables.rend(); ++past) {
    std::shared_ptr<const TableSchema>& schema = past->state.schema;
    bytes += BytesOfSplitKeys(*schema) + kBytesBesideSplitKey * schema->split_keys.size();
    if (bytes <= limit || schema->split_keys.empty()) continue;
    auto without = std::make_shared<TableSchema>(*schema);
    without->split_keys.clear();
    schema = std::move(without);
  }
}

// The oldest goes of the name whose states take most. The states of each vector are in the order of
// time, so the oldest of a name is the first that is left.
template <typename T>
void KeepWithin(size_t limit, std::vector<Past<T>>& past) {
  struct States {
    size_t bytes = 0;
    std::vector<size_t> newest_first;  // where they are
  };
  std::map<std::string, States> by_name;
  size_t bytes = 0;
  for (size_t i = past.size(); i-- > 0;) {
    States& states = by_name[NameOf(past[i].state)];
    states.newest_first.push_back(i);
    states.bytes += BytesOf(past[i]);
    bytes += BytesOf(past[i]);
  }
  std::vector<bool> goes(past.size());
  while (bytes > limit) {
    const auto is_smaller = [&](const auto& a, const auto& b) {
      if (a.second.bytes != b.second.bytes) return a.second.bytes < b.second.bytes;
      return a.second.newest_first.back() > b.second.newest_first.back();
    };
    const auto largest = std::max_element(by_name.begin(), by_name.end(), is_smaller);
    States& states = largest->second;
    const size_t oldest = states.newest_first.back();
    states.newest_first.pop_back();
    goes[oldest] = true;
    bytes -= BytesOf(past[oldest]);
    states.bytes -= BytesOf(past[oldest]);
    if (states.newest_first.empty()) by_name.erase(largest);
  }
  size_t at = 0;
  std::erase_if(past, [&](const Past<T>& /*state*/) { return goes[at++]; });
}

template <typename T>
size_t BytesOfAll(const std::vector<Past<T>>& all) {
  size_t bytes = 0;
  for (const Past<T>& past : all) bytes += BytesOf(past);
  return bytes;
}

template <typename Quotas, typename Key>
std::optional<SpaceQuota> QuotaAt(const Quotas& quotas, const Key& key, Timestamp time) {
  const auto found = quotas.find(key);
  if (found == quotas.end() || found->second.changed > time) return std::nullopt;
  return found->second.value;
}

}  // namespace

void NotePast(const Catalog& before, Timestamp now, Catalog& after) {
  const auto tables = ChangeOf(before.tables, after.tables);
  const auto end = [&](const TableName& name) {
    const auto was = before.tables.find(name);
    if (was == before.tables.end()) return;
    const CatalogTable& table = was->second;
    const auto found = after.tables.find(name);
    const bool stays = found != after.tables.end() && found->second.id == table.id &&
                       found->second.schema == table.schema &&
                       found->second.enabled == table.enabled;
    if (!stays) NoteEnd(after.past_tables, table, now);
  };
  for (const TableName* const name : tables.gone) end(*name);
  for (const auto* const entry : tables.entries) end(entry->first);
  for (const auto& [name, present] : before.namespaces) {
    const auto found = after.namespaces.find(name);
    const bool stays = found != after.namespaces.end() &&
                       found->second.changed == present.changed &&
                       found->second.value.properties == present.value.properties;
    if (!stays) NoteEnd(after.past_namespaces, present, now);
  }
}

void PrunePast(Timestamp now, Catalog& catalog) {
  if (catalog.past_tables.empty() && catalog.past_namespaces.empty()) return;
  const Timestamp kept_for = LongestKept(catalog);
  const auto has_passed = [&](const auto& past) { return HasPassed(past.until, kept_for, now); };
  std::erase_if(catalog.past_tables, has_passed);
  std::erase_if(catalog.past_namespaces, has_passed);
  ForgetSplitKeys(kMaxPastBytes / 2, catalog.past_tables);
  KeepWithin(kMaxPastBytes / 8, catalog.past_namespaces);
  KeepWithin(kMaxPastBytes - BytesOfAll(catalog.past_namespaces), catalog.past_tables);
}

void ForgetPast(TableId table, Catalog& catalog) {
  std::erase_if(catalog.past_tables, [&](const auto& past) { return past.state.id == table; });
}

size_t PastBytes(const Catalog& catalog) {
  return BytesOfAll(catalog.past_tables) + BytesOfAll(catalog.past_namespaces);
}

PastCatalog CatalogAt(const Catalog& catalog, Timestamp time) {
  std::map<TableId, const CatalogTable*> by_id;
  const auto add_table = [&](const CatalogTable& table) {
    if (std::max(table.created, table.brought_back) <= time) by_id.emplace(table.id, &table);
  };
  for (const auto& [table, until] : catalog.past_tables)
    if (until > time) add_table(table);
  for (const CatalogDroppedTable& dropped : catalog.dropped_tables)
    if (dropped.dropped > time) add_table(dropped.table);
  for (const auto& [name, table] : catalog.tables) add_table(table);
  PastCatalog past;
  for (const auto& [id, table] : by_id) {
    const auto present = catalog.tables.find(table->schema->name());
    std::optional<SpaceQuota> quota;
    if (present != catalog.tables.end() && present->second.id == id)
      quota = QuotaAt(catalog.table_quotas, present->first, time);
    past.tables[table->schema->name()] = {table->schema, table->enabled, quota};
  }
  for (const auto& [name, table] : past.tables) past.names.emplace(table.schema->id(), name);
  const auto add = [&](const CatalogNamespace& space) {
    if (std::max(space.created, space.brought_back) > time) return;
    const std::string& name = space.value.name;
    PastNamespace told{space.value, QuotaAt(catalog.namespace_quotas, name, time)};
    const auto present = catalog.namespaces.find(name);
    told.is_there =
        present != catalog.namespaces.end() && present->second.created == space.created;
    for (const auto& [kept, dropped] : catalog.dropped_namespaces) {
      const bool is_it = kept.value.name == name && kept.created == space.created;
      if (!told.is_there && is_it) told.dropped = dropped;
    }
    // Nothing is left to tell whose it was: the rights of the one that is there count.
    if (present != catalog.namespaces.end() && told.dropped == 0) told.is_there = true;
    past.namespaces.try_emplace(name, std::move(told));
  };
  for (const auto& [space, until] : catalog.past_namespaces)
    if (until > time) add(space);
  for (const auto& [space, dropped] : catalog.dropped_namespaces)
    if (dropped > time) add(space);
  for (const auto& [name, space] : catalog.namespaces) add(space);
  return past;
}

}  // namespace cellfs
