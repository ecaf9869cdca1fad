// SPDX-License-Identifier: MIT
#include "engine/catalog/emptied.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cellfs {
namespace {

using FamilyTimes = std::map<std::string, Timestamp>;

constexpr char kEveryFamily[] = "";

Timestamp Latest(const FamilyTimes& times) {
  Timestamp latest = 0;
  for (const auto& [family, time] : times) latest = std::max(latest, time);
  return latest;
}

// The clock may have been set back.
void NoteLater(Timestamp now, Timestamp& time) { time = std::max(now, time); }

// REQUIRES: a family that has a time of its own.
void FoldOldest(FamilyTimes& times) {
  const auto first = times.upper_bound(kEveryFamily);
  const auto oldest = std::min_element(
      first, times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const Timestamp time = oldest->second;
  times.erase(oldest);
  NoteLater(time, times[kEveryFamily]);
}

// Of the first time that something of the name is thrown away, as far as the catalog remembers.
void NoteBegun(const TableName& table, Catalog& catalog) {
  if (const Timestamp begun = TableBegun(catalog, table); begun != 0) catalog.begun[table] = begun;
}

}  // namespace

void NoteTableEmptied(const TableName& table, Timestamp now, Catalog& catalog) {
  NoteBegun(table, catalog);
  FamilyTimes& times = catalog.emptied[table];
  const Timestamp time = std::max(now, Latest(times));
  times = {{kEveryFamily, time}};
}

void NoteFamilyEmptied(const TableName& table, const std::string& family, Timestamp now,
                       Catalog& catalog) {
  NoteBegun(table, catalog);
  NoteLater(now, catalog.emptied[table][family]);
}

TableTimes TimesOf(const Catalog& catalog, const TableName& table) {
  const auto present = catalog.tables.find(table);
  const Timestamp created = present == catalog.tables.end() ? 0 : present->second.created;
  return {EmptiedFamilies(catalog, table), TableBegun(catalog, table), created};
}

void NoteTableArrived(const TableTimes& table, const TableName& name, Catalog& catalog) {
  Timestamp begun = table.begun;
  FamilyTimes times = table.emptied;
  if (const auto others = catalog.emptied.find(name); others != catalog.emptied.end()) {
    const auto noted = catalog.begun.find(name);
    const Timestamp first = noted == catalog.begun.end() ? 0 : noted->second;
    begun = std::min(begun, first);  // 0: it is not known
    // Of all that came before nothing but itself had the name.
    const bool had_none_before = first != 0 && first >= table.created;
    if (!had_none_before) {
      NoteLater(std::min(Latest(others->second), table.created), times[kEveryFamily]);
    }
  }
  catalog.emptied.erase(name);
  catalog.begun.erase(name);
  if (times.empty()) return;
  catalog.emptied[name] = std::move(times);
  if (begun != 0) catalog.begun[name] = begun;
}

void NoteTableRenamed(const TableName& from, const TableName& to, Timestamp now, Catalog& catalog) {
  NoteTableArrived(TimesOf(catalog, from), to, catalog);
  NoteTableEmptied(from, now, catalog);
}

void PruneEmptied(Catalog& catalog) {
  std::vector<std::pair<Timestamp, TableName>> gone;
  for (auto& [table, times] : catalog.emptied) {
    while (times.size() > kMaxEmptiedFamilies) FoldOldest(times);
    if (!catalog.tables.contains(table)) gone.emplace_back(Latest(times), table);
  }
  if (gone.size() <= kMaxEmptiedTables) return;
  std::sort(gone.begin(), gone.end());
  gone.resize(gone.size() - kMaxEmptiedTables);
  for (const auto& [time, table] : gone) {
    catalog.emptied.erase(table);
    catalog.begun.erase(table);
  }
  NoteLater(gone.back().first, catalog.emptied_forgotten);
}

std::map<std::string, Timestamp> EmptiedFamilies(const Catalog& catalog, const TableName& table) {
  const auto present = catalog.tables.find(table);
  if (present == catalog.tables.end()) return {};
  const auto found = catalog.emptied.find(table);
  FamilyTimes times = found == catalog.emptied.end() ? FamilyTimes() : found->second;
  // One of this name whose time is forgotten was dropped before this one was made.
  const Timestamp every = std::min(present->second.created, catalog.emptied_forgotten);
  if (every > 0) NoteLater(every, times[kEveryFamily]);
  return times;
}

namespace {

FamilyTimes WithoutThoseOf(const TableSchema& schema, FamilyTimes times) {
  std::erase_if(times, [&](const auto& family) {
    return family.first == kEveryFamily || schema.FindFamily(family.first) != nullptr;
  });
  return times;
}

}  // namespace

std::map<std::string, Timestamp> DroppedFamilies(const Catalog& catalog, const TableName& table) {
  return WithoutThoseOf(*catalog.tables.at(table).schema, EmptiedFamilies(catalog, table));
}

std::map<std::string, Timestamp> DroppedFamilies(const CatalogDroppedTable& dropped) {
  return WithoutThoseOf(*dropped.table.schema, dropped.emptied);
}

Timestamp TableBegun(const Catalog& catalog, const TableName& table) {
  const auto noted = catalog.begun.find(table);
  if (noted != catalog.begun.end()) return noted->second;
  const auto present = catalog.tables.find(table);
  const bool may_be_a_later_one = catalog.emptied.contains(table) || catalog.emptied_forgotten != 0;
  return present == catalog.tables.end() || may_be_a_later_one ? 0 : present->second.created;
}

std::map<TableName, Timestamp> DroppedTables(const Catalog& catalog) {
  std::map<TableName, Timestamp> dropped;
  for (const auto& [table, times] : catalog.emptied)
    if (!catalog.tables.contains(table)) dropped.emplace(table, Latest(times));
  return dropped;
}

}  // namespace cellfs
