// SPDX-License-Identifier: MIT
//
// put: cells of a row in one step. check_and_put: the same where a column's value is as said.
#include <algorithm>
#include <set>
#include <utility>

#include "fs/tree/time_text.h"
#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/line_input.h"

namespace cellfs {
namespace {

// "f:q=value"
StatusOr<PutCell> CellOf(const fs::Place& place, const std::string& word,
                         const Arguments& arguments) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos)
    return WrongCall("'" + word + "' is no COLUMN=VALUE ('=' in a column is \\x3D)");
  CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, ParseColumn(place, word.substr(0, equals)));
  if (!column.qualifier) return WrongCall("'" + word + "' names no column; it is FAMILY:QUALIFIER");
  CELLFS_ASSIGN_OR_RETURN(std::string value, GivenValue(word.substr(equals + 1), arguments));
  return PutCell{.family = column.family, .qualifier = *column.qualifier,
                 .value = std::move(value)};
}

// As HBase's shell says it: COLUMN, VALUE and perhaps the timestamp.
bool IsShellsPut(const std::vector<std::string>& words) {
  const bool is_of_length = words.size() == 2 || words.size() == 3;
  return is_of_length && words.front().find('=') == std::string::npos;
}

// Of two values for a column one would be lost.
Status CheckNamesColumnsOnce(const std::vector<PutCell>& cells) {
  std::set<std::pair<std::string, std::string>> named;
  for (const PutCell& cell : cells) {
    if (!named.emplace(cell.family, cell.qualifier).second)
      return WrongCall("column '" + ShownColumn(cell.family, cell.qualifier) + "' is said twice");
  }
  return {};
}

// The cells that the words say: pairs, or the value of the column that the path is; or, as in HBase's
// shell, a column and its value.
StatusOr<std::vector<PutCell>> CellsOf(const NamedPlace& named, const Arguments& arguments) {
  const fs::Place& place = named.place;
  const auto& words = named.words;
  std::vector<PutCell> cells;
  if (place.IsColumn()) {
    if (words.size() != 1) return WrongCall("give one value for " + ShownPath(arguments));
    CELLFS_ASSIGN_OR_RETURN(std::string value, GivenValue(words.front(), arguments));
    cells.push_back({.family = place.family, .qualifier = place.qualifier,
                     .value = std::move(value)});
  } else if (IsShellsPut(words)) {
    CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, ParseColumn(place, words.front()));
    if (!column.qualifier) return WrongCall("'" + words.front() + "' names no column");
    CELLFS_ASSIGN_OR_RETURN(std::string value, GivenValue(words[1], arguments));
    cells.push_back({.family = column.family, .qualifier = *column.qualifier,
                     .value = std::move(value)});
  } else {
    for (const std::string& word : words) {
      CELLFS_ASSIGN_OR_RETURN(PutCell cell, CellOf(place, word, arguments));
      cells.push_back(std::move(cell));
    }
  }
  if (cells.empty()) return WrongCall("give COLUMN=VALUE...");
  CELLFS_RETURN_IF_ERROR(CheckNamesColumnsOnce(cells));
  return cells;
}

StatusOr<RowMutations> PutOf(Session& session, const NamedPlace& named,
                             const Arguments& arguments) {
  Put put{.row = named.place.row, .cells = {}};
  CELLFS_ASSIGN_OR_RETURN(put.cells, CellsOf(named, arguments));
  CELLFS_ASSIGN_OR_RETURN(Timestamp timestamp,
                          TimestampOf(named.place, arguments, session.Now()));
  if (!named.place.IsColumn() && IsShellsPut(named.words) && named.words.size() == 3) {
    if (arguments.Has("timestamp"))
      return WrongCall("the timestamp is said twice: '" + named.words.back() + "' and --timestamp");
    CELLFS_ASSIGN_OR_RETURN(timestamp, fs::ParseTime(named.words.back(), session.Now()));
  }
  for (PutCell& cell : put.cells) cell.timestamp = timestamp;
  CELLFS_ASSIGN_OR_RETURN(put.time_to_live,
                          arguments.NumberOr("ttl", 1, kLongestTtl, kNoCellTtl));
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  return RowMutations::Of(std::move(put), durability);
}

StatusOr<Answer> ServePut(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kRow, Depth::kRow,
                                    {fs::PlaceKind::kVersion}));
  CELLFS_ASSIGN_OR_RETURN(const RowMutations put, PutOf(session, named, arguments));
  CELLFS_RETURN_IF_ERROR(session.store.Mutate(session.caller, named.place.table, put).status());
  return Answer::kDone;
}

StatusOr<CompareOperator> OperatorOf(const Arguments& arguments) {
  const std::string name = arguments.Text("op");
  if (name.empty() || name == "=" || name == "==") return CompareOperator::kEqual;
  if (name == "!=") return CompareOperator::kNotEqual;
  if (name == "<") return CompareOperator::kLess;
  if (name == "<=") return CompareOperator::kLessOrEqual;
  if (name == ">") return CompareOperator::kGreater;
  if (name == ">=") return CompareOperator::kGreaterOrEqual;
  return WrongCall("--op is '" + name + "'; there are =, !=, <, <=, > and >=");
}

