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

Status CheckIsNotDropped(const HistoryAccess& access, const Scope& scope, Timestamp since,
                         Timestamp until) {
  const TableName& table = scope.table;
  const Status described = access.store.DescribeTable(table).status();
  if (described.code() != StatusCode::kTableNotFound)
    return CheckFamilyIsNotDropped(access, scope, since, until);
  const Statistics statistics = access.store.GetStatistics();
  const auto found = statistics.dropped.find(table);
  if (found == statistics.dropped.end()) return described;
  const std::string dropped =
      "table '" + table.ToString() + "' was dropped at " + ExactTime(found->second);
  if (found->second <= since)
    return {StatusCode::kTableNotFound, dropped + ", so it was not there then either"};
  if (const auto way_back = WayBack(statistics, table, since)) {
    return {StatusCode::kUnavailable,
            dropped + " and is kept, with what it held: " + *way_back + " brings it back"};
  }
  return {StatusCode::kUnavailable,
          "what it was then cannot be known: " + dropped + ", with what it held"};
}

}  // namespace cellfs
