// SPDX-License-Identifier: MIT
#include "src/commands/import_lines.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "src/commands/cell_lines.h"
#include "src/commands/cells.h"
#include "src/commands/target.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kLinesOfStep = 1000;  // of one row in one step

// Where all goes that names a table: the table that the call names, else what the line says.
StatusOr<TableName> TableOfLine(const std::optional<TableName>& into, const json& line) {
  if (into) return *into;
  const std::string table = TextIn(line, "table");
  if (table.empty()) return WrongCall("\"table\" is missing, and the call names none");
  return ParseTableName(table);
}

StatusOr<std::optional<TableName>> TableOfCall(const Session& session, const Arguments& arguments) {
  if (arguments.Texts("path").empty() && arguments.Texts("words").empty())
    return std::optional<TableName>();
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable));
  CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
  if (named.place.kind != fs::PlaceKind::kTable)
    return WrongCall(ShownPath(arguments) + " lies in a table; name the table itself");
  return std::optional(named.place.table);
}

Status SetAll(const json& attributes, const std::function<Status(const std::string&,
                                                                 const std::string&)>& set) {
  for (const auto& [name, value] : attributes.items()) {
    if (!value.is_string()) return WrongCall("\"" + name + "\" is no text");
    CELLFS_RETURN_IF_ERROR(set(name, value.get<std::string>()));
  }
  return {};
}

StatusOr<FamilySchema> FamilyIn(const std::string& name, const json& attributes) {
  FamilySchema family(name);
  CELLFS_RETURN_IF_ERROR(SetAll(attributes, [&](const auto& attribute, const auto& value) {
    return family.Set(attribute, value);
  }));
  return family;
}

// A table that is there stays as it is, and gets the families that it lacks.
Status AddFamiliesOf(Session& session, const TableName& table, const json& families) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  for (const auto& [name, attributes] : families.items()) {
    if (schema->FindFamily(name) != nullptr) continue;
    CELLFS_ASSIGN_OR_RETURN(const FamilySchema family, FamilyIn(name, attributes));
    CELLFS_RETURN_IF_ERROR(session.store.AddFamily(session.caller, table, family));
  }
  return {};
}

// What a store has not is told, and is no reason to leave all else out.
Status MadeWithout(const char* what, const Status& refused) {
  return {refused.code(), "made without its " + std::string(what) + ": " + refused.message()};
}

Status MakeTable(Session& session, const TableName& table, const json& line) {
  const json families = line.value("families", json::object());
  TableSchema schema(table);
  CELLFS_RETURN_IF_ERROR(
      SetAll(line.value("attributes", json::object()),
             [&](const auto& name, const auto& value) { return schema.Set(name, value); }));
  for (const json& key : line.value("splits", json::array())) {
    if (!key.is_string()) return WrongCall("\"splits\" has what is no text");
    schema.split_keys.push_back(key.get<std::string>());
  }
  for (const auto& [name, attributes] : families.items()) {
    CELLFS_ASSIGN_OR_RETURN(FamilySchema family, FamilyIn(name, attributes));
    schema.families.emplace(name, std::move(family));
  }
  const bool has_splits = !schema.split_keys.empty();
  const Status made = session.store.CreateTable(session.caller, schema);
  if (made.code() == StatusCode::kTableExists) return AddFamiliesOf(session, table, families);
  if (made.code() != StatusCode::kUnsupportedOperation || !has_splits) return made;
  schema.split_keys.clear();
  CELLFS_RETURN_IF_ERROR(session.store.CreateTable(session.caller, schema));
  return MadeWithout("splits", made);
}

Status MakeNamespace(Session& session, const json& line) {
  NamespaceSchema schema{TextIn(line, "namespace"), {}};
  CELLFS_RETURN_IF_ERROR(SetAll(line.value("properties", json::object()),
                                [&](const auto& name, const auto& value) {
                                  schema.properties[name] = value;
                                  return Status();
                                }));
  const Status made = session.store.CreateNamespace(session.caller, schema);
  if (made.code() == StatusCode::kNamespaceExists) return {};
  if (made.code() != StatusCode::kUnsupportedOperation || schema.properties.empty()) return made;
  CELLFS_RETURN_IF_ERROR(session.store.CreateNamespace(session.caller, {schema.name, {}}));
  return MadeWithout("properties", made);
}

Status MakeSchema(Session& session, const std::optional<TableName>& into, const json& line) {
  if (!line.is_object()) return WrongCall("it is no JSON object");
  if (line.contains("namespace")) return into ? Status() : MakeNamespace(session, line);
  CELLFS_ASSIGN_OR_RETURN(const TableName table, TableOfLine(into, line));
  return MakeTable(session, table, line);
}

// Steps of one table, and the lines of each.
struct Steps {
  TableName table;
  std::vector<RowMutations> steps;
  std::vector<std::vector<int64_t>> lines;
};

void TakeRefused(Session& session, int64_t line, const Status& why) {
  session.take({{"line", line}, {"refused", why.message()}});
}

