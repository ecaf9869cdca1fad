// SPDX-License-Identifier: MIT
//
// HBase's shell, group dml: cells.
#include <algorithm>
#include <array>
#include <utility>

#include "src/shell/call.h"
#include "src/shell/converter.h"
#include "src/shell/mutations.h"
#include "src/shell/query.h"

namespace cellfs::shell {
namespace {

using nlohmann::json;

// ---- Reading ------------------------------------------------------------------------------------

// What went wrong while it was shown, as the records came.
struct Showing {
  Status status;
  uint64_t rows = 0;
  std::string row;

  bool Note(const Status& shown) {
    status = shown;
    return shown.ok();
  }
};

Status ShowFound(Call& call, const Query& query, const json& cell, bool with_row) {
  CELLFS_ASSIGN_OR_RETURN(const std::string column, query.ShownColumn(cell));
  CELLFS_ASSIGN_OR_RETURN(const std::string shown, query.ShownCell(cell));
  if (!with_row) {
    call.output().Row(column, shown);
    return {};
  }
  CELLFS_ASSIGN_OR_RETURN(const std::string row,
                          query.ShownRow(cell["row"].get_ref<const std::string&>()));
  call.output().Row(row, "column=" + column + ", " + shown);
  return {};
}

// And how many rows they were.
StatusOr<uint64_t> Show(Call& call, const std::string& command, const Query& query, json words) {
  const bool is_scan = command == "scan";
  Showing showing;
  const auto take = [&](const json& cell) {
    const std::string& row = cell["row"].get_ref<const std::string&>();
    if (showing.rows == 0 || row != showing.row) {
      ++showing.rows;
      showing.row = row;
    }
    return showing.Note(ShowFound(call, query, cell, is_scan)) && call.output().ok();
  };
  const Status asked = call.Ask(command, query.Arguments(std::move(words)), take).status();
  CELLFS_RETURN_IF_ERROR(showing.status);  // which has ended what was asked
  CELLFS_RETURN_IF_ERROR(asked);
  return showing.rows;
}

// Columns as texts and lists, or a hash.
StatusOr<Hash> AskedOf(const Call& call, size_t first) {
  if (call.count() > first && call.arguments()[first].As<Hash>() != nullptr)
    return *call.arguments()[first].As<Hash>();
  List columns;
  for (size_t i = first; i < call.count(); ++i) {
    const Value& value = call.arguments()[i];
    if (const auto* list = value.As<List>()) {
      columns.insert(columns.end(), list->begin(), list->end());
    } else if (value.As<Hash>() != nullptr) {
      return Refused("after a column no hash follows: {COLUMN => 'f:q', ...}");
    } else if (!value.IsNil()) {
      columns.push_back(value);
    }
  }
  if (columns.empty()) return Hash();
  return Hash{{"COLUMNS", Value{std::move(columns)}}};
}

StatusOr<Value> RunGet(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const Hash hash, AskedOf(call, 2));
  CELLFS_ASSIGN_OR_RETURN(const Query query, Query::Read(hash, Query::Kind::kGet));
  call.output().Head("COLUMN", "CELL");
  CELLFS_ASSIGN_OR_RETURN(const uint64_t rows,
                          Show(call, "get", query, {WordOf(table), WordOf(row)}));
  call.output().Footer(rows);
  return Value{};
}

StatusOr<Value> RunScan(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const Hash hash, call.HashAt(1, "second argument"));
  CELLFS_ASSIGN_OR_RETURN(const Query query, Query::Read(hash, Query::Kind::kScan));
  call.output().Head("ROW", "COLUMN+CELL");
  CELLFS_ASSIGN_OR_RETURN(const uint64_t rows, Show(call, "scan", query, {WordOf(table)}));
  call.output().Footer(rows);
  return Value{};
}

StatusOr<int64_t> IntervalOf(const Call& call) {
  constexpr int64_t kUsual = 1000;
  if (!call.Has(1)) return kUsual;
  const Value* said = &call.arguments()[1];
  if (const auto* hash = said->As<Hash>()) {
    said = nullptr;
    for (const auto& [key, value] : *hash)
      if (key == "INTERVAL") said = &value;
    if (said == nullptr) return kUsual;
  }
  const auto* const number = said->As<int64_t>();
  if (number == nullptr || *number < 1) return Refused("INTERVAL is a number of rows");
  return *number;
}