// The store compares bytes, in which a negative number is greater than all that are not.
Status CheckComparesBytes(CompareOperator op, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const ValueFormat format, FormatOf(arguments));
  const bool asks_for_order = op != CompareOperator::kEqual && op != CompareOperator::kNotEqual;
  if (format != ValueFormat::kLong || !asks_for_order) return {};
  return WrongCall("--op " + arguments.Text("op") + " does not go with --format long: bytes are "
                   "compared, and those of a negative number are greater than of others; there are "
                   "= and !=, or --format hex for bytes");
}

StatusOr<ColumnCondition> ConditionOf(const fs::Place& place, const Arguments& arguments) {
  const std::string absent = arguments.Text("if_absent");
  if (arguments.Has("if") == arguments.Has("if_absent"))
    return WrongCall("say --if COLUMN=VALUE or --if-absent COLUMN");
  if (arguments.Has("op") && !arguments.Has("if"))
    return WrongCall("--op goes with --if: how what is stored compares with its VALUE");
  if (arguments.Has("if_absent")) {
    CELLFS_ASSIGN_OR_RETURN(const ColumnWord column, ParseColumn(place, absent));
    if (!column.qualifier)
      return WrongCall("'" + absent + "' names no column; it is FAMILY:QUALIFIER");
    return ColumnCondition{column.family, *column.qualifier, CompareOperator::kEqual, ""};
  }
  CELLFS_ASSIGN_OR_RETURN(PutCell given, CellOf(place, arguments.Text("if"), arguments));
  CELLFS_ASSIGN_OR_RETURN(const CompareOperator op, OperatorOf(arguments));
  CELLFS_RETURN_IF_ERROR(CheckComparesBytes(op, arguments));
  // HBase says "the given value op the stored one"; people say it the other way.
  return ColumnCondition{std::move(given.family), std::move(given.qualifier), Turned(op),
                         std::move(given.value)};
}

StatusOr<Answer> ServeCheckAndPut(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kRow, Depth::kRow,
                                    {fs::PlaceKind::kVersion}));
  CheckAndMutate check{.row = named.place.row, .condition = {}, .time_range = {}, .action = {}};
  CELLFS_ASSIGN_OR_RETURN(check.condition, ConditionOf(named.place, arguments));
  CELLFS_ASSIGN_OR_RETURN(check.action, PutOf(session, named, arguments));
  CELLFS_ASSIGN_OR_RETURN(
      const CheckAndMutateResult result,
      session.store.CheckAndMutate(session.caller, named.place.table, check));
  session.take({{"done", result.done}});
  return result.done ? Answer::kDone : Answer::kNo;
}

StatusOr<int> RunPut(const Front& front, const Arguments& arguments, const Command& command) {
  const auto words = arguments.Texts("words");
  const bool reads_input = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == kStandardInputWord || word.ends_with("=-");
  });
  return CallWithInput(front, command, arguments, reads_input);
}

void AddPutOptions(Syntax& syntax) {
  syntax.Option("-t,--timestamp", "timestamp", "TIME", "instead of the store's clock");
  syntax.Option("--ttl", "ttl", "MS", "milliseconds after which the cells are gone");
  syntax.Option("--format", "format", "FORMAT", "values are text (\\xNN), hex or long (8 bytes)");
  AddDurabilityOption(syntax);
}

constexpr char kPutWords[] =
    "TABLE, ROW as far as the path does not say it; COLUMN=VALUE..., or as HBase's shell COLUMN "
    "VALUE [TIMESTAMP]; VALUE - is standard input";

}  // namespace

const Command kPutCommand{
    .name = "put",
    .group = Group::kData,
    .summary = "put cells of a row, in one step",
    .description =
        "The cells become visible together, or none of them does. A path of one version "
        "(.../list@TIMESTAMP, .../.versions/list/TIMESTAMP) puts at its timestamp; counters change by "
        "'cellfs incr'.",
    .example = "put ~/m notes monday text:title=Monday text:list='buy milk'\n"
               "put ~/m/default/notes/monday/text/list - <list.txt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kPutWords);
          AddPutOptions(syntax);
        },
    .serve = ServePut,
    .run = [](const Front& front,
              const Arguments& arguments) { return RunPut(front, arguments, kPutCommand); },
};

const Command kCheckAndPutCommand{
    .name = "check_and_put",
    .group = Group::kData,
    .summary = "put cells if a column's value is as said; 1: it is not",
    .example = "check_and_put ~/m notes monday --if text:title=Monday text:title=Tuesday\n"
               "check_and_put ~/m notes monday --if-absent text:owner text:owner=me",
    .no = "the condition does not hold, and nothing was put",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kPutWords);
          syntax.Option("--if", "if", "COLUMN=VALUE", "what is stored is to be so");
          syntax.Option("--op", "op", "OP", "stored OP VALUE: = (default), !=, <, <=, >, >=");
          syntax.Option("--if-absent", "if_absent", "COLUMN", "there is to be no value, or an empty one");
          AddPutOptions(syntax);
        },
    .serve = ServeCheckAndPut,
    .run = [](const Front& front,
              const Arguments& arguments) { return RunPut(front, arguments, kCheckAndPutCommand); },
};

}  // namespace cellfs
