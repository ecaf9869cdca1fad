// SPDX-License-Identifier: MIT
//
// set_quota, list_quotas: how much space tables and namespaces may take.
#include <map>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/quota_words.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

using fs::PlaceKind;
using nlohmann::json;

// What a quota is of: a table, or else a namespace; and the words that are left.
struct QuotaPlace {
  std::optional<TableName> table;
  std::string namespace_name;
  std::vector<std::string> words;
};

StatusOr<QuotaPlace> NameQuotaPlace(const Session& session, const Arguments& arguments) {
  auto words = arguments.Texts("words");
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  if (place.kind == PlaceKind::kRoot && words.empty())
    return WrongCall("name a table or @NAMESPACE, and a limit");
  if (place.kind == PlaceKind::kRoot && words[0].starts_with('@')) {
    const std::string name = words[0].substr(1);
    words.erase(words.begin());
    return QuotaPlace{{}, name, std::move(words)};
  }
  // Behind a namespace's path one word, or a limit and a policy, are of the namespace.
  const bool is_namespace = place.kind == PlaceKind::kNamespace;
  const bool is_limit =
      words.empty() || words[0] == "none" || words[0] == "NONE" || ParseSize(words[0]).ok();
  if (is_namespace && is_limit)
    return QuotaPlace{{}, place.table.namespace_name, std::move(words)};
  CELLFS_ASSIGN_OR_RETURN(NamedTable named, NameTable(session, arguments));
  return QuotaPlace{named.table, "", std::move(named.words)};
}

StatusOr<std::optional<SpaceQuota>> QuotaNow(Session& session, const QuotaPlace& place) {
  return place.table ? session.store.TableSpaceQuota(*place.table)
                     : session.store.NamespaceSpaceQuota(place.namespace_name);
}

// "none", or "LIMIT [POLICY]"; the policy stays as it was where it is not said.
StatusOr<std::optional<SpaceQuota>> QuotaOf(Session& session, const QuotaPlace& place) {
  const auto& words = place.words;
  if (words.empty()) return WrongCall("say the limit: a size like 10G, or none");
  if (words.size() > 2) return WrongCall("'" + words[2] + "' is one word too many");
  CELLFS_ASSIGN_OR_RETURN(const auto now, QuotaNow(session, place));
  if (words[0] == "none" || words[0] == "NONE") {
    if (words.size() > 1) return WrongCall("no quota has no policy");
    return std::optional<SpaceQuota>();
  }
  SpaceQuota quota = now.value_or(SpaceQuota{});
  CELLFS_ASSIGN_OR_RETURN(quota.limit, ParseSize(words[0]));
  if (words.size() > 1) {
    CELLFS_ASSIGN_OR_RETURN(quota.policy, ParsePolicyWord(words[1]));
  }
  return std::optional(quota);
}

StatusOr<Answer> ServeSet(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const QuotaPlace place, NameQuotaPlace(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto quota, QuotaOf(session, place));
  CELLFS_RETURN_IF_ERROR(
      place.table
          ? session.store.SetTableSpaceQuota(session.caller, *place.table, quota)
          : session.store.SetNamespaceSpaceQuota(session.caller, place.namespace_name, quota));
  // In force at once, not only when the daemon looks next.
  CELLFS_RETURN_IF_ERROR(session.store.CheckSpaceQuotas());
  json record = {{"done", "set"}, {"space_quota", QuotaRecord(quota)}};
  if (place.table) {
    record["table"] = place.table->ToString();
  } else {
    record["namespace"] = place.namespace_name;
  }
  session.take(std::move(record));
  return Answer::kDone;
}

// Of which namespaces, or of which table alone, quotas are listed.
struct Listed {
  std::vector<std::string> namespaces;
  std::optional<TableName> table;
};

