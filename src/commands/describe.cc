// SPDX-License-Identifier: MIT
//
// What is there, and how it is: describe, describe_namespace, list, list_namespaces, exists,
// is_enabled.
#include <algorithm>
#include <utility>

#include "fs/schema/schema_file.h"
#include "src/commands/all.h"
#include "src/commands/quota_words.h"
#include "src/commands/schema_words.h"

namespace cellfs {
namespace {

using fs::PlaceKind;
using nlohmann::json;

// ---- What a table or a namespace is told to be --------------------------------------------------

json FamiliesOf(const TableSchema& schema) {
  json families = json::array();
  for (const auto& [name, family] : schema.families) {
    json in_force = json::object();
    for (const auto& [attribute, unused] : FamilyAttributeDefaults())
      in_force[attribute] = family.Get(attribute);
    families.push_back({{"name", name},
                        {"attributes", family.attributes()},
                        {"in_force", std::move(in_force)},
                        {"text", FamilyText(family)}});
  }
  return families;
}

StatusOr<Answer> DescribeTable(Session& session, const TableName& table) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  CELLFS_RETURN_IF_ERROR(session.store.CheckMayReadToml(fs::TablePlace(table)));
  CELLFS_ASSIGN_OR_RETURN(const bool is_enabled, session.store.IsTableEnabled(table));
  CELLFS_ASSIGN_OR_RETURN(const auto quota, session.store.TableSpaceQuota(table));
  Attributes attributes = schema->attributes();
  attributes.erase(std::string(fs::kOpenAttribute));
  session.take({{"table", table.ToString()},
                {"enabled", is_enabled},
                {"open", fs::IsOpen(*schema)},
                {"regions", schema->split_keys.size() + 1},
                {"splits", schema->split_keys},
                {"space_quota", QuotaRecord(quota)},
                {"attributes", attributes},
                {"families", FamiliesOf(*schema)}});
  return Answer::kDone;
}

StatusOr<Answer> DescribeNamespace(Session& session, const std::string& name) {
  CELLFS_ASSIGN_OR_RETURN(const NamespaceSchema schema, session.store.DescribeNamespace(name));
  CELLFS_RETURN_IF_ERROR(session.store.CheckMayReadToml(fs::NamespacePlace(name)));
  CELLFS_ASSIGN_OR_RETURN(const auto quota, session.store.NamespaceSpaceQuota(name));
  session.take({{"namespace", name},
                {"properties", schema.properties},
                {"space_quota", QuotaRecord(quota)}});
  return Answer::kDone;
}

// What is described is what these say.
constexpr Besides kFiles = {PlaceKind::kSchemaFile, PlaceKind::kNamespaceFile};

bool IsNamespace(const fs::Place& place) {
  return place.kind == PlaceKind::kNamespace || place.kind == PlaceKind::kNamespaceFile;
}

StatusOr<Answer> ServeDescribe(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kNamespace, Depth::kTable, kFiles));
  if (IsNamespace(named.place))
    return DescribeNamespace(session, named.place.table.namespace_name);
  CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments, kFiles));
  const auto answer = DescribeTable(session, table);
  const bool is_namespace = answer.status().code() == StatusCode::kTableNotFound &&
                            session.store.DescribeNamespace(table.name).ok();
  if (!is_namespace) return answer;
  return WithRemedy(answer.status(),
                    "of the namespace of that name tells 'cellfs describe_namespace'");
}

StatusOr<Answer> ServeDescribeNamespace(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const std::string name, NameNamespace(session, arguments, kFiles));
  return DescribeNamespace(session, name);
}

void PrintAttributes(Printer& printer, const json& attributes) {
  for (const auto& [name, value] : attributes.items())
    printer.Row({name, ShownBytes(value.get<std::string>())});
}

constexpr const char* kShownAttributes[] = {"VERSIONS", "MIN_VERSIONS", "TTL",
                                            "KEEP_DELETED_CELLS", "COMPRESSION"};

