// SPDX-License-Identifier: MIT
//
// append, incr, get_counter: a column's value changed, or read, as what it is.
#include <charconv>
#include <initializer_list>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/line_input.h"

namespace cellfs {
namespace {

using nlohmann::json;

Status NoCounter(const ColumnWord& column, const std::string& why) {
  return {StatusCode::kNotALong,
          ShownColumn(column.family, *column.qualifier) + " is no counter: " + why};
}

// A column, and the word after it, if any.
struct ColumnAndWord {
  fs::Place row;
  ColumnWord column;
  std::optional<std::string> word;
};
StatusOr<ColumnAndWord> ReadWords(Session& session, const Arguments& arguments,
                                  std::initializer_list<fs::PlaceKind> besides = {}) {
  CELLFS_ASSIGN_OR_RETURN(NamedPlace named,
                          NamePlace(session, arguments, Depth::kRow, Depth::kRow, besides));
  const std::string word = named.words.empty() ? "" : named.words.front();
  if (!named.place.IsColumn() && word.find('=') != std::string::npos) {
    return WrongCall("'" + word + "' has a '='; write COLUMN and then the value ('=' in a column is "
                     "\\x3D)");
  }
  CELLFS_ASSIGN_OR_RETURN(ColumnWord column, TakeColumn(named));
  if (named.words.size() > 1)
    return WrongCall("'" + named.words[1] + "' is too much; one column and one value");
  ColumnAndWord read{named.place, std::move(column), std::nullopt};
  if (!named.words.empty()) read.word = named.words.front();
  return read;
}

StatusOr<Answer> Send(Session& session, const Arguments& arguments, const fs::Place& place,
                      Mutation mutation, ValueFormat format) {
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(
      MutationResult result,
      session.store.Mutate(session.caller, place.table,
                           RowMutations::Of(std::move(mutation), durability)));
  for (Cell& cell : result.results)
    session.take(RecordOf(std::move(cell), format));
  return Answer::kDone;
}

StatusOr<Answer> ServeAppend(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const ColumnAndWord read, ReadWords(session, arguments));
  if (!read.word) return WrongCall("give the value to append");
  CELLFS_ASSIGN_OR_RETURN(std::string value, GivenValue(*read.word, arguments));
  Append append{.row = read.row.row, .cells = {}, .time_range = {},
                .return_results = arguments.Flag("result")};
  append.cells.push_back({.family = read.column.family, .qualifier = *read.column.qualifier,
                          .value = std::move(value)});
  return Send(session, arguments, read.row, std::move(append), ValueFormat::kText);
}

StatusOr<int> RunAppend(const Front& front, const Arguments& arguments) {
  const auto words = arguments.Texts("words");
  const bool reads_input = !words.empty() && words.back() == kStandardInputWord;
  return CallWithInput(front, kAppendCommand, arguments, reads_input);
}

StatusOr<Answer> ServeIncrement(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const ColumnAndWord read,
                          ReadWords(session, arguments, {fs::PlaceKind::kCounter}));
  std::string word = read.word.value_or("1");
  if (word.starts_with('+')) word.erase(0, 1);
  int64_t amount = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), amount);
  if (error != std::errc() || end != word.data() + word.size())
    return WrongCall("'" + word + "' is no number of 8 bytes");
  Increment increment{.row = read.row.row, .cells = {}, .time_range = {}};
  increment.cells.push_back({.family = read.column.family, .qualifier = *read.column.qualifier,
                             .amount = amount});
  const auto answer = Send(session, arguments, read.row, std::move(increment), ValueFormat::kLong);
  if (answer.status().code() != StatusCode::kNotALong) return answer;
  return NoCounter(read.column, answer.status().message());
}

StatusOr<Answer> ServeCounter(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const ColumnAndWord read,
                          ReadWords(session, arguments, {fs::PlaceKind::kCounter}));
  if (read.word) return WrongCall("'" + *read.word + "' is too much; one column");
  Get get;
  get.row = read.row.row;
  get.columns[read.column.family].insert(*read.column.qualifier);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells,
                          session.store.Read(session.caller, read.row.table, get));
  if (cells.empty()) return Answer::kNo;
  if (const size_t size = cells.front().value.size(); size != 8)
    return NoCounter(read.column, "it is " + std::to_string(size) + " bytes wide, not 8");
  session.take(RecordOf(std::move(cells.front()), ValueFormat::kLong));
  return Answer::kDone;
}

void PrintValue(Printer& printer, const json& cell) {
  printer.Line(ShownBytes(cell["value"].get_ref<const std::string&>()));
}

void PrintNumber(Printer& printer, const json& cell) {
  printer.Line(cell["shown"].get<std::string>());
}

}  // namespace

const Command kAppendCommand{
    .name = "append",
    .group = Group::kData,
    .summary = "append to the value of a column",
    .example = "append ~/m notes monday text:list ', bread'\n"
               "append ~/m/default/notes/monday/text/list - <more.txt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", "TABLE, ROW, COLUMN as far as the path does not say it; VALUE, or - for "
                       "standard input");
          syntax.Option("--format", "format", "FORMAT", "the value is text (\\xNN), hex or long");
          syntax.Flag("--result", "result", "print what the value is then");
          AddDurabilityOption(syntax);
        },
    .serve = ServeAppend,
    .print = PrintValue,
    .run = RunAppend,
};

const Command kIncrementCommand{
    .name = "incr",
    .group = Group::kData,
    .summary = "add to a counter and print what it is then",
    .example = "incr ~/m notes monday text:visits\nincr ~/m notes monday text:visits 5",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD",
                       "TABLE, ROW, COLUMN as far as the path does not say it; AMOUNT (1), which "
                       "may be negative");
          AddDurabilityOption(syntax);
        },
    .serve = ServeIncrement,
    .print = PrintNumber,
};

const Command kGetCounterCommand{
    .name = "get_counter",
    .group = Group::kData,
    .summary = "print a counter; 1: there is none",
    .example = "get_counter ~/m notes monday text:visits",
    .no = "there is no such counter",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", "TABLE, ROW, COLUMN: as far as the path does not say it");
        },
    .only_reads = true,
    .serve = ServeCounter,
    .print = PrintNumber,
};

}  // namespace cellfs
