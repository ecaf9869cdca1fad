// SPDX-License-Identifier: MIT
//
// HBase's shell, group ddl: tables and their families.
#include <array>
#include <utility>

#include "engine/filters.h"
#include "src/shell/call.h"
#include "src/shell/schema.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

json WordsOf(const std::string& table) { return {{"words", {WordOf(table)}}}; }

StatusOr<json> Describe(Call& call, const std::string& table) {
  return call.AskOne("describe", WordsOf(table));
}

// Tables of the namespace 'default' without it, as HBase names them.
StatusOr<std::vector<std::string>> AllTables(Call& call) {
  std::vector<std::string> tables;
  CELLFS_RETURN_IF_ERROR(call.Ask("list", json::object(), [&](const json& record) {
                               tables.push_back(record["table"].get<std::string>());
                               return true;
                             }).status());
  return tables;
}

StatusOr<std::vector<std::string>> TablesLike(Call& call, size_t place) {
  std::string expression = ".*";
  if (call.Has(place)) {
    CELLFS_ASSIGN_OR_RETURN(expression, call.Text(place, "regular expression"));
  }
  CELLFS_ASSIGN_OR_RETURN(const auto tables, AllTables(call));
  return Matching(tables, expression);
}

Value ShowTables(Call& call, const std::vector<std::string>& tables) {
  call.output().Head("TABLE");
  List names;
  for (const std::string& table : tables) {
    call.output().Row(table);
    names.push_back(Value{table});
  }
  call.output().Footer();
  return Value{std::move(names)};
}

StatusOr<Value> RunList(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const auto tables, TablesLike(call, 0));
  return ShowTables(call, tables);
}

StatusOr<Value> RunListInState(Call& call, bool enabled) {
  CELLFS_ASSIGN_OR_RETURN(const auto all, AllTables(call));
  std::vector<std::string> tables;
  for (const std::string& table : all) {
    const auto state = call.AskOne("is_enabled", WordsOf(table));
    if (state.status().code() == StatusCode::kTableNotFound) continue;  // somebody drops it
    CELLFS_RETURN_IF_ERROR(state.status());
    if ((*state)["answer"].get<bool>() == enabled) tables.push_back(table);
  }
  return ShowTables(call, tables);
}

// ---- Making and changing ------------------------------------------------------------------------

StatusOr<Value> RunCreate(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  json arguments = WordsOf(table);
  for (size_t i = 1; i < call.count(); ++i)
    CELLFS_RETURN_IF_ERROR(AddToCreate(call.arguments()[i], arguments));
  if (arguments["words"].size() == 1) return Refused("Table must have at least one column family");
  CELLFS_RETURN_IF_ERROR(call.Ask("create", arguments).status());
  call.output().Line("Created table " + table);
  return Value{TableReference{table}};
}

Status ShowUpdated(Call& call, const std::string& table) {
  CELLFS_ASSIGN_OR_RETURN(const json described, Describe(call, table));
  const std::string regions = std::to_string(described["regions"].get<uint64_t>());
  call.output().Line(regions + "/" + regions + " regions updated.");
  call.output().Line("Done.");
  return {};
}

StatusOr<Value> RunAlter(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  json arguments = WordsOf(table);
  for (size_t i = 1; i < call.count(); ++i)
    CELLFS_RETURN_IF_ERROR(AddToAlter(call.arguments()[i], arguments));
  call.output().Line("Updating all regions with the new schema...");
  CELLFS_RETURN_IF_ERROR(call.Ask("alter", arguments).status());
  CELLFS_RETURN_IF_ERROR(ShowUpdated(call, table));
  return Value{};
}

StatusOr<Value> RunAlterStatus(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_RETURN_IF_ERROR(ShowUpdated(call, table));
  return Value{};
}

// Its schema, and where its regions begin.
StatusOr<Value> RunCloneSchema(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string clone, call.Text(1, "new table"));
  CELLFS_ASSIGN_OR_RETURN(const json described, Describe(call, table));
  json arguments = WordsOf(clone);
  for (const json& family : described["families"])
    arguments["words"].push_back(family["text"].get<std::string>());
  for (const auto& [name, value] : described["attributes"].items())
    arguments["set"].push_back(name + "=" + ShownBytes(value.get<std::string>()));
  const bool keeps_splits = !call.Has(2) || call.arguments()[2].Text() != "false";
  if (keeps_splits && !described["splits"].empty()) {
    Hash hash = {{"SPLITS", Value{List()}}};
    List keys;
    for (const json& key : described["splits"]) keys.push_back(Value{key.get<std::string>()});
    hash[0].second = Value{std::move(keys)};
    CELLFS_RETURN_IF_ERROR(AddToCreate(Value{std::move(hash)}, arguments));
  }
  CELLFS_RETURN_IF_ERROR(call.Ask("create", arguments).status());
  return Value{};
}

