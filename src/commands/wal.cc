// SPDX-License-Identifier: MIT
//
// wal: the records of a store's write-ahead log, readable. It reads the files itself, as their owner
// may, and asks no daemon: what a mount's rights close is not told by it to others.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "engine/log_listing.h"
#include "src/commands/all.h"
#include "src/commands/target.h"
#include "src/mount/store_name.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

using nlohmann::json;

// Which records are wanted, and what of them.
struct WalWish {
  std::optional<std::string> table;
  std::optional<std::string> row;
  uint64_t first_sequence = 0;
  uint64_t last_sequence = std::numeric_limits<uint64_t>::max();
  Timestamp from = 0;
  Timestamp to = std::numeric_limits<Timestamp>::max();
  bool values = false;
  bool notes = false;

  bool Wants(const LogEntry& record) const {
    if (table && *table != record.table && *table != "#" + std::to_string(record.table_id))
      return false;
    if (row && *row != record.row) return false;
    return record.sequence_id >= first_sequence && record.sequence_id <= last_sequence;
  }
  bool Wants(const CellView& cell) const { return cell.timestamp >= from && cell.timestamp < to; }
};

std::optional<uint64_t> WholeNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

// "17" or "17..20", either of which may be left out.
Status ReadSequences(const std::string& text, WalWish& wish) {
  const size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
  const auto begin = first.empty() && !last.empty() ? 0 : WholeNumber(first);
  const auto end = last.empty() && !first.empty() ? wish.last_sequence : WholeNumber(last);
  if (!begin || !end || *begin > *end)
    return WrongCall("--sequence is '" + text + "'; it is a sequence id, or FIRST..LAST");
  wish.first_sequence = *begin;
  wish.last_sequence = *end;
  return {};
}

StatusOr<WalWish> ReadWish(const Arguments& arguments) {
  WalWish wish{.values = arguments.Flag("values"), .notes = arguments.Flag("notes")};
  if (arguments.Has("table")) {
    // "default:t" is "t", and "#17" a table that has no name any more.
    const std::string table = arguments.Text("table");
    wish.table = table.starts_with('#') ? table : ParseTableName(table).ToString();
  }
  if (arguments.Has("row")) wish.row = BytesOf(arguments.Text("row"));
  if (arguments.Has("sequence"))
    CELLFS_RETURN_IF_ERROR(ReadSequences(arguments.Text("sequence"), wish));
  CELLFS_ASSIGN_OR_RETURN(const auto from, arguments.Time("from", 0));
  CELLFS_ASSIGN_OR_RETURN(const auto to, arguments.Time("to", 0));
  wish.from = from.value_or(wish.from);
  wish.to = to.value_or(wish.to);
  if (wish.from > wish.to) return WrongCall("--from is later than --to");
  return wish;
}

// STORE/wal/0000000000000001.log names that segment, as it would to HBase's tool.
std::optional<uint64_t> SegmentIn(const std::vector<std::string>& names) {
  constexpr std::string_view kEnding = ".log";
  if (names.size() != 2 || names[0] != "wal" || !names[1].ends_with(kEnding)) return std::nullopt;
  return WholeNumber(std::string_view(names[1]).substr(0, names[1].size() - kEnding.size()));
}

struct WalPlace {
  std::string store;
  std::optional<uint64_t> segment;
  std::string cut_off;  // the name of a file of what was cut off; empty: the log itself
};

// STORE/wal/0000000000000001.log.damaged-1234
std::string CutOffIn(const std::vector<std::string>& names) {
  const bool may_be = names.size() == 2 && names[0] == "wal" &&
                      names[1].find(".log.") != std::string::npos;
  return may_be ? names[1] : "";
}

