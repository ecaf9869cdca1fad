// SPDX-License-Identifier: MIT
//
// show: a cell, or the cells of a row, a family or a table, as they were at a time.
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cells.h"
#include "src/commands/past.h"
#include "src/commands/target.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr char kAlone[] = "alone";

// Of what he may not read he is told what a listing of its versions tells.
json RecordOfClosed(Cell&& cell) {
  json record = KeyOf(cell);
  record.update(SideOf(std::move(cell), ValueDetail::kValues));
  return record;
}

Status Closed(const json& record) {
  return {StatusCode::kAccessDenied,
          "what it was then you may not read: version " +
              std::to_string(record["timestamp"].get<Timestamp>()) + ", " +
              ShownSize(record["size"].get<uint64_t>()) +
              ", is of another's file, which had that name"};
}

StatusOr<Answer> ServeShow(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const Scope scope, ScopeOf(session, arguments));
  CELLFS_ASSIGN_OR_RETURN(const ValueFormat format, FormatOf(arguments, place));
  const HistoryAccess access = AccessOf(session);
  CELLFS_ASSIGN_OR_RETURN(const HistoryTime at, arguments.Time("at", session.Now()));
  if (at) CELLFS_RETURN_IF_ERROR(CheckIsThatOf(session, scope, *at));
  const bool is_cell = scope.qualifier.has_value();
  bool is_any = false;
  Status closed;
  CELLFS_RETURN_IF_ERROR(
      ReadState(access, scope, at, ValueDetail::kValues, [&](Cell&& cell) {
        is_any = true;
        if (!HasValue(cell)) {
          json record = RecordOfClosed(std::move(cell));
          if (!is_cell) return session.take(std::move(record));
          closed = Closed(record);
          return false;
        }
        json record = RecordOf(std::move(cell), format);
        if (is_cell) record[kForPrint] = kAlone;
        return session.take(std::move(record));
      }));
  CELLFS_RETURN_IF_ERROR(closed);
  const bool may_be_unknown = at && *at <= session.Now();
  if (!may_be_unknown || (is_any && is_cell)) return is_any ? Answer::kDone : Answer::kNo;
  CELLFS_ASSIGN_OR_RETURN(const Unknown unknown, FindUnknown(access, scope, *at));
  if (unknown.empty() && !is_any) TakeIfNotThere(session, scope, *at);
  if (unknown.empty()) return is_any ? Answer::kDone : Answer::kNo;
  return Status(StatusCode::kUnavailable, Explained(unknown));
}

// The bytes of a cell alone are what was in the file.
void PrintShow(Printer& printer, const json& record) {
  if (PrintRemark(printer, record)) return;
  if (record.contains("closed")) {
    printer.Row({ShownBytes(record["row"].get<std::string>()),
                 ShownColumn(record["family"].get<std::string>(),
                             record["qualifier"].get<std::string>()),
                 std::to_string(record["timestamp"].get<Timestamp>()), ShownSizeOf(record)});
  } else if (record.contains(kForPrint) && !record.contains("shown")) {
    printer.Bytes(record["value"].get_ref<const std::string&>());
  } else {
    PrintCell(printer, record);
  }
}

}  // namespace

const Command kShowCommand{
    .name = "show",
    .group = Group::kHistory,
    .summary = "print a cell, or what is in a row or table, as it was; 1: nothing was",
    .description =
        "Of a cell its bytes; of a row, a family or a table what was in it. Versions and deletes "
        "with timestamps up to TIME count. Exits with 3, and says why, where a part of it cannot be "
        "known any more, or of a cell alone where it was another's, and the caller may not read it.",
    .example = "show --at -2h ~/m/default/notes/monday/text/list\n"
               "show --at yesterday ~/m/default/notes/monday",
    .no = "nothing is stored there, or was then",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a cell, a row, a family or a table");
          syntax.Option("--at", "at", "TIME", "as it was then; else as it is");
          syntax.Option("--format", "format", "FORMAT", "values as text, hex or long (8 bytes)");
        },
    .is_paged = true,
    .only_reads = true,
    .serve = ServeShow,
    .print = PrintShow,
};

}  // namespace cellfs