// Of those that stand in no column of the table, what is not the default.
std::string OtherAttributes(const json& family) {
  std::string text;
  for (const auto& [name, value] : family["attributes"].items()) {
    const bool is_shown = std::find(std::begin(kShownAttributes), std::end(kShownAttributes),
                                    name) != std::end(kShownAttributes);
    const auto known = FamilyAttributeDefaults().find(name);
    const bool is_default =
        known != FamilyAttributeDefaults().end() && known->second == value.get<std::string>();
    if (!is_shown && !is_default)
      text += (text.empty() ? "" : " ") + name + "=" + ShownBytes(value.get<std::string>());
  }
  return text;
}

// For programs a family is a line, with the word that makes one like it.
void PrintFamilies(Printer& printer, const json& families) {
  if (!printer.style().terminal) {
    for (const json& family : families)
      printer.Row({"family", family["text"].get<std::string>()});
    return;
  }
  std::vector<std::string> head = {"family"};
  head.insert(head.end(), std::begin(kShownAttributes), std::end(kShownAttributes));
  head.emplace_back("others");
  printer.Line("");
  printer.Head(std::move(head));
  for (const json& family : families) {
    std::vector<std::string> fields = {ShownBytes(family["name"].get<std::string>())};
    for (const char* attribute : kShownAttributes)
      fields.push_back(family["in_force"][attribute].get<std::string>());
    fields.push_back(OtherAttributes(family));
    printer.Row(std::move(fields));
  }
}

void PrintTable(Printer& printer, const json& table) {
  printer.Row({"table", table["table"].get<std::string>()});
  printer.Row({"enabled", table["enabled"].get<bool>() ? "true" : "false"});
  printer.Row({"open", table["open"].get<bool>() ? "true" : "false"});
  printer.Row({"regions", std::to_string(table["regions"].get<uint64_t>())});
  std::string splits;
  for (const json& key : table["splits"])
    splits += (splits.empty() ? "" : ",") + EscapedValue(key.get<std::string>());
  if (!splits.empty()) printer.Row({"splits", splits});
  PrintQuota(printer, table["space_quota"]);
  PrintAttributes(printer, table["attributes"]);
  PrintFamilies(printer, table["families"]);
}

void PrintDescription(Printer& printer, const json& record) {
  if (record.contains("table")) return PrintTable(printer, record);
  printer.Row({"namespace", record["namespace"].get<std::string>()});
  PrintQuota(printer, record["space_quota"]);
  PrintAttributes(printer, record["properties"]);
}

// ---- Names --------------------------------------------------------------------------------------

// Those that a caller may not look into are left out of a list of everything.
StatusOr<std::vector<TableName>> VisibleTables(Session& session) {
  CELLFS_ASSIGN_OR_RETURN(const auto namespaces, session.store.ListNamespaces());
  std::vector<TableName> all;
  for (const std::string& name : namespaces) {
    if (name == kSystemNamespace) continue;
    const auto tables = session.store.ListTables(name);
    const StatusCode code = tables.status().code();
    if (code == StatusCode::kAccessDenied || code == StatusCode::kNamespaceNotFound) continue;
    CELLFS_RETURN_IF_ERROR(tables.status());
    all.insert(all.end(), tables->begin(), tables->end());
  }
  return all;
}

StatusOr<std::vector<TableName>> TablesToList(Session& session, const Arguments& arguments) {
  if (arguments.Texts("path").empty() && arguments.Texts("words").empty())
    return VisibleTables(session);
  CELLFS_ASSIGN_OR_RETURN(const std::string name, NameNamespace(session, arguments));
  return session.store.ListTables(name);
}

StatusOr<Answer> ServeList(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto tables, TablesToList(session, arguments));
  for (const TableName& table : tables) {
    json record = {{"table", table.ToString()}};
    const auto is_enabled = session.store.IsTableEnabled(table);
    if (is_enabled.status().code() == StatusCode::kTableNotFound) continue;  // dropped meanwhile
    if (is_enabled.ok()) record["enabled"] = *is_enabled;
    if (!session.take(std::move(record))) break;
  }
  return Answer::kDone;
}

void PrintListed(Printer& printer, const json& record) {
  std::vector<std::string> fields = {record["table"].get<std::string>()};
  if (!record.value("enabled", true)) fields.emplace_back("disabled");
  printer.Row(std::move(fields));
}

