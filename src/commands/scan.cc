// SPDX-License-Identifier: MIT
//
// scan: the cells of a table's rows, in their order. count: how many rows there are.
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "engine/filters.h"
#include "src/commands/all.h"
#include "src/commands/cells.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kBetweenReports{1};
constexpr int64_t kByTime = 0;
constexpr int64_t kAllRows = 0;

// What says twice which rows are meant would mean others than either.
Status CheckRange(const fs::Place& place, const Arguments& arguments) {
  for (const char* name : {"start", "stop", "prefix"}) {
    if (!place.row.empty() && arguments.Has(name)) {
      return {StatusCode::kIllegalArgument,
              std::string("the path names a row already; leave --") + name + " out"};
    }
  }
  const std::string prefix = BytesOf(arguments.Text("prefix"));
  for (const char* name : {"start", "stop"}) {
    if (!arguments.Has(name) || BytesOf(arguments.Text(name)).starts_with(prefix)) continue;
    return {StatusCode::kIllegalArgument,
            std::string("--") + name + " does not begin with what --prefix says"};
  }
  return {};
}

void AddRangeOptions(Syntax& syntax) {
  syntax.Option("--start", "start", "ROW", "from that row on");
  syntax.Option("--stop", "stop", "ROW", "up to that row, and without it");
  syntax.Option("--prefix", "prefix", "BYTES", "only rows that begin so");
  syntax.Option("-n,--limit", "limit", "N", "no more rows than that; 0: all");
}

// The rows that place and options mean.
Status ReadRange(const fs::Place& place, const Arguments& arguments, Scan& scan) {
  CELLFS_RETURN_IF_ERROR(CheckRange(place, arguments));
  if (!place.row.empty()) {
    scan.start_row = scan.stop_row = place.row;
    scan.include_stop_row = true;
  }
  scan.reversed = arguments.Flag("reversed");
  if (arguments.Has("prefix")) {
    const std::string prefix = BytesOf(arguments.Text("prefix"));
    scan.start_row = prefix;
    scan.stop_row = RowAfterPrefix(prefix);
    if (scan.reversed) {
      std::swap(scan.start_row, scan.stop_row);
      scan.include_start_row = scan.start_row.empty();
      scan.include_stop_row = true;
    }
  }
  if (arguments.Has("start")) {
    scan.start_row = BytesOf(arguments.Text("start"));
    scan.include_start_row = true;
  }
  if (arguments.Has("stop")) {
    scan.stop_row = BytesOf(arguments.Text("stop"));
    scan.include_stop_row = false;
  }
  CELLFS_ASSIGN_OR_RETURN(
      const int64_t limit,
      arguments.NumberOr("limit", 0, std::numeric_limits<int64_t>::max(), kAllRows));
  scan.limit = limit == kAllRows ? -1 : limit;
  return {};
}

// What he names and may not read is no nothing.
StatusOr<std::unique_ptr<Scanner>> OpenScanner(Session& session, const fs::Place& place,
                                               const Scan& scan) {
  if (!place.row.empty()) {
    CELLFS_RETURN_IF_ERROR(
        session.store.CheckMayRead(session.caller, place.table, place.row, scan.columns));
  }
  return session.store.OpenScanner(session.caller, place.table, scan);
}

// Tombstones of a family are of all its columns.
Status CheckNamesFamilies(const Columns& columns) {
  for (const auto& [family, qualifiers] : columns) {
    if (qualifiers.empty()) continue;
    return {StatusCode::kIllegalArgument,
            "--raw reads whole families; name '" + ShownBytes(family) + "' instead of a column"};
  }
  return {};
}

StatusOr<Answer> ServeScan(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable,
                                    {fs::PlaceKind::kVersion, fs::PlaceKind::kCounter}));
  CELLFS_ASSIGN_OR_RETURN(const ValueFormat format, FormatOf(arguments, named.place));
  Scan scan;
  CELLFS_RETURN_IF_ERROR(ReadQuery(named.place, named.words, arguments, session.Now(), scan));
  CELLFS_RETURN_IF_ERROR(ReadRange(named.place, arguments, scan));
  scan.raw = arguments.Flag("raw");
  if (scan.raw) CELLFS_RETURN_IF_ERROR(CheckNamesFamilies(scan.columns));
  if (scan.raw && arguments.Text("versions").empty()) scan.max_versions = kAllVersions;
  bool is_any = false;
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, OpenScanner(session, named.place, scan));
  CELLFS_RETURN_IF_ERROR(ForEachCell(session, *scanner, [&](Cell&& cell) {
    is_any = true;
    return session.take(RecordOf(std::move(cell), format, scan.raw));
  }));
  return is_any ? Answer::kDone : Answer::kNo;
}