StatusOr<WalPlace> PlaceOfWal(const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  CELLFS_ASSIGN_OR_RETURN(const StorePath path, FindStore(target));
  WalPlace place{.store = path.store, .segment = SegmentIn(path.names), .cut_off = CutOffIn(path.names)};
  if (!place.segment && place.cut_off.empty()) CELLFS_RETURN_IF_ERROR(FindWholeStore(target).status());
  if (IsRemote(path.store))
    return Status(StatusCode::kUnsupportedOperation,
                  "the log of a cluster or a database lies on its servers; of HBase 'hbase wal FILE' "
                  "reads it there");
  CELLFS_RETURN_IF_ERROR(CheckMayUse(path.store, Use::kReads));
  if (!arguments.Has("segment")) return place;
  place.segment = WholeNumber(arguments.Text("segment"));
  if (!place.segment)
    return WrongCall("--segment is '" + arguments.Text("segment") + "'; it is the number of one");
  return place;
}

// ---- As it is shown -----------------------------------------------------------------------------

std::string ShownTableOf(const LogEntry& record) {
  return record.table.empty() ? "#" + std::to_string(record.table_id) : record.table;
}

std::string ShownPlace(const LogEntry& entry) {
  return std::to_string(entry.segment) + ":" + std::to_string(entry.offset);
}

std::string ShownValueOf(const Printer& printer, const CellView& cell, bool values) {
  constexpr size_t kLongest = 1000;
  if (!values)
    return printer.style().terminal ? ShownSize(cell.value.size()) : std::to_string(cell.value.size());
  if (!printer.style().terminal || cell.value.size() <= kLongest) return ShownBytes(cell.value);
  return ShownBytes(cell.value.substr(0, kLongest)) + "... (" + ShownSize(cell.value.size()) + ")";
}

void PrintRecord(Printer& printer, const LogEntry& record, const WalWish& wish) {
  for (const CellView& cell : record.cells) {
    if (!wish.Wants(cell)) continue;
    const std::string type = LoggedTypeName(cell);
    printer.Row({ShownPlace(record), std::to_string(record.sequence_id),
                 ShownBytes(ShownTableOf(record)), ShownBytes(record.row),
                 ShownColumn(cell.family, cell.qualifier),
                 printer.style().terminal ? ShownTime(cell.timestamp) : std::to_string(cell.timestamp),
                 cell.type == CellType::kPut ? type : printer.In(Colour::kRed, type),
                 ShownValueOf(printer, cell, wish.values)});
  }
}

void PrintEntry(Printer& printer, const LogEntry& entry, const WalWish& wish) {
  switch (entry.kind) {
    case LogEntry::Kind::kRecord:
      return PrintRecord(printer, entry, wish);
    case LogEntry::Kind::kNote:
      return printer.Row({ShownPlace(entry), "note", entry.what});
    case LogEntry::Kind::kUnfinished:
      return printer.Row({ShownPlace(entry), printer.In(Colour::kYellow, "unfinished"), entry.what});
    case LogEntry::Kind::kDamage:
      return printer.Row({ShownPlace(entry), printer.In(Colour::kRed, "damaged"), entry.what});
  }
}

json CellRecord(const CellView& cell, bool values) {
  json record = {{"family", std::string(cell.family)},
                 {"qualifier", std::string(cell.qualifier)},
                 {"timestamp", cell.timestamp},
                 {"type", LoggedTypeName(cell)},
                 {"value_bytes", cell.value.size()}};
  if (cell.time_to_live != kNoCellTtl) record["ttl"] = cell.time_to_live;
  if (values) record["value"] = std::string(cell.value);
  return record;
}

json EntryRecord(const LogEntry& entry, const WalWish& wish) {
  json record = {{"segment", entry.segment}, {"offset", entry.offset}, {"end", entry.end}};
  switch (entry.kind) {
    case LogEntry::Kind::kRecord:
      break;
    case LogEntry::Kind::kNote:
      record["note"] = entry.what;
      return record;
    case LogEntry::Kind::kUnfinished:
      record["unfinished"] = entry.what;
      return record;
    case LogEntry::Kind::kDamage:
      record["damage"] = entry.what;
      return record;
  }
  record["sequence"] = entry.sequence_id;
  record["table_id"] = entry.table_id;
  if (!entry.table.empty()) record["table"] = entry.table;
  record["row"] = std::string(entry.row);
  record["cells"] = json::array();
  for (const CellView& cell : entry.cells)
    if (wish.Wants(cell)) record["cells"].push_back(CellRecord(cell, wish.values));
  return record;
}