StatusOr<Answer> ServeListNamespaces(Session& session, const Arguments& /*arguments*/) {
  CELLFS_ASSIGN_OR_RETURN(const auto names, session.store.ListNamespaces());
  for (const std::string& name : names) session.take({{"namespace", name}});
  return Answer::kDone;
}

// ---- Questions ----------------------------------------------------------------------------------

StatusOr<Answer> ServeExists(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kNamespace, Depth::kTable));
  Status found;
  if (IsNamespace(named.place)) {
    found = session.store.DescribeNamespace(named.place.table.namespace_name).status();
  } else {
    CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments));
    found = session.store.DescribeTable(table).status();
  }
  const bool is_missing = found.code() == StatusCode::kTableNotFound ||
                          found.code() == StatusCode::kNamespaceNotFound;
  if (!is_missing) CELLFS_RETURN_IF_ERROR(found);
  session.take({{"answer", !is_missing}});
  return is_missing ? Answer::kNo : Answer::kDone;
}

StatusOr<Answer> ServeIsEnabled(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const TableName table, NameTableAlone(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const bool is_enabled, session.store.IsTableEnabled(table));
  session.take({{"answer", is_enabled}});
  return is_enabled ? Answer::kDone : Answer::kNo;
}

void PrintAnswer(Printer& printer, const json& record) {
  printer.Row({record["answer"].get<bool>() ? "true" : "false"});
}

constexpr char kTableWord[] = "TABLE, if the path is not one's";

}  // namespace

const Command kDescribeCommand{
    .name = "describe",
    .group = Group::kSchema,
    .summary = "show how a table is: families, attributes, regions, quota",
    .example = "describe ~/m notes\ndescribe --json ~/m/default/notes\ndescribe ~/m/default",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the word goes on; that of a namespace describes it");
          syntax.Words("TABLE", kTableWord);
        },
    .only_reads = true,
    .serve = ServeDescribe,
    .print = PrintDescription,
};

const Command kListCommand{
    .name = "list",
    .group = Group::kSchema,
    .summary = "list the tables of a store or a namespace",
    .example = "list ~/m\nlist ~/m log\nlist --json ~/m/default",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point or a namespace");
          syntax.Words("NAMESPACE", "one alone; of all, hbase's tables are left out");
        },
    .only_reads = true,
    .serve = ServeList,
    .print = PrintListed,
};

const Command kExistsCommand{
    .name = "exists",
    .group = Group::kSchema,
    .summary = "whether a table, or a namespace by its path, is there; 1: it is not",
    .example = "exists ~/m notes\nexists ~/m/default/notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the word goes on");
          syntax.Words("TABLE", kTableWord);
        },
    .only_reads = true,
    .serve = ServeExists,
    .print = PrintAnswer,
};

const Command kIsEnabledCommand{
    .name = "is_enabled",
    .group = Group::kSchema,
    .summary = "whether a table is enabled; 1: it is not",
    .example = "is_enabled ~/m notes",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the word goes on");
          syntax.Words("TABLE", kTableWord);
        },
    .only_reads = true,
    .serve = ServeIsEnabled,
    .print = PrintAnswer,
};

const Command kListNamespacesCommand{
    .name = "list_namespaces",
    .group = Group::kSchema,
    .summary = "list the namespaces",
    .example = "list_namespaces ~/m",
    .syntax = [](Syntax& syntax) { syntax.Target("a store or a mount point"); },
    .only_reads = true,
    .is_of_whole_store = true,
    .serve = ServeListNamespaces,
    .print = [](Printer& printer,
                const json& record) { printer.Row({record["namespace"].get<std::string>()}); },
};

const Command kDescribeNamespaceCommand{
    .name = "describe_namespace",
    .group = Group::kSchema,
    .summary = "show a namespace's properties and quotas",
    .example = "describe_namespace ~/m log",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the word goes on");
          syntax.Words("NAMESPACE", "if the path is not one's");
        },
    .only_reads = true,
    .serve = ServeDescribeNamespace,
    .print = PrintDescription,
};

}  // namespace cellfs