// ---- Looking ------------------------------------------------------------------------------------

StatusOr<Value> RunDescribe(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const json described, Describe(call, table));
  Output& output = call.output();
  output.Head("Table " + table + " is " +
              (described["enabled"].get<bool>() ? "ENABLED" : "DISABLED"));
  output.Row(table + AttributesShown(described["attributes"]));
  output.Head("COLUMN FAMILIES DESCRIPTION");
  for (const json& family : described["families"]) {
    output.Row(FamilyShown(family));
    output.Line("");
  }
  output.Footer();
  ShowQuota(output, described["space_quota"]);
  return Value{};
}

StatusOr<Value> RunExists(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const json record, call.AskOne("exists", WordsOf(table)));
  const bool exists = record["answer"].get<bool>();
  call.output().Row("Table " + table + (exists ? " does exist" : " does not exist"));
  return Value{exists};
}

StatusOr<Value> ShowState(Call& call, bool asks_for_enabled) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const json record, call.AskOne("is_enabled", WordsOf(table)));
  const bool is_so = record["answer"].get<bool>() == asks_for_enabled;
  call.output().Row(is_so ? "true" : "false");
  return Value{is_so};
}

StatusOr<Value> RunListRegions(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const json described, Describe(call, table));
  std::vector<std::string> keys = {""};
  for (const json& key : described["splits"]) keys.push_back(key.get<std::string>());
  call.output().Head("START_KEY", "END_KEY");
  for (size_t i = 0; i < keys.size(); ++i)
    call.output().Row(BinaryText(keys[i]), i + 1 < keys.size() ? BinaryText(keys[i + 1]) : "");
  call.output().Footer();
  return Value{};
}

// Which server has it only the cluster's own shell tells.
StatusOr<Value> RunLocateRegion(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const json described, Describe(call, table));
  std::string start, end;
  for (const json& key : described["splits"]) {
    end = key.get<std::string>();
    if (row < end) break;
    start = std::exchange(end, "");
  }
  call.output().Head("HOST", "REGION");
  call.output().Row(call.is_cluster() ? "?" : "localhost",
                    "{TABLE => '" + table + "', STARTKEY => '" + BinaryText(start) +
                        "', ENDKEY => '" + BinaryText(end) + "'}");
  call.output().Footer();
  return Value{};
}

StatusOr<Value> RunGetTable(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_RETURN_IF_ERROR(Describe(call, table).status());
  return Value{TableReference{table}};
}

StatusOr<Value> RunShowFilters(Call& call) {
  for (const std::string& name : FilterNames()) call.output().Row(name);
  return Value{};
}

// ---- In and out of service ----------------------------------------------------------------------

// One that is so already stays so, without a word.
StatusOr<Value> RunOnTable(Call& call, const std::string& command) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_RETURN_IF_ERROR(call.Ask(command, WordsOf(table)).status());
  return Value{};
}

StatusOr<Value> RunDrop(Call& call) {
  auto dropped = RunOnTable(call, "drop");
  if (dropped.status().code() != StatusCode::kTableNotDisabled) return dropped;
  return Refused("Table " + call.arguments()[0].Text() + " is enabled. Disable it first.");
}

// Asks before, as HBase's shell does; a script says y in its next line.
StatusOr<Value> RunOnAll(Call& call, const std::string& command, const std::string& verb) {
  CELLFS_ASSIGN_OR_RETURN(const std::string expression, call.Text(0, "regular expression"));
  CELLFS_ASSIGN_OR_RETURN(const auto tables, TablesLike(call, 0));
  Output& output = call.output();
  if (tables.empty()) {
    output.Line("No tables matched the regex " + expression);
    return Value{};
  }
  for (const std::string& table : tables) output.Row(table);
  const std::string count = std::to_string(tables.size());
  output.Line("\n" + std::string(1, static_cast<char>(verb[0] - 'a' + 'A')) + verb.substr(1) +
              " the above " + count + " tables (y/n)?");
  const auto answer = call.NextLine();
  if (!answer || (!answer->starts_with('y') && !answer->starts_with('Y'))) return Value{};
  std::string failed;
  size_t done = 0;
  for (const std::string& table : tables) {
    if (call.Ask(command, WordsOf(table)).ok()) {
      ++done;
    } else {
      failed += (failed.empty() ? "" : ",") + table;
    }
  }
  const std::string past = verb == "drop" ? "dropped" : verb + "d";
  output.Line(std::to_string(done) + " tables successfully " + past);
  if (!failed.empty()) {
    output.Line(std::to_string(tables.size() - done) + " tables not " + past +
                " due to an exception: " + failed);
  }
  return Value{};
}

