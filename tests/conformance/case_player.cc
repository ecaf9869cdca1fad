// SPDX-License-Identifier: MIT
#include "case_player.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "big_endian.h"

namespace cellfs::conformance {
namespace {

// The kinds of README.md; what has none of its own is a DoNotRetryIOException to HBase's clients.
std::string ErrorKind(const Status& status) {
  const StatusCode code = status.code();
  switch (code) {
    case StatusCode::kInvalidVersions:
    case StatusCode::kIoError:
      return "IO";
    case StatusCode::kIllegalArgument:
    case StatusCode::kNoSuchColumnFamily:
    case StatusCode::kFailedSanityCheck:
    case StatusCode::kUnsupportedOperation:
    case StatusCode::kNotALong:
    case StatusCode::kWrongRow:
    case StatusCode::kTableNotFound:
    case StatusCode::kTableExists:
    case StatusCode::kTableNotEnabled:
    case StatusCode::kTableNotDisabled:
    case StatusCode::kInvalidFamilyOperation:
    case StatusCode::kNamespaceNotFound:
    case StatusCode::kNamespaceExists:
    case StatusCode::kConstraint:
    case StatusCode::kQuotaExceeded:
    case StatusCode::kSpaceLimiting:
    case StatusCode::kAccessDenied:
      return std::string(CodeName(code));
    case StatusCode::kValueTooLarge:  // whose maximum it was is told by the name of the setting
      return status.message().find("hbase.client.") != std::string::npos ? "IllegalArgument"
                                                                         : "DoNotRetry";
    default:
      return code >= StatusCode::kStoreFull ? std::string(CodeName(code)) : "DoNotRetry";
  }
}

enum class ValueForm { kBytes, kNumber };

Json CellJson(const Cell& cell, ValueForm form) {
  Json array = Json::array({SpellColumn(cell.family, cell.qualifier), cell.timestamp});
  if (form == ValueForm::kNumber) {
    array.push_back(FromBigEndian(cell.value));
  } else {
    array.push_back(Spell(cell.value));
  }
  return array;
}

Json CellsJson(const RowCells& cells, ValueForm form = ValueForm::kBytes) {
  Json array = Json::array();
  for (const Cell& cell : cells) array.push_back(CellJson(cell, form));
  return array;
}

Json ScanJson(const std::vector<RowCells>& rows, bool raw) {
  Json array = Json::array();
  for (const RowCells& row : rows) {
    for (const Cell& cell : row) {
      Json one = CellJson(cell, ValueForm::kBytes);
      one.insert(one.begin(), Spell(cell.row));
      if (raw) one.push_back(std::string(TypeName(cell.type)));
      array.push_back(std::move(one));
    }
  }
  return array;
}

// One entry of an `expect` of cells, respelled.
Json Respell(const Json& entry, bool with_row, bool number) {
  Json result = Json::array();
  size_t next = 0;
  if (with_row) result.push_back(Spell(BytesOf(entry.at(next++).get<std::string>())));
  const ColumnName column = ParseColumn(entry.at(next++).get<std::string>());
  result.push_back(SpellColumn(column.family, column.qualifier.value_or("")));
  result.push_back(entry.at(next++));
  const Json& value = entry.at(next++);
  result.push_back(number ? value : Json(Spell(BytesOf(value.get<std::string>()))));
  while (next < entry.size()) result.push_back(entry.at(next++));
  return result;
}

StatusOr<Json> Nothing(const Status& status) {
  if (!status.ok()) return status;
  return Json();
}

TableName TableOf(const Json& step) { return ParseTableName(Text(step, "table", "t")); }
Caller CallerOf(const Json& step) { return Caller{Text(step, "user")}; }

bool IsOfNamespaces(const std::string& op) {
  return op.ends_with("_namespace") || op == "list_namespaces";
}

bool IsOfTables(const std::string& op) {
  const bool names_one = op.ends_with("_table") || op.ends_with("_family");
  return (names_one && op != "delete_family") || op == "list_tables" || op == "set_read_only";
}

bool IsOfRights(const std::string& op) {
  return op == "grant" || op == "revoke" || op == "set_space_quota" || op == "quota_check";
}

// What closes the regions of a table flushes them.
bool ClosesRegions(const std::string& op) {
  return op == "disable_table" || op == "set_read_only" || op == "add_family" ||
         op == "alter_family" || op == "drop_family";
}

GrantScope ScopeOf(const Json& step) {
  GrantScope scope;
  if (Has(step, "table")) {
    scope.table = TableOf(step);
    scope.family = BytesOf(Text(step, "family"));
    if (Has(step, "qualifier")) scope.qualifier = BytesOf(Text(step, "qualifier"));
  } else {
    scope.namespace_name = Text(step, "namespace");
  }
  return scope;
}

}  // namespace

std::string Answer::ToString() const {
  return error.empty() ? answer : "error " + error + (message.empty() ? "" : ": " + message);
}

CasePlayer::CasePlayer(const Json& test_case, StageKind kind)
    : stage_(MakeStage(kind, test_case)), now_(Number(test_case, "clock", 1000000)) {
  stage_->SetClock(now_);
  if (!Has(test_case, "schema")) return;
  const Json& families = test_case.at("schema").at("families");
  const TableSchema table = OrThrow(ParseTable("t", families, Json::array()));
  const Caller me = Caller::Superuser();
  OrThrow(store(me).CreateTable(me, table));
}

Answer CasePlayer::Play(const Json& step) {
  const Result result = PlayStep(step);
  if (!result.ok()) {
    return {ErrorKind(result.status()), result.status().message(), ""};
  }
  return {"", "", result->is_null() ? "" : result->dump()};
}

CasePlayer::Result CasePlayer::PlayStep(const Json& step) {
  const std::string op = Text(step, "op");
  const bool is_administration = IsOfNamespaces(op) || IsOfTables(op) || IsOfRights(op);
  stage_->Begin(is_administration ? StepKind::kAdministration : StepKind::kData);
  if (op == "get" || op == "exists") return PlayRead(op, step);
  if (op == "scan" || op == "count_rows") return PlayScan(op, step);
  if (op.starts_with("check_and_")) return PlayCheck(step);
  if (op == "put" || op == "increment" || op == "append" || op == "mutate_row" || op == "delete" ||
      op == "withdraw" || op.starts_with("delete_")) {
    return PlayWrite(op, step);
  }
  if (IsOfNamespaces(op)) return PlayNamespace(op, step);
  if (IsOfTables(op)) return PlaySchema(op, step);
  if (IsOfRights(op)) return PlayRights(op, step);
  return PlayMaintenance(op, step);
}

CasePlayer::Result CasePlayer::PlayRead(const std::string& op, const Json& step) {
  CELLFS_ASSIGN_OR_RETURN(const Get get, ParseGet(step));
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, store(CallerOf(step)).Read(CallerOf(step), TableOf(step), get));
  return op == "exists" ? Json(!cells.empty()) : CellsJson(cells);
}

