// SPDX-License-Identifier: MIT
#include "src/history/dropped_tables.h"

#include <algorithm>

#include "fs/tree/dropped_names.h"
#include "fs/tree/time_text.h"
#include "src/history/unknown.h"

namespace cellfs {

std::string ExactTime(Timestamp time) {
  std::string text = fs::TimeText(time);
  if (time % 1000 == 0) return text;
  std::string milliseconds = std::to_string(1000 + time % 1000);
  milliseconds.front() = '.';
  return text.insert(text.size() - 1, milliseconds);
}

std::optional<std::string> WayBack(const Statistics& statistics, const TableName& table,
                                   Timestamp time) {
  int of_name = 0;
  std::optional<Timestamp> first;
  for (const KeptTableStatistics& kept : statistics.kept) {
    if (kept.table != table || !kept.is_in_namespace) continue;
    ++of_name;
    if (kept.dropped > time) first = std::min(first.value_or(kept.dropped), kept.dropped);
  }
  if (!first) return std::nullopt;
  const std::string name =
      of_name == 1 ? table.name : fs::WithTimeOfDrop(table.name, *first);
  const std::string& space = table.namespace_name;
  return "mv " + space + "/.deleted/" + name + " " + space + "/" + table.name;
}

std::optional<std::string> WayBack(const Statistics& statistics,
                                   const std::string& namespace_name) {
  const bool is_kept = std::any_of(
      statistics.kept.begin(), statistics.kept.end(), [&](const KeptTableStatistics& kept) {
        return !kept.is_in_namespace && kept.table.namespace_name == namespace_name;
      });
  if (!is_kept) return std::nullopt;
  return "mv .deleted/" + namespace_name + " " + namespace_name;
}

namespace {

// REQUIRES: the table is there.
Status CheckFamilyIsNotDropped(const HistoryAccess& access, const Scope& scope, Timestamp since,
                               Timestamp until) {
  const Status described = CheckScope(access, scope).status();
  if (described.code() != StatusCode::kNoSuchColumnFamily) return {};
  const StoreKnowledge knowledge = StoreKnowledge::Ask(access.store, scope.table);
  if (!knowledge.IsEmptiedAfter(*scope.family, since, until)) return described;
  return {StatusCode::kUnavailable,
          "what it was then cannot be known: " + knowledge.ExplainEmptied(*scope.family)};
}

}  // namespace

std::map<TableId, TableName> PresentTables(const HistoryAccess& access,
                                           const std::vector<std::string>& namespaces) {
  std::map<TableId, TableName> present;
  const auto all = access.store.ListNamespaces();
  for (const std::string& space : all.ok() ? *all : namespaces) {
    const auto tables = access.store.ListTables(space);
    if (!tables.ok()) continue;
    for (const TableName& table : *tables) {
      const auto schema = access.store.DescribeTable(table);
      if (schema.ok()) present.emplace((*schema)->id(), table);
    }
  }
  return present;
}

namespace {

// Of a name that is no table's now, and was one's at that time.
std::string DescribeLost(const HistoryAccess& access, const Statistics& statistics,
                         const TableName& table, const PastTable* then, Timestamp time) {
  const std::string of_then = "table '" + table.ToString() + "' of then ";
  if (then != nullptr) {
    const auto present = PresentTables(access, {table.namespace_name});
    const auto found = present.find(then->schema->id());
    if (found != present.end())
      return of_then + "is '" + found->second.ToString() + "' now: name that";
  }
  if (const auto way_back = WayBack(statistics, table, time))
    return of_then + "was dropped and is kept, with what it held: " + *way_back + " brings it back";
  if (const auto way_back = WayBack(statistics, table.namespace_name)) {
    return of_then + "was removed with its namespace, and is kept: " + *way_back +
           " brings that back, then 'ls " + table.namespace_name + "/.deleted' names the table";
  }
  return "what it was then cannot be known: table '" + table.ToString() + "' was dropped at " +
         ExactTime(statistics.dropped.at(table)) + ", with what it held";
}

}  // namespace

Status CheckIsNotDropped(const HistoryAccess& access, const CatalogAt& catalog_at,
                         const Scope& scope, Timestamp since, Timestamp until) {
  const TableName& table = scope.table;
  const Status described = access.store.DescribeTable(table).status();
  const bool is_gone = described.code() == StatusCode::kTableNotFound ||
                       described.code() == StatusCode::kNamespaceNotFound;
  if (!is_gone) return CheckFamilyIsNotDropped(access, scope, since, until);
  const Statistics statistics = access.store.GetStatistics();
  const auto found = statistics.dropped.find(table);
  if (found == statistics.dropped.end()) return described;
  if (found->second <= since) {
    return {StatusCode::kTableNotFound, "table '" + table.ToString() + "' was dropped at " +
                                            ExactTime(found->second) +
                                            ", so it was not there then either"};
  }
  const Timestamp last = std::min(until, found->second - 1);
  std::shared_ptr<const PastCatalog> past;
  if (catalog_at) {
    CELLFS_ASSIGN_OR_RETURN(past, catalog_at(last));
  }
  const PastTable* const then = past == nullptr ? nullptr : past->Find(table);
  const bool may_be_another = past != nullptr && then == nullptr;
  if (may_be_another && WayBack(statistics, table, 0)) {
    return {StatusCode::kTableNotFound,
            "no table '" + table.ToString() + "' of then is known: what .deleted has by that name was "
            "made later, or dropped before"};
  }
  return {StatusCode::kUnavailable, DescribeLost(access, statistics, table, then, last)};
}

}  // namespace cellfs
