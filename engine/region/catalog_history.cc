// SPDX-License-Identifier: MIT
#include "engine/region/catalog_history.h"

#include <algorithm>
#include <map>
#include <memory>

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

Timestamp KeptFor(const TableSchema& table) {
  Timestamp longest = 0;
  for (const auto& [name, family] : table.families) longest = std::max(longest, KeptFor(family));
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

template <typename T>
void KeepNewest(std::vector<T>& past) {
  if (past.size() > kMaxPast) {
    past.erase(past.begin(), past.end() - static_cast<std::ptrdiff_t>(kMaxPast));
  }
}

// Of all tables the newest states.
void KeepNewestBytes(std::vector<Past<CatalogTable>>& past_tables) {
  size_t bytes = 0;
  auto past = past_tables.rbegin();
  for (; past != past_tables.rend(); ++past) {
    bytes += BytesBesideSplitKeys(*past->state.schema);
    if (bytes > kMaxPastBytes) break;
  }
  past_tables.erase(past_tables.begin(), past.base());
}

// Where they take more than they may, the older states go without.
void ForgetSplitKeys(std::vector<Past<CatalogTable>>& past_tables) {
  size_t bytes = 0;
  for (auto past = past_tables.rbegin(); past != past_tables.rend(); ++past) {
    std::shared_ptr<const TableSchema>& schema = past->state.schema;
    bytes += BytesOfSplitKeys(*schema) + kBytesBesideSplitKey * schema->split_keys.size();
    if (bytes <= kMaxPastSplitBytes || schema->split_keys.empty()) continue;
    auto without = std::make_shared<TableSchema>(*schema);
    without->split_keys.clear();
    schema = std::move(without);
  }
}

}  // namespace

void NotePast(const Catalog& before, Timestamp now, Catalog& after) {
  for (const auto& [name, table] : before.tables) {
    const auto found = after.tables.find(name);
    const bool stays = found != after.tables.end() && found->second.id == table.id &&
                       found->second.schema == table.schema &&
                       found->second.enabled == table.enabled;
    if (!stays) NoteEnd(after.past_tables, table, now);
  }
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
  std::map<TableId, Timestamp> kept_for;
  std::map<std::string, Timestamp> namespace_kept_for;
  const auto note = [&](const CatalogTable& table) {
    const Timestamp kept = KeptFor(*table.schema);
    Timestamp& longest = kept_for[table.id];
    longest = std::max(longest, kept);
    Timestamp& in_namespace = namespace_kept_for[table.schema->name().namespace_name];
    in_namespace = std::max(in_namespace, kept);
  };
  for (const auto& [name, table] : catalog.tables) note(table);
  for (const auto& past : catalog.past_tables) note(past.state);

  struct States {
    size_t count = 0;
    size_t bytes = 0;
  };
  std::map<TableId, States> states;
  for (const auto& past : catalog.past_tables) {
    States& of_table = states[past.state.id];
    ++of_table.count;
    of_table.bytes += BytesBesideSplitKeys(*past.state.schema);
  }
  std::erase_if(catalog.past_tables, [&](const Past<CatalogTable>& past) {
    States& left = states[past.state.id];
    const bool goes = left.count > kMaxPastOfTable || left.bytes > kMaxPastBytesOfTable ||
                      HasPassed(past.until, kept_for[past.state.id], now);
    if (!goes) return false;
    --left.count;
    left.bytes -= BytesBesideSplitKeys(*past.state.schema);
    return true;
  });
  std::erase_if(catalog.past_namespaces, [&](const Past<Stamped<NamespaceSchema>>& past) {
    return HasPassed(past.until, namespace_kept_for[past.state.value.name], now);
  });
  KeepNewest(catalog.past_tables);
  KeepNewest(catalog.past_namespaces);
  KeepNewestBytes(catalog.past_tables);
  ForgetSplitKeys(catalog.past_tables);
}

std::vector<CatalogTable> TablesAt(const Catalog& catalog, const std::string& namespace_name,
                                   Timestamp time) {
  std::map<TableId, const CatalogTable*> at;
  for (const auto& past : catalog.past_tables) {
    if (past.until > time && past.state.created <= time) at.emplace(past.state.id, &past.state);
  }
  for (const auto& [name, table] : catalog.tables) {
    if (table.created <= time) at.emplace(table.id, &table);
  }
  std::map<TableName, const CatalogTable*> named;
  for (const auto& [id, table] : at) {
    const TableName& name = table->schema->name();
    if (name.namespace_name == namespace_name) named[name] = table;
  }
  std::vector<CatalogTable> tables;
  tables.reserve(named.size());
  for (const auto& [name, table] : named) tables.push_back(*table);
  return tables;
}

std::vector<NamespaceSchema> NamespacesAt(const Catalog& catalog, Timestamp time) {
  std::map<std::string, const NamespaceSchema*> at;
  for (const auto& [state, until] : catalog.past_namespaces) {
    if (until > time && state.changed <= time) at[state.value.name] = &state.value;
  }
  for (const auto& [name, present] : catalog.namespaces) {
    if (present.changed <= time) at.emplace(name, &present.value);
  }
  std::vector<NamespaceSchema> namespaces;
  namespaces.reserve(at.size());
  for (const auto& [name, schema] : at) namespaces.push_back(*schema);
  return namespaces;
}

}  // namespace cellfs