StatusOr<Listed> WhatToList(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  switch (place.kind) {
    case PlaceKind::kRoot: {
      CELLFS_ASSIGN_OR_RETURN(auto namespaces, session.store.ListNamespaces());
      return Listed{std::move(namespaces), {}};
    }
    case PlaceKind::kNamespace:
    case PlaceKind::kNamespaceFile: {
      const std::string& name = place.table.namespace_name;
      CELLFS_RETURN_IF_ERROR(session.store.DescribeNamespace(name).status());
      return Listed{{name}, {}};
    }
    case PlaceKind::kTable:
    case PlaceKind::kSchemaFile:
      CELLFS_RETURN_IF_ERROR(session.store.DescribeTable(place.table).status());
      return Listed{{}, place.table};
    default:
      return WrongCall(ShownPath(arguments) + " lies in a table; name the table itself");
  }
}

StatusOr<Answer> ServeQuotas(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Listed listed, WhatToList(session, arguments));
  const Statistics statistics = session.store.GetStatistics();
  std::map<TableName, uint64_t> sizes;
  std::map<std::string, uint64_t> sums;
  for (const TableStatistics& table : statistics.tables) {
    sizes[table.table] = table.file_bytes;
    sums[table.table.namespace_name] += table.file_bytes;
  }
  const auto take = [&](const char* kind, const std::string& name, const SpaceQuota& quota,
                        uint64_t used) {
    session.take({{kind, name}, {"space_quota", QuotaRecord(quota)}, {"used", used}});
  };
  const auto take_table = [&](const TableName& table) {
    const auto quota = session.store.TableSpaceQuota(table);
    if (quota.ok() && *quota) take("table", table.ToString(), **quota, sizes[table]);
  };
  if (listed.table) take_table(*listed.table);
  for (const std::string& name : listed.namespaces) {
    const auto quota = session.store.NamespaceSpaceQuota(name);
    if (quota.ok() && *quota)
      take("namespace", name, **quota, sums[name] + BytesOfKeptIn(statistics, name));
    const auto tables = session.store.ListTables(name);
    if (!tables.ok()) continue;  // not for the caller, or dropped meanwhile
    for (const TableName& table : *tables) take_table(table);
  }
  return Answer::kDone;
}

void PrintListedQuota(Printer& printer, const json& record) {
  const json& quota = record["space_quota"];
  const bool is_table = record.contains("table");
  const bool is_raw = !printer.style().terminal;
  const auto size = [&](uint64_t bytes) {
    return is_raw ? std::to_string(bytes) : ShownSize(bytes);
  };
  printer.Row({is_table ? record["table"].get<std::string>()
                        : "@" + record["namespace"].get<std::string>(),
               size(quota["limit"].get<uint64_t>()), quota["policy"].get<std::string>(),
               size(record["used"].get<uint64_t>()) + (is_raw ? "" : " used")});
}

}  // namespace

const Command kSetQuotaCommand{
    .name = "set_quota",
    .group = Group::kRights,
    .summary = "limit the space of a table's or a namespace's store files",
    .example = "set_quota ~/m notes 10G\nset_quota ~/m @log 500M NO_WRITES\n"
               "set_quota ~/m/default/notes none",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD",
                       "TABLE or @NAMESPACE as far as the path does not say it; LIMIT (10G, 500M, "
                       "or none); then, if wanted, the policy: NO_INSERTS (default), NO_WRITES, "
                       "NO_WRITES_COMPACTIONS or DISABLE",
                       /*is_required=*/true);
        },
    .serve = ServeSet,
    .print = PrintDone,
};

const Command kListQuotasCommand{
    .name = "list_quotas",
    .group = Group::kRights,
    .summary = "list space quotas and how much of them is used",
    .example = "list_quotas ~/m\nlist_quotas ~/m/default/notes",
    .syntax = [](Syntax& syntax) { syntax.Target("a store, a mount point, a namespace or a table"); },
    .only_reads = true,
    .serve = ServeQuotas,
    .print = PrintListedQuota,
};

}  // namespace cellfs