StatusOr<Value> RunCount(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const int64_t interval, IntervalOf(call));
  Hash hash;
  if (call.Has(1) && call.arguments()[1].As<Hash>() != nullptr)
    hash = *call.arguments()[1].As<Hash>();
  CELLFS_ASSIGN_OR_RETURN(const Query query, Query::Read(hash, Query::Kind::kCount));
  json arguments = query.Arguments({WordOf(table)});
  arguments["interval"] = std::to_string(interval);
  int64_t rows = 0;
  CELLFS_RETURN_IF_ERROR(call.Ask("count", arguments, [&](const json& record) {
                               if (record.contains("rows")) rows = record["rows"].get<int64_t>();
                               if (record.contains("rows_so_far")) {
                                 call.output().Row(
                                     "Current count: " +
                                     std::to_string(record["rows_so_far"].get<int64_t>()) +
                                     ", row: " + BinaryText(record["row"].get<std::string>()));
                               }
                               return call.output().ok();
                             }).status());
  call.output().Footer(static_cast<uint64_t>(rows));
  return Value{rows};
}

// Null: there is none.
StatusOr<Value> ShowCounter(Call& call, const json& cell) {
  if (cell.is_null()) {
    call.output().Line("No counter found at specified coordinates");
    return Value{};
  }
  CELLFS_ASSIGN_OR_RETURN(const std::string number, ShownNumber(cell));
  call.output().Line("COUNTER VALUE = " + number);
  return Value{};
}

StatusOr<Value> RunGetCounter(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const std::string column, call.Text(2, "column"));
  CELLFS_ASSIGN_OR_RETURN(
      const json cell,
      call.AskOne("get_counter", {{"words", {WordOf(table), WordOf(row), ColumnWordOf(column)}}}));
  return ShowCounter(call, cell);
}

StatusOr<Value> RunGetSplits(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const json described,
                          call.AskOne("describe", {{"words", {WordOf(table)}}}));
  const auto splits = described["splits"].get<std::vector<std::string>>();
  call.output().Line("Total number of splits = " + std::to_string(splits.size() + 1));
  List keys;
  for (const std::string& key : splits) {
    call.output().Line(BinaryText(key));
    keys.push_back(Value{BinaryText(key)});
  }
  return Value{std::move(keys)};
}

// ---- Writing ------------------------------------------------------------------------------------

// "f" is the column of the empty qualifier, as HBase's shell takes it.
StatusOr<std::string> WholeColumn(const Call& call, size_t place) {
  CELLFS_ASSIGN_OR_RETURN(std::string column, call.Text(place, "column"));
  if (column.find(':') == column.npos) column += ':';
  return ColumnWordOf(column);
}

StatusOr<Value> RunPut(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const std::string column, WholeColumn(call, 2));
  CELLFS_ASSIGN_OR_RETURN(const std::string value, call.Text(3, "value"));
  json arguments = {{"words", {WordOf(table), WordOf(row), column, WordOf(value)}}};
  CELLFS_RETURN_IF_ERROR(TakeTimestampAndOptions(call, 4, arguments));
  CELLFS_RETURN_IF_ERROR(call.Ask("put", arguments).status());
  return Value{};
}

StatusOr<Value> RunAppend(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const std::string column, WholeColumn(call, 2));
  CELLFS_ASSIGN_OR_RETURN(const std::string value, call.Text(3, "value"));
  json arguments = {{"words", {WordOf(table), WordOf(row), column, WordOf(value)}},
                    {"result", true}};
  CELLFS_RETURN_IF_ERROR(TakeTimestampAndOptions(call, 4, arguments));
  CELLFS_ASSIGN_OR_RETURN(const json cell, call.AskOne("append", arguments));
  if (!cell.is_null())
    call.output().Line("CURRENT VALUE = " + BinaryText(cell["value"].get<std::string>()));
  return Value{};
}

StatusOr<Value> RunIncr(Call& call) {
  CELLFS_ASSIGN_OR_RETURN(const std::string table, call.Text(0, "table"));
  CELLFS_ASSIGN_OR_RETURN(const std::string row, call.Text(1, "row"));
  CELLFS_ASSIGN_OR_RETURN(const std::string column, WholeColumn(call, 2));
  json words = {WordOf(table), WordOf(row), column};
  json arguments = json::object();
  if (call.Has(3) && call.arguments()[3].As<Hash>() == nullptr) {
    CELLFS_ASSIGN_OR_RETURN(const std::string amount, call.Text(3, "amount"));
    words.push_back(amount);
    CELLFS_RETURN_IF_ERROR(TakeTimestampAndOptions(call, 4, arguments));
  } else {
    CELLFS_RETURN_IF_ERROR(TakeTimestampAndOptions(call, 3, arguments));
  }
  arguments["words"] = std::move(words);
  CELLFS_ASSIGN_OR_RETURN(const json cell, call.AskOne("incr", arguments));
  return ShowCounter(call, cell);
}