StatusOr<std::vector<RowCells>> CasePlayer::ScanAll(const Caller& caller, const TableName& table,
                                                    const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(const std::unique_ptr<Scanner> scanner,
                          store(caller).OpenScanner(caller, table, scan));
  std::vector<RowCells> rows;
  while (true) {
    // Small, so that scans have to find their place again.
    CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> more, scanner->Next(ScanBatch{.max_rows = 2}));
    if (more.empty()) return rows;
    for (RowCells& row : more) rows.push_back(std::move(row));
  }
}

CasePlayer::Result CasePlayer::PlayScan(const std::string& op, const Json& step) {
  CELLFS_ASSIGN_OR_RETURN(const Scan scan, ParseScan(step));
  CELLFS_ASSIGN_OR_RETURN(const std::vector<RowCells> rows,
                          ScanAll(CallerOf(step), TableOf(step), scan));
  if (op == "count_rows") return Json(rows.size());
  if (!step.contains("expect_rows")) return ScanJson(rows, scan.raw);
  Json names = Json::array();
  for (const RowCells& row : rows) names.push_back(Spell(row.front().row));
  return names;
}

CasePlayer::Result CasePlayer::PlayWrite(const std::string& op, const Json& step) {
  const std::string row = BytesOf(Text(step, "row"));
  CELLFS_ASSIGN_OR_RETURN(
      const RowMutations mutations,
      ParseMutations(op == "mutate_row" ? step.at("mutations") : Json::array({step}), row));
  CELLFS_ASSIGN_OR_RETURN(const MutationResult result,
                          store(CallerOf(step)).Mutate(CallerOf(step), TableOf(step), mutations));
  if (op != "increment" && op != "append") return Json();
  const ValueForm form = op == "increment" ? ValueForm::kNumber : ValueForm::kBytes;
  const Json cells = CellsJson(result.results, form);
  return Has(step, "cells") ? cells : cells.at(0).at(2);
}

