// SPDX-License-Identifier: MIT
//
// mutate: what comes on standard input, in JSON Lines, as `scan --json` writes them:
//
//     {"row": "r", "family": "f", "qualifier": "q", "value": "v", "timestamp": 1, "ttl": 60000}
//     {"row": "r", "column": "f:old", "type": "DeleteColumn"}
//     {"row": "r", "column": "f:visits", "type": "Increment", "amount": 1}
//
// Lines that follow each other and have one row (and one "table") are one RowMutations, unless a row
// may come in pieces.
#include <tuple>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cell_line.h"
#include "src/commands/cells.h"
#include "src/commands/line_input.h"
#include "src/daemon/json_text.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr size_t kLinesOfCall = 1000;
constexpr size_t kBytesOfCall = size_t{1} << 20;
constexpr size_t kMostBytesOfRow = size_t{16} << 20;

// ---- Where the store is -------------------------------------------------------------------------

Status AtLine(int64_t number, const Status& status) {
  return {status.code(), "line " + std::to_string(number) + ": " + status.message()};
}

// Rows of one table that follow each other, and the lines of each.
struct Rows {
  TableName table;
  std::vector<RowMutations> rows;
  std::vector<std::vector<int64_t>> lines;
};

// Of a step that failed: at the line that names what is not there, else at all of its lines.
Status AtLinesOf(const Session& session, const Rows& rows, size_t index, const Status& status) {
  const std::vector<int64_t>& lines = rows.lines[index];
  if (status.code() == StatusCode::kNoSuchColumnFamily) {
    CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(rows.table));
    const auto& mutations = rows.rows[index].mutations;
    for (size_t i = 0; i < mutations.size(); ++i) {
      if (schema->FindFamily(FamilyOf(mutations[i])) == nullptr) return AtLine(lines[i], status);
    }
  }
  if (lines.size() == 1) return AtLine(lines.front(), status);
  return {status.code(), "lines " + std::to_string(lines.front()) + " to " +
                             std::to_string(lines.back()) + ", one step: " + status.message()};
}

StatusOr<TableName> TableOf(const NamedPlace& named, const json& line) {
  const auto table = line.find("table");
  if (table != line.end() && table->is_string() && *table != "")
    return ParseTableName(table->get<std::string>());
  if (named.place.table.name.empty()) return WrongCall("\"table\" is missing");
  return named.place.table;
}

// Where the line stood; empty ones are left out.
int64_t NumberOf(const Arguments& arguments, size_t index) {
  const auto numbers = arguments.values().find("numbers");
  const bool is_known = numbers != arguments.values().end() && numbers->is_array() &&
                        index < numbers->size() && (*numbers)[index].is_number_integer();
  return is_known ? (*numbers)[index].get<int64_t>() : static_cast<int64_t>(index) + 1;
}

StatusOr<std::vector<Rows>> ReadRows(const NamedPlace& named, const Arguments& arguments,
                                     Durability durability) {
  std::vector<Rows> all;
  size_t index = 0;
  static const json nothing = json::array();
  const auto given = arguments.values().find("lines");
  const json& lines = given == arguments.values().end() ? nothing : *given;
  for (const json& line : lines) {
    const int64_t number = NumberOf(arguments, index++);
    if (!line.is_object()) return AtLine(number, WrongCall("it is no JSON object"));
    auto table = TableOf(named, line);
    if (!table.ok()) return AtLine(number, table.status());
    auto mutation = CellLine::Of(line).TakeMutation();
    if (!mutation.ok()) return AtLine(number, mutation.status());
    if (all.empty() || all.back().table != *table) all.push_back({*table, {}, {}});
    Rows& rows = all.back();
    const std::string& row = RowOf(*mutation);
    if (rows.rows.empty() || rows.rows.back().row != row) {
      rows.rows.push_back({row, {}, durability});
      rows.lines.emplace_back();
    }
    rows.lines.back().push_back(number);
    rows.rows.back().mutations.push_back(*std::move(mutation));
  }
  return all;
}

// Of a row that is too much for one step.
Status WithRemedy(const RowMutations& row, const Status& status) {
  const bool is_long = row.mutations.size() > kLinesOfCall;
  if (status.code() != StatusCode::kIllegalArgument || !is_long) return status;
  return {status.code(), status.message() + " (--in-pieces does)"};
}

StatusOr<Answer> ServeMutate(Session& session, const Arguments& arguments) {
  NamedPlace named{fs::RootPlace(), {}};
  if (!arguments.Texts("path").empty() || !arguments.Texts("words").empty()) {
    CELLFS_ASSIGN_OR_RETURN(named, NamePlace(session, arguments, Depth::kTable, Depth::kTable));
    CELLFS_RETURN_IF_ERROR(CheckNoMore(named.words));
    if (named.place.kind != fs::PlaceKind::kTable)
      return WrongCall(ShownPath(arguments) + " lies in a table; name the table itself");
    // Also where no line comes.
    CELLFS_RETURN_IF_ERROR(session.store.DescribeTable(named.place.table).status());
  }
  CELLFS_ASSIGN_OR_RETURN(const Durability durability, DurabilityOf(arguments));
  CELLFS_ASSIGN_OR_RETURN(const auto all, ReadRows(named, arguments, durability));
  uint64_t done = 0;
  for (const Rows& rows : all) {
    const auto results = session.store.Batch(session.caller, rows.table, rows.rows);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].ok()) {
        ++done;
      } else {
        session.take({{"rows", done}});
        return AtLinesOf(session, rows, i, WithRemedy(rows.rows[i], results[i].status()));
      }
    }
  }
  session.take({{"rows", done}});
  return Answer::kDone;
}