constexpr std::array kDml = {
    ShellCommand{"append", 4, 5,
                 "Adds to the value of a column, and says what it is then.\n"
                 "append 't1', 'r1', 'c1', 'value'",
                 RunAppend},
    ShellCommand{"count", 1, 2,
                 "Counts the rows of a table; says where it is after each INTERVAL (1000) of them.\n"
                 "count 't1'\n"
                 "count 't1', 100000\n"
                 "count 't1', INTERVAL => 10, CACHE => 1000\n"
                 "count 't1', {COLUMNS => ['c1', 'c2'], STARTROW => 'abc', STOPROW => 'xyz'}",
                 RunCount},
    ShellCommand{"delete", 3, 5,
                 "Deletes the newest version of a column, or the one of a timestamp.\n"
                 "delete 't1', 'r1', 'c1'\n"
                 "delete 't1', 'r1', 'c1', 1767225600123",
                 RunDelete},
    ShellCommand{"deleteall", 2, 5,
                 "Deletes a row, a family of it or a column, with all versions, or those up to a "
                 "timestamp; or all rows that begin so.\n"
                 "deleteall 't1', 'r1'\n"
                 "deleteall 't1', 'r1', 'c1'\n"
                 "deleteall 't1', 'r1', 'c1', 1767225600123\n"
                 "deleteall 't1', {ROWPREFIXFILTER => 'abc'}",
                 RunDeleteAll},
    ShellCommand{"get", 2, 64,
                 "Shows a row, or columns of it. VERSIONS are 1 unless they are asked for; bytes that "
                 "are no text are \\xNN; after a second colon a column has the method of Bytes that "
                 "shows it (toInt, toLong, toShort, toFloat, toDouble, toBoolean, toString, toHex).\n"
                 "get 't1', 'r1'\n"
                 "get 't1', 'r1', 'c1', 'c2'\n"
                 "get 't1', 'r1', {COLUMN => ['c1', 'c2'], VERSIONS => 4}\n"
                 "get 't1', 'r1', {COLUMN => 'c1', TIMERANGE => [1, 1767225600123]}\n"
                 "get 't1', 'r1', {COLUMN => 'c1', TIMESTAMP => 1767225600123}\n"
                 "get 't1', 'r1', {FILTER => \"ValueFilter(=, 'binary:abc')\"}\n"
                 "get 't1', 'r1', {COLUMN => ['f:q1:toInt', 'f:q2:toLong']}",
                 RunGet},
    ShellCommand{"get_counter", 3, 3,
                 "Shows a counter.\n"
                 "get_counter 't1', 'r1', 'c1'",
                 RunGetCounter},
    ShellCommand{"get_splits", 1, 1,
                 "Shows where the regions of a table begin.\n"
                 "get_splits 't1'",
                 RunGetSplits},
    ShellCommand{"incr", 3, 5,
                 "Adds to a counter, 1 unless it is said, and says what it is then.\n"
                 "incr 't1', 'r1', 'c1'\n"
                 "incr 't1', 'r1', 'c1', 10",
                 RunIncr},
    ShellCommand{"put", 4, 6,
                 "Puts a cell, at a timestamp where one is said.\n"
                 "put 't1', 'r1', 'c1', 'value'\n"
                 "put 't1', 'r1', 'c1', 'value', 1767225600123\n"
                 "put 't1', \"r\\x00\\xFF\", 'c1', 'value', {TTL => 60000}",
                 RunPut},
    ShellCommand{"scan", 1, 2,
                 "Shows the rows of a table. A prefix is ROWPREFIXFILTER; FILTER is in HBase's "
                 "language of filters; RAW shows tombstones too.\n"
                 "scan 't1'\n"
                 "scan 't1', {LIMIT => 10, STARTROW => 'abc', STOPROW => 'xyz'}\n"
                 "scan 't1', {COLUMNS => ['c1', 'f:q:toLong'], TIMERANGE => [1, 1767225600123]}\n"
                 "scan 't1', {ROWPREFIXFILTER => 'row2', REVERSED => true}\n"
                 "scan 't1', {FILTER => \"(QualifierFilter(>=, 'binary:xyz')) AND PageFilter(5)\"}\n"
                 "scan 't1', {RAW => true, VERSIONS => 10}",
                 RunScan},
    ShellCommand{"truncate", 1, 1,
                 "Removes all cells of a table; it is enabled then. Its regions stay.\n"
                 "truncate 't1'",
                 RunTruncate},
    ShellCommand{"truncate_preserve", 1, 1,
                 "As truncate.\n"
                 "truncate_preserve 't1'",
                 RunTruncate},
};

}  // namespace

const std::span<const ShellCommand> kDmlCommands = kDml;

}  // namespace cellfs::shell