CasePlayer::Result CasePlayer::PlayCheck(const Json& step) {
  CheckAndMutate check;
  check.row = BytesOf(Text(step, "row"));
  if (Has(step, "filter")) {
    CELLFS_ASSIGN_OR_RETURN(check.condition, ParseCaseFilter(step.at("filter")));
  } else {
    const ColumnName column = ParseColumn(Text(step, "col"));
    const auto compare = ParseCompare(Text(step, "compare", "EQUAL"));
    if (!compare) throw std::runtime_error("compare " + Text(step, "compare"));
    check.condition = ColumnCondition{column.family, column.qualifier.value_or(""), *compare,
                                      BytesOf(Text(step, "value"))};
  }
  if (Has(step, "time_range")) check.time_range = ParseTimeRange(step.at("time_range"));
  CELLFS_ASSIGN_OR_RETURN(check.action, ParseMutations(step.at("then"), check.row));
  // One whose mutations name another row is an action on that row.
  if (!check.action.mutations.empty()) check.action.row = RowOf(check.action.mutations.front());
  CELLFS_ASSIGN_OR_RETURN(const CheckAndMutateResult result,
                          store(CallerOf(step)).CheckAndMutate(CallerOf(step), TableOf(step), check));
  return Json(result.done);
}

CasePlayer::Result CasePlayer::PlayMaintenance(const std::string& op, const Json& step) {
  if (op == "advance_clock") {
    now_ += Number(step, "ms", 0);
    stage_->SetClock(now_);
    return Json();
  }
  if (op == "set_clock") {
    now_ = Number(step, "to", 0);
    stage_->SetClock(now_);
    return Json();
  }
  if (op == "flush") return Nothing(stage_->Flush(CallerOf(step), TableOf(step)));
  if (op == "minor_compact" || op == "major_compact") {
    return Nothing(
        stage_->Compact(CallerOf(step), TableOf(step),
                        op == "minor_compact" ? CompactionKind::kMinor : CompactionKind::kMajor));
  }
  throw std::runtime_error("unknown op " + op);
}

CasePlayer::Result CasePlayer::PlayNamespace(const std::string& op, const Json& step) {
  const std::string name = Text(step, "namespace");
  const Caller caller = CallerOf(step);
  if (op == "list_namespaces") {
    CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> names, store(caller).ListNamespaces());
    return Json(names);
  }
  if (op == "drop_namespace") return Nothing(store(caller).DropNamespace(caller, name));
  if (op == "create_namespace") {
    NamespaceSchema schema{name, {}};
    if (Has(step, "properties")) schema.properties = step.at("properties").get<Attributes>();
    return Nothing(store(caller).CreateNamespace(caller, schema));
  }
  CELLFS_ASSIGN_OR_RETURN(NamespaceSchema schema, store(caller).DescribeNamespace(name));
  if (op == "describe_namespace") return Json(schema.properties);
  if (Has(step, "set")) {
    for (const auto& [key, value] : step.at("set").items()) {
      schema.properties[key] = value.get<std::string>();
    }
  }
  if (Has(step, "unset")) {
    for (const Json& key : step.at("unset")) schema.properties.erase(key.get<std::string>());
  }
  return Nothing(store(caller).AlterNamespace(caller, schema));
}

CasePlayer::Result CasePlayer::PlaySchema(const std::string& op, const Json& step) {
  const TableName table = TableOf(step);
  const Caller caller = CallerOf(step);
  if (ClosesRegions(op)) stage_->BeforeRegionsClose(table);
  if (op == "disable_table") return Nothing(store(caller).DisableTable(caller, table));
  if (op == "enable_table") return Nothing(store(caller).EnableTable(caller, table));
  if (op == "drop_table") return Nothing(store(caller).DropTable(caller, table));
  if (op == "truncate_table") return Nothing(store(caller).TruncateTable(caller, table));
  if (op == "drop_family") {
    return Nothing(store(caller).DropFamily(caller, table, BytesOf(Text(step, "family"))));
  }
  if (op == "create_table") {
    CELLFS_ASSIGN_OR_RETURN(
        const TableSchema schema,
        ParseTable(Text(step, "table"), step.at("families"), step.value("splits", Json::array())));
    return Nothing(store(caller).CreateTable(caller, schema));
  }
  if (op == "list_tables") {
    std::vector<std::string> names;
    CELLFS_ASSIGN_OR_RETURN(std::vector<std::string> namespaces, store(caller).ListNamespaces());
    if (Has(step, "namespace")) namespaces = {Text(step, "namespace")};
    for (const std::string& name : namespaces) {
      if (name == kSystemNamespace && !Has(step, "namespace")) continue;
      CELLFS_ASSIGN_OR_RETURN(const std::vector<TableName> tables, store(caller).ListTables(name));
      for (const TableName& one : tables) names.push_back(one.ToString());
    }
    std::sort(names.begin(), names.end());
    return Json(names);
  }
  if (op == "set_read_only") {
    return Nothing(SetReadOnly(caller, table, Truth(step, "value", true)));
  }
  if (op == "add_family") {
    FamilySchema family(BytesOf(Text(step, "family")));
    CELLFS_RETURN_IF_ERROR(SetAttributes(step.value("attrs", Json::object()), family));
    return Nothing(store(caller).AddFamily(caller, table, family));
  }
  if (op == "alter_family") return Nothing(AlterFamily(caller, table, step));
  throw std::runtime_error("unknown op " + op);
}