// ---- Here ---------------------------------------------------------------------------------------

// Lines that go in one call: whole rows.
class Pending {
 public:
  bool IsFull() const { return lines_.size() >= kLinesOfCall || bytes_ >= kBytesOfCall; }
  bool empty() const { return lines_.empty(); }
  bool EndsWithRowOf(const json& line) const {
    return !lines_.empty() && lines_.back().value("row", json()) == line.value("row", json()) &&
           lines_.back().value("table", json()) == line.value("table", json());
  }
  void Add(json line, int64_t number, size_t bytes) {
    lines_.push_back(std::move(line));
    numbers_.push_back(number);
    bytes_ += bytes;
  }
  // The lines, and where each stood.
  std::pair<json, json> Take() {
    bytes_ = 0;
    return {std::exchange(lines_, json::array()), std::exchange(numbers_, json::array())};
  }

 private:
  json lines_ = json::array();
  json numbers_ = json::array();
  size_t bytes_ = 0;
};

StatusOr<int> RunMutate(const Front& front, const Arguments& arguments) {
  json sent = arguments.values();
  CELLFS_ASSIGN_OR_RETURN(const auto access, front.Open(arguments.Text("target"), sent));
  Pending pending;
  uint64_t rows = 0;
  const auto take = [&](const json& record) {
    rows += record.value("rows", uint64_t{0});
    return true;
  };
  const auto send = [&]() -> Status {
    std::tie(sent["lines"], sent["numbers"]) = pending.Take();
    return access->Call("mutate", sent, take).status();
  };
  const auto say = [&] {
    if (front.printer.style().json) front.printer.Json({{"rows", rows}});
  };
  const auto with_count = [&](const Status& failed) {
    say();
    return Status(failed.code(), failed.message() + "; " + std::to_string(rows) +
                                     " rows before it are done at least");
  };
  const bool in_pieces = arguments.Flag("in_pieces");
  int64_t number = 0;
  size_t bytes_of_row = 0;
  LineInput input;
  while (true) {
    const auto read = input.NextLine();
    // A row of which lines are still to come is not sent.
    if (!read.ok()) return with_count(read.status());
    if (!*read) break;
    const std::string& text = **read;
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    auto line = FromJsonText(text);
    if (!line || !line->is_object()) {
      if (!pending.empty()) CELLFS_RETURN_IF_ERROR(send());
      return with_count(
          AtLine(number, WrongCall("it is no JSON object, or one that says a member twice")));
    }
    const bool is_same_row = pending.EndsWithRowOf(*line);
    bytes_of_row = text.size() + (is_same_row ? bytes_of_row : 0);
    if (is_same_row && !in_pieces && bytes_of_row > kMostBytesOfRow) {
      return with_count(AtLine(number, WrongCall("the lines about a row are one step, and these "
                                                 "have more than 16 MiB; --in-pieces makes "
                                                 "several steps of such a row")));
    }
    if ((!is_same_row || in_pieces) && pending.IsFull()) {
      if (const Status sent_so_far = send(); !sent_so_far.ok()) return with_count(sent_so_far);
    }
    pending.Add(*std::move(line), number, text.size());
  }
  // Also without a line, so that a wrong call is told.
  if (const Status sent_so_far = send(); !sent_so_far.ok()) return with_count(sent_so_far);
  say();
  return kExitDone;
}

}  // namespace

const Command kMutateCommand{
    .name = "mutate",
    .group = Group::kData,
    .summary = "make the changes that come on standard input, in JSON Lines",
    .description =
        "Each line is a cell as 'cellfs scan --json' prints it; its \"type\" may be Put, Delete, "
        "DeleteColumn, DeleteFamily, DeleteFamilyVersion, Append or Increment; the last has an "
        "\"amount\" instead of a value. \"column\": \"f:q\" may stand for family and qualifier. Lines "
        "that follow each other about one row are one step, which changes at most 10,000 columns, "
        "another user's 1,000, and has at most 16 MiB; with --in-pieces a longer row is several.",
    .example = "scan --json ~/m notes | cellfs mutate ~/m copy\n"
               "mutate ~/m notes <changes.jsonl",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("TABLE", "of lines that name none");
          AddDurabilityOption(syntax);
          syntax.Flag("--in-pieces", "in_pieces", "a row may be several steps, of 1000 lines each");
        },
    .serve = ServeMutate,
    .run = RunMutate,
};

}  // namespace cellfs