bool IsShown(const LogEntry& entry, const WalWish& wish) {
  if (entry.kind == LogEntry::Kind::kNote) return wish.notes;
  if (entry.kind != LogEntry::Kind::kRecord) return true;
  return wish.Wants(entry) && std::any_of(entry.cells.begin(), entry.cells.end(),
                                          [&](const CellView& cell) { return wish.Wants(cell); });
}

StatusOr<int> RunWal(const Front& front, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const WalWish wish, ReadWish(arguments));
  CELLFS_ASSIGN_OR_RETURN(const WalPlace place, PlaceOfWal(arguments));
  Printer& printer = front.printer;
  printer.Head({"at", "sequence", "table", "row", "column", "time", "type",
                wish.values ? "value" : "bytes"});
  bool is_any = false;
  bool is_damaged = false;
  const auto show = [&](const LogEntry& entry) {
    is_damaged |= entry.kind == LogEntry::Kind::kDamage;
    if (!IsShown(entry, wish)) return true;
    is_any |= entry.kind == LogEntry::Kind::kRecord;
    if (printer.style().json) {
      printer.Json(EntryRecord(entry, wish));
    } else {
      PrintEntry(printer, entry, wish);
    }
    return printer.ok();
  };
  CELLFS_RETURN_IF_ERROR(place.cut_off.empty() ? ListLog(place.store, place.segment, show)
                                               : ListCutOffLog(place.store, place.cut_off, show));
  printer.Finish();
  const bool is_filtered = wish.table || wish.row || arguments.Has("sequence") ||
                           arguments.Has("from") || arguments.Has("to");
  if (!is_any && is_filtered)
    fprintf(stderr, "cellfs: %s: no such record is in the log; what was flushed leaves it\n",
            ShownBytes(place.store).c_str());
  return is_damaged || (!is_any && is_filtered) ? kExitNo : kExitDone;
}

}  // namespace

const Command kWalCommand{
    .name = "wal",
    .group = Group::kMaintenance,
    .summary = "print the records of a store's write-ahead log; 1: a part of it is damaged",
    .description =
        "A line for each cell: where its record lies (segment:offset), sequence id, table, row, column, time, type "
        "and how long the value is. What was written and is not in store files yet is there, and for a while what "
        "is. Damage is shown as such, with where whole records go on. What a repair "
        "has cut off (N.log.damaged-OFFSET) is read like a segment. A table that has no name any more is #ID. "
        "The files are read as their owner may, root or who made the store, also beside a daemon; nothing "
        "is changed.",
    .example = "wal ~/store\nwal --table notes --row monday --values ~/store\nwal --sequence 1000.. --json ~/store\nwal "
               "~/store/wal/0000000000000001.log",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store's directory, its mount point, a segment STORE/wal/N.log, or what was cut off one and is "
                        "kept beside it");
          syntax.Option("--table", "table", "TABLE", "of that table alone, or #ID");
          syntax.Option("--row", "row", "ROW", "of that row alone");
          syntax.Option("--sequence", "sequence", "N|N..M", "with those sequence ids");
          syntax.Option("--from", "from", "TIME", "cells with timestamps at or after that time");
          syntax.Option("--to", "to", "TIME", "cells with timestamps before that time");
          syntax.Option("--segment", "segment", "N", "of that segment alone");
          syntax.Flag("--values", "values", "values too, and not only how long they are");
          syntax.Flag("--notes", "notes", "also what segments note of each other and of flushes");
        },
    .is_paged = true,
    .prints_no = true,
    .prints_json = true,
    .only_reads = true,
    .run = RunWal,
};

}  // namespace cellfs