StatusOr<Answer> ServeCount(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const NamedPlace named,
                          NamePlace(session, arguments, Depth::kTable, Depth::kTable,
                                    {fs::PlaceKind::kVersion, fs::PlaceKind::kCounter}));
  Scan scan;
  CELLFS_RETURN_IF_ERROR(ReadQuery(named.place, named.words, arguments, session.Now(), scan));
  CELLFS_RETURN_IF_ERROR(ReadRange(named.place, arguments, scan));
  scan.lengths_only = scan.filter == nullptr;
  if (scan.filter == nullptr && !arguments.Flag("cells")) {
    CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeFirstKeyOnlyFilter());
  }
  CELLFS_ASSIGN_OR_RETURN(
      const int64_t interval,
      arguments.NumberOr("interval", 1, std::numeric_limits<int64_t>::max(), kByTime));
  int64_t rows = 0;
  uint64_t cells = 0;
  auto reported = std::chrono::steady_clock::now();
  std::string row;
  CELLFS_ASSIGN_OR_RETURN(const auto scanner, OpenScanner(session, named.place, scan));
  CELLFS_RETURN_IF_ERROR(ForEachCell(session, *scanner, [&](Cell&& cell) {
    ++cells;
    if (cell.row == row) return true;
    row = std::move(cell.row);
    ++rows;
    if (interval != kByTime) {
      if (rows % interval != 0) return true;
    } else {
      const auto now = std::chrono::steady_clock::now();
      if (now - reported <= kBetweenReports) return true;
      reported = now;
    }
    return session.take({{"rows_so_far", rows}, {"row", row}});
  }));
  json result = {{"rows", rows}};
  if (arguments.Flag("cells")) result["cells"] = cells;
  session.take(std::move(result));
  // A table may be empty; a row or a column that is named may be a mistyped one.
  const bool names_part = !named.place.row.empty() || !scan.columns.empty();
  return cells == 0 && names_part ? Answer::kNo : Answer::kDone;
}

void PrintCount(Printer& printer, const json& record) {
  if (record.contains("rows_so_far")) {
    if (printer.style().terminal)
      fprintf(stderr, "%lu rows, at %s\n", record["rows_so_far"].get<unsigned long>(),
              ShownBytes(record["row"].get<std::string>()).c_str());
    return;
  }
  std::vector<std::string> fields = {std::to_string(record["rows"].get<uint64_t>())};
  if (record.contains("cells")) fields.push_back(std::to_string(record["cells"].get<uint64_t>()));
  printer.Row(std::move(fields));
}

constexpr char kScanWords[] = "TABLE and, if wanted, COLUMN...: as far as the path does not say it";

}  // namespace

const Command kScanCommand{
    .name = "scan",
    .group = Group::kData,
    .summary = "print the cells of a table's rows; 1: there are none",
    .example = "scan ~/m notes --prefix mon -n 10\nscan ~/m/default/notes text:list\n"
               "scan --raw ~/m notes",
    .no = "no such cell is stored",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kScanWords);
          AddRangeOptions(syntax);
          AddQueryOptions(syntax);
          syntax.Flag("--reversed", "reversed", "the last row first; --start is then the largest");
          syntax.Flag("--raw", "raw", "all that is stored, tombstones and hidden versions too");
        },
    .only_reads = true,
    .serve = ServeScan,
    .print = PrintCell,
};

const Command kCountCommand{
    .name = "count",
    .group = Group::kData,
    .summary = "count the rows of a table; 1: a row or column that is named is not there",
    .example = "count ~/m notes",
    .no = "no such row or column is stored",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a path, from which the words go on");
          syntax.Words("WORD", kScanWords);
          AddRangeOptions(syntax);
          AddQueryOptions(syntax);
          syntax.Flag("--cells", "cells", "the cells too");
          syntax.Option("--interval", "interval", "N",
                        "on a terminal, say where it is after each N rows, not each second");
        },
    .only_reads = true,
    .serve = ServeCount,
    .print = PrintCount,
};

}  // namespace cellfs