void MoveStep(Steps& from, size_t step, Steps& to) {
  to.steps.push_back(std::move(from.steps[step]));
  to.lines.push_back(std::move(from.lines[step]));
}

// A step of each line of it alone.
void SplitStep(Steps& from, size_t step, Steps& to) {
  RowMutations& whole = from.steps[step];
  for (size_t i = 0; i < from.lines[step].size(); ++i) {
    to.steps.push_back({whole.row, {}, whole.durability});
    to.steps.back().mutations.push_back(std::move(whole.mutations[i]));
    to.lines.push_back({from.lines[step][i]});
  }
}

// A batch ends with the first step that is refused. That one is tried again line by line, and those
// behind it follow. An error that is none of a line's ends it.
Status Apply(Session& session, Steps steps) {
  while (!steps.steps.empty()) {
    const auto results = session.store.Batch(session.caller, steps.table, steps.steps);
    const auto failed = std::find_if(results.begin(), results.end(),
                                     [](const auto& result) { return !result.ok(); });
    if (failed == results.end()) return {};
    const auto at = static_cast<size_t>(failed - results.begin());
    const int64_t line = steps.lines[at].front();
    if (!IsOfLine(failed->status()))
      return {failed->status().code(),
              "line " + std::to_string(line) + ": " + failed->status().message()};
    Steps rest{steps.table, {}, {}};
    if (steps.lines[at].size() == 1) {
      TakeRefused(session, line, failed->status());
    } else {
      SplitStep(steps, at, rest);
    }
    for (size_t i = at + 1; i < steps.steps.size(); ++i) MoveStep(steps, i, rest);
    steps = std::move(rest);
  }
  return {};
}

// What is written in one step has one sequence id, and of a put and a tombstone, or of two puts, at
// one time the order counts: such do not go together.
class OneTime {
 public:
  // False: the line has to wait until those before it are done.
  bool Add(const Mutation& mutation, uint64_t sequence) {
    const Put* const put = std::get_if<Put>(&mutation);
    const bool is_mixed = has_lines_ && sequence != sequence_ && (put == nullptr || !only_puts_);
    if (is_mixed) return false;
    if (put != nullptr) {
      const PutCell& cell = put->cells.front();
      if (!places_.emplace(cell.qualifier, cell.timestamp, cell.family).second) return false;
    }
    only_puts_ = put != nullptr && only_puts_;
    has_lines_ = true;
    sequence_ = sequence;
    return true;
  }

 private:
  bool has_lines_ = false;
  bool only_puts_ = true;
  uint64_t sequence_ = 0;
  std::set<std::tuple<std::string, Timestamp, std::string>> places_;  // of puts
};

Status ImportLines(Session& session, const std::optional<TableName>& into,
                   const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  static const json nothing = json::array();
  const auto listed = [&](const char* name) -> const json& {
    const auto found = arguments.values().find(name);
    return found == arguments.values().end() ? nothing : *found;
  };
  const json& lines = listed("lines");
  const json& numbers = listed("numbers");
  if (lines.size() != numbers.size()) return WrongCall("as many numbers as lines are needed");
  Steps steps;
  OneTime of_row;
  for (size_t i = 0; i < lines.size(); ++i) {
    const int64_t number = numbers[i].is_number_integer() ? numbers[i].get<int64_t>() : 0;
    const auto table = TableOfLine(into, lines[i]);
    auto mutation = table.ok() ? MutationOf(lines[i]) : StatusOr<Mutation>(table.status());
    if (!mutation.ok()) {
      TakeRefused(session, number, mutation.status());
      continue;
    }
    const std::string& row = RowOf(*mutation);
    const bool is_same_table = steps.steps.empty() || *table == steps.table;
    const bool is_same_row =
        is_same_table && !steps.steps.empty() && steps.steps.back().row == row;
    if (!is_same_row) of_row = OneTime();
    const bool may_go_on = of_row.Add(*mutation, SequenceOf(lines[i]));
    if (!is_same_table || !may_go_on) {
      CELLFS_RETURN_IF_ERROR(Apply(session, std::exchange(steps, Steps())));
      of_row = OneTime();
      of_row.Add(*mutation, SequenceOf(lines[i]));
    }
    steps.table = *table;
    const bool goes_on = is_same_row && !steps.steps.empty() &&
                         steps.steps.back().mutations.size() < kLinesOfStep;
    if (!goes_on) {
      steps.steps.push_back({row, {}, durability});
      steps.lines.emplace_back();
    }
    steps.lines.back().push_back(number);
    steps.steps.back().mutations.push_back(*std::move(mutation));
  }
  return steps.steps.empty() ? Status() : Apply(session, std::move(steps));
}

}  // namespace

uint64_t SequenceOf(const json& line) {
  const auto found = line.find("sequence");
  return found != line.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const auto into, TableOfCall(session, arguments));
  const auto schema = arguments.values().find("schema");
  CELLFS_RETURN_IF_ERROR(schema != arguments.values().end()
                             ? MakeSchema(session, into, *schema)
                             : ImportLines(session, into, arguments));
  return Answer::kDone;
}

}  // namespace cellfs