constexpr std::array kDdl = {
    ShellCommand{"alter", 2, 64,
                 "Changes families and attributes of a table; what is not named stays.\n"
                 "alter 't1', NAME => 'f1', VERSIONS => 5\n"
                 "alter 't1', 'f1', {NAME => 'f2', IN_MEMORY => true}, {NAME => 'f3', VERSIONS => 5}\n"
                 "alter 't1', NAME => 'f1', METHOD => 'delete'\n"
                 "alter 't1', 'delete' => 'f1'\n"
                 "alter 't1', READONLY => true\n"
                 "alter 't1', METHOD => 'table_att_unset', NAME => 'READONLY'\n"
                 "alter 't1', CONFIGURATION => {'key' => 'value'}",
                 RunAlter},
    ShellCommand{"alter_async", 2, 64, "As alter.", RunAlter},
    ShellCommand{"alter_status", 1, 1,
                 "How many regions have got the latest schema: all, at once.\n"
                 "alter_status 't1'",
                 RunAlterStatus},
    ShellCommand{"clone_table_schema", 2, 3,
                 "Makes a table like another one, without its cells; with false also without its "
                 "regions.\n"
                 "clone_table_schema 't1', 't2'\n"
                 "clone_table_schema 't1', 't2', false",
                 RunCloneSchema},
    ShellCommand{"create", 1, 64,
                 "Makes a table, of families by name or with attributes.\n"
                 "create 't1', 'f1', 'f2'\n"
                 "create 'ns1:t1', {NAME => 'f1', VERSIONS => 5}\n"
                 "create 't1', {NAME => 'f1', VERSIONS => 1, TTL => 2592000, BLOCKCACHE => true}\n"
                 "create 't1', 'f1', SPLITS => ['10', '20', '30']\n"
                 "create 't1', 'f1', {NUMREGIONS => 15, SPLITALGO => 'HexStringSplit'}\n"
                 "create 't1', 'f1', READONLY => true",
                 RunCreate},
    ShellCommand{"describe", 1, 1,
                 "Shows how a table is.\n"
                 "describe 't1'\n"
                 "desc 'ns1:t1'",
                 RunDescribe},
    ShellCommand{"disable", 1, 1,
                 "Takes a table out of service.\n"
                 "disable 't1'",
                 [](Call& call) { return RunOnTable(call, "disable"); }},
    ShellCommand{"disable_all", 1, 1,
                 "All tables whose names match.\n"
                 "disable_all 't.*'",
                 [](Call& call) { return RunOnAll(call, "disable", "disable"); }},
    ShellCommand{"drop", 1, 1,
                 "Drops a table, which is disabled first.\n"
                 "drop 't1'",
                 RunDrop},
    ShellCommand{"drop_all", 1, 1,
                 "All tables whose names match.\n"
                 "drop_all 't.*'",
                 [](Call& call) { return RunOnAll(call, "drop", "drop"); }},
    ShellCommand{"enable", 1, 1,
                 "Puts a table into service again.\n"
                 "enable 't1'",
                 [](Call& call) { return RunOnTable(call, "enable"); }},
    ShellCommand{"enable_all", 1, 1,
                 "All tables whose names match.\n"
                 "enable_all 't.*'",
                 [](Call& call) { return RunOnAll(call, "enable", "enable"); }},
    ShellCommand{"exists", 1, 1,
                 "Whether a table is there.\n"
                 "exists 't1'",
                 RunExists},
    ShellCommand{"get_table", 1, 1,
                 "A table to keep under a name, whose commands leave it out then.\n"
                 "t = get_table 't1'\n"
                 "t.put 'r1', 'f1:q', 'value'\n"
                 "t.scan",
                 RunGetTable},
    ShellCommand{"is_disabled", 1, 1,
                 "Whether a table is disabled.\n"
                 "is_disabled 't1'",
                 [](Call& call) { return ShowState(call, false); }},
    ShellCommand{"is_enabled", 1, 1,
                 "Whether a table is enabled.\n"
                 "is_enabled 't1'",
                 [](Call& call) { return ShowState(call, true); }},
    ShellCommand{"list", 0, 1,
                 "The tables, or those whose names match.\n"
                 "list\n"
                 "list 'abc.*'\n"
                 "list 'ns:.*'",
                 RunList},
    ShellCommand{"list_disabled_tables", 0, 0, "The tables that are out of service.",
                 [](Call& call) { return RunListInState(call, false); }},
    ShellCommand{"list_enabled_tables", 0, 0, "The tables that are in service.",
                 [](Call& call) { return RunListInState(call, true); }},
    ShellCommand{"list_regions", 1, 3,
                 "Where the regions of a table begin and end.\n"
                 "list_regions 't1'",
                 RunListRegions},
    ShellCommand{"locate_region", 2, 2,
                 "In which region of a table a row is, or would be.\n"
                 "locate_region 't1', 'r1'",
                 RunLocateRegion},
    ShellCommand{"show_filters", 0, 0, "The filters that FILTER knows.", RunShowFilters},
};

}  // namespace

const std::span<const ShellCommand> kDdlCommands = kDdl;

}  // namespace cellfs::shell
