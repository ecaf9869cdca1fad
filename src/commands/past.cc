// SPDX-License-Identifier: MIT
#include "src/commands/past.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "src/commands/target.h"
#include "src/commands/unified_diff.h"
#include "src/daemon/json_text.h"
#include "src/history/dropped_tables.h"
#include "src/history/log.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Of longer ones the sizes are told: to compare them line by line may take for ever.
constexpr size_t kLongestText = size_t{1} << 20;

Colour ColourOfLine(std::string_view line) {
  if (line.starts_with("@@")) return Colour::kCyan;
  if (line.starts_with("+++") || line.starts_with("---")) return Colour::kBold;
  if (line.starts_with('+')) return Colour::kGreen;
  return line.starts_with('-') ? Colour::kRed : Colour::kNone;
}

std::string LabelOf(const json& record, const json& side) {
  if (side.is_null()) return "/dev/null";
  return ShownKey(record) + "\t" + ShownTime(side["timestamp"].get<Timestamp>());
}

const std::string& ValueIn(const json& side) {
  static const std::string nothing;
  const auto found = side.is_null() ? side.end() : side.find("value");
  return found == side.end() ? nothing : found->get_ref<const std::string&>();
}

bool IsClosed(const json& side) { return !side.is_null() && side.contains("closed"); }

bool IsShownByLines(const json& side) {
  const std::string& value = ValueIn(side);
  return !IsClosed(side) && value.size() <= kLongestText && IsPlainText(value);
}

// To the byte, where they would look alike.
std::string SizesOf(const json& before, const json& after) {
  const bool is_any_closed = IsClosed(before) || IsClosed(after);
  if (!is_any_closed && before["size"] == after["size"])
    return ShownSizeOf(after) + " of other bytes";
  if (is_any_closed || ShownSizeOf(before) != ShownSizeOf(after))
    return ShownSizeOf(before) + " -> " + ShownSizeOf(after);
  return std::to_string(before["size"].get<uint64_t>()) + " B -> " +
         std::to_string(after["size"].get<uint64_t>()) + " B";
}

}  // namespace

StatusOr<Scope> ScopeOf(const Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const fs::Place place, PlaceOf(session, arguments));
  if (place.table.name.empty()) {
    return Status(StatusCode::kIllegalArgument,
                  ShownPath(arguments) + " is no table, nor in one; name the path of one: "
                  "STORE|MOUNT/namespace/table/row/family/qualifier");
  }
  Scope scope{.table = place.table, .row = {}, .family = {}, .qualifier = {}};
  if (!place.row.empty()) scope.row = place.row;
  if (!place.family.empty()) scope.family = place.family;
  using enum fs::PlaceKind;
  switch (place.kind) {
    case kCell:
    case kVersionsColumn:
    case kDeletedCell:
    case kCounter:
      scope.qualifier = place.qualifier;
      CELLFS_RETURN_IF_ERROR(session.store.CheckMayRead(
          session.caller, fs::CellPlace(place.table, place.row, place.family, place.qualifier)));
      return scope;
    case kTable:
    case kRow:
    case kFamily:
      CELLFS_RETURN_IF_ERROR(session.store.CheckMayRead(session.caller, place));
      return scope;
    case kDeletedRow:
    case kDeletedFamily:
      CELLFS_RETURN_IF_ERROR(session.store.CheckMayRead(session.caller, place.DataDirectory()));
      return scope;
    case kVersionsDirectory:
    case kCountersDirectory:
    case kDeletedDirectory:
      return Status(StatusCode::kIllegalArgument,
                    ShownPath(arguments) + " is no cell, row, family or table; name the family, or a "
                                       "name in it");
    default:
      return Status(StatusCode::kIllegalArgument,
                    ShownPath(arguments) + " is no cell, row, family or table; of a single version tells "
                                       "'cellfs get'");
  }
}

HistoryAccess AccessOf(const Session& session) {
  return {session.store, session.caller, *session.filesystem.parts().clock, session.cancelled};
}

json KeyOf(const Cell& cell) {
  return {{"row", cell.row}, {"family", cell.family}, {"qualifier", cell.qualifier}};
}

json SideOf(std::optional<Cell>&& cell, ValueDetail detail) {
  if (!cell) return nullptr;
  json side = {{"timestamp", cell->timestamp}, {"size", cell->value_length}};
  if (detail == ValueDetail::kLengths) return side;
  if (HasValue(*cell)) {
    side["value"] = std::move(cell->value);
  } else {
    side["closed"] = true;
  }
  return side;
}

std::string ShownSizeOf(const json& side) {
  return ShownSize(side["size"].get<uint64_t>()) + (IsClosed(side) ? " (closed to you)" : "");
}