Status CasePlayer::AlterFamily(const Caller& caller, const TableName& table, const Json& step) {
  const std::string name = BytesOf(Text(step, "family"));
  CELLFS_ASSIGN_OR_RETURN(const auto schema, store(caller).DescribeTable(table));
  const FamilySchema* old = schema->FindFamily(name);
  FamilySchema family = old == nullptr ? FamilySchema(name) : *old;
  CELLFS_RETURN_IF_ERROR(SetAttributes(step.at("attrs"), family));
  return store(caller).ModifyFamily(caller, table, family);
}

Status CasePlayer::SetReadOnly(const Caller& caller, const TableName& table, bool read_only) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, store(caller).DescribeTable(table));
  TableSchema changed = *schema;
  CELLFS_RETURN_IF_ERROR(changed.Set("READONLY", read_only ? "true" : "false"));
  return store(caller).AlterTable(caller, changed);
}

CasePlayer::Result CasePlayer::PlayRights(const std::string& op, const Json& step) {
  const Caller caller = CallerOf(step);
  if (op == "quota_check") return Nothing(store(caller).CheckSpaceQuotas());
  if (op == "grant") {
    const Grant grant{Text(step, "to"), ScopeOf(step), Text(step, "perms")};
    const Status granted =
        store(caller).GrantPermissions(caller, grant, Truth(step, "merge", true));
    stage_->AwaitRights();
    return Nothing(granted);
  }
  if (op == "revoke") {
    const Status revoked =
        store(caller).RevokePermissions(caller, Text(step, "from"), ScopeOf(step));
    stage_->AwaitRights();
    return Nothing(revoked);
  }
  std::optional<SpaceQuota> quota;
  if (Has(step, "limit")) {
    const auto policy = ParsePolicy(Text(step, "policy"));
    if (!policy) throw std::runtime_error("policy " + Text(step, "policy"));
    quota = SpaceQuota{Number(step, "limit", 0), *policy};
  }
  if (Has(step, "for_table")) {
    return Nothing(
        store(caller).SetTableSpaceQuota(caller, ParseTableName(Text(step, "for_table")), quota));
  }
  return Nothing(store(caller).SetNamespaceSpaceQuota(caller, Text(step, "for_namespace"), quota));
}

std::string ExpectedAnswer(const Json& step) {
  const std::string op = Text(step, "op");
  if (step.contains("expect_rows")) {
    Json rows = Json::array();
    for (const Json& row : step.at("expect_rows"))
      rows.push_back(Spell(BytesOf(row.get<std::string>())));
    return rows.dump();
  }
  if (step.contains("expect_value")) {
    const Json& value = step.at("expect_value");
    return (value.is_string() ? Json(Spell(BytesOf(value.get<std::string>()))) : value).dump();
  }
  if (!step.contains("expect")) return "";
  const Json& expect = step.at("expect");
  if (!expect.is_array() || op.starts_with("list_")) return expect.dump();
  Json cells = Json::array();
  for (const Json& entry : expect) {
    cells.push_back(Respell(entry, op == "scan", op == "increment"));
  }
  return cells.dump();
}

std::vector<Difference> PlayCase(const Json& test_case, StageKind kind,
                                 const std::function<void(const Json&, const Answer&)>& trace) {
  std::vector<Difference> differences;
  CasePlayer player(test_case, kind);
  const Json& steps = test_case.at("steps");
  for (size_t i = 0; i < steps.size(); ++i) {
    const Json& step = steps[i];
    const Answer answer = player.Play(step);
    if (trace) trace(step, answer);
    const std::string errors = Text(step, "error");
    if (!errors.empty() || !answer.error.empty()) {
      const bool right = !answer.error.empty() &&
                         ("|" + errors + "|").find("|" + answer.error + "|") != std::string::npos;
      const std::string expected = errors.empty() ? ExpectedAnswer(step) : "error " + errors;
      if (!right) differences.push_back({i, expected, answer.ToString()});
      continue;
    }
    const std::string expected = ExpectedAnswer(step);
    if (!expected.empty() && expected != answer.answer) {
      differences.push_back({i, expected, answer.answer});
    }
  }
  return differences;
}

}  // namespace cellfs::conformance