std::string ShownKey(const json& record) {
  const std::string table = record.value("table", "");
  return (table.empty() ? "" : table + " ") + ShownBytes(record["row"].get<std::string>()) + " " +
         ShownColumn(record["family"].get<std::string>(), record["qualifier"].get<std::string>());
}

void PrintChange(Printer& printer, const json& record) {
  const json& before = record["before"];
  const json& after = record["after"];
  if (before.is_null()) {
    printer.Row({printer.In(Colour::kGreen, "+"), ShownKey(record), ShownSizeOf(after)});
  } else if (after.is_null()) {
    printer.Row({printer.In(Colour::kRed, "-"), ShownKey(record), ShownSizeOf(before)});
  } else {
    printer.Row({printer.In(Colour::kYellow, "~"), ShownKey(record), SizesOf(before, after)});
  }
}

void PrintDifference(Printer& printer, const json& record) {
  const json& before = record["before"];
  const json& after = record["after"];
  const auto text = IsShownByLines(before) && IsShownByLines(after)
                        ? UnifiedDiff({LabelOf(record, before), ValueIn(before)},
                                      {LabelOf(record, after), ValueIn(after)})
                        : std::nullopt;
  // An empty value that came or went has no lines.
  if (!text || text->empty()) {
    PrintChange(printer, record);
    return;
  }
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);)
    printer.Line(printer.In(ColourOfLine(line), line));
}

CatalogAt CatalogAtOf(const Session& session) {
  Store& store = session.filesystem.parts().store;
  if (!store.traits().tells_past_catalog) return nullptr;
  return [&store](Timestamp time) { return store.CatalogAt(time); };
}

Status CheckIsThatOf(const Session& session, const Scope& scope, Timestamp time) {
  const HistoryAccess access = AccessOf(session);
  CELLFS_RETURN_IF_ERROR(CheckHadItsName(access, CatalogAtOf(session), scope.table, time));
  return CheckIsNotDropped(access, CatalogAtOf(session), scope, time, time);
}

std::string ShownColumns(const ToldColumns& columns) {
  std::string text =
      columns.count == 1 ? "a column" : std::to_string(columns.count) + " columns";
  std::string named;
  for (const ToldColumn& column : columns.first) {
    named += (named.empty() ? "" : ", ") + ShownBytes(column.row) + " " +
             (column.qualifier ? ShownColumn(column.family, *column.qualifier)
                               : ShownBytes(column.family) + ":...");
  }
  if (columns.count > columns.first.size()) named += ", ...";
  return text + " (" + named + ")";
}

std::string Explained(const Unknown& unknown) {
  std::string text = "what it was then cannot be known";
  if (unknown.columns.count > 0) text += " of " + ShownColumns(unknown.columns);
  for (const auto& [of, family] : unknown.families)
    text += "; " + family.reason;
  return text;
}

json UnknownRecord(const Unknown& unknown) { return {{"unknown", Explained(unknown)}}; }

void TakeIfNotThere(Session& session, const Scope& scope, Timestamp time) {
  const StoreKnowledge knowledge = StoreKnowledge::Ask(session.store, scope.table);
  if (!knowledge.WasNotThere(time)) return;
  session.take({{"not_there", "the table was not there then"}, {"made", knowledge.MadeAfter(time)}});
}

Answer TakeNothing(Session& session, const char* reason) {
  session.take({{"nothing", reason}});
  return Answer::kNo;
}

bool PrintRemark(Printer& printer, const json& record) {
  std::string line;
  for (const char* const kind : {"unknown", "not_there", "passed_over", "not_restored"})
    if (record.contains(kind)) line = record[kind].get<std::string>();
  if (record.contains("made"))  // in the zone of who reads it
    line += ": it was made at " + ShownTime(record["made"].get<Timestamp>());
  if (record.contains("nothing")) {
    line = ShownBytes(record["target"].get_ref<const std::string&>()) + ": " +
           record["nothing"].get<std::string>();
  }
  if (line.empty()) return false;
  printer.Finish();
  fprintf(stderr, "cellfs: %s\n", line.c_str());
  return true;
}

StatusOr<bool> IsStored(const HistoryAccess& access, const Scope& scope) {
  bool is_any = false;
  CELLFS_RETURN_IF_ERROR(ReadLog(access, scope, {.limit = 1}, [&](const Event&) {
    is_any = true;
    return false;
  }));
  return is_any;
}

StatusOr<int> RunForTargets(const Front& front, const Arguments& arguments,
                            const Command& command) {
  int code = kExitDone;
  for (const std::string& target : arguments.Texts("targets")) {
    CELLFS_ASSIGN_OR_RETURN(const Answer answer,
                            CallAndPrint(front, command, target, arguments.values()));
    code = std::max(code, ExitCodeOf(answer));
  }
  return code;
}

}  // namespace cellfs
