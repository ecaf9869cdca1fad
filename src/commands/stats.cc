// SPDX-License-Identifier: MIT
//
// stats: what tables hold, family by family: rows, cells, what lies beneath them, how many bytes that
// takes, and the largest rows. All is counted anew, by going through all that is stored.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "src/commands/all.h"
#include "src/commands/cell_kinds.h"
#include "src/commands/named_tables.h"
#include "src/commands/progress.h"
#include "src/commands/target.h"

namespace cellfs {
namespace {

using nlohmann::json;

constexpr int64_t kRowsNamed = 5;
constexpr int64_t kMostRowsNamed = 10000;
constexpr std::chrono::milliseconds kBetweenCounts{500};

// ---- Where the store is -------------------------------------------------------------------------

// What a cell takes, as HBase reckons it (KeyValue): its parts, and 20 bytes for lengths, time, type.
uint64_t SizeOfCell(const Cell& cell) {
  return 20 + cell.row.size() + cell.family.size() + cell.qualifier.size() + cell.value_length;
}

struct Counts {
  uint64_t rows = 0;  // that show something
  uint64_t cells = 0;
  uint64_t versions = 0;
  uint64_t tombstones = 0;
  uint64_t expired = 0;
  uint64_t hidden = 0;
  uint64_t bytes = 0;          // of cells and versions
  uint64_t garbage_bytes = 0;  // of the rest

  void Add(CellKind kind, uint64_t size);
};

void Counts::Add(CellKind kind, uint64_t size) {
  const bool is_live = kind == CellKind::kShown || kind == CellKind::kOlder;
  (is_live ? bytes : garbage_bytes) += size;
  switch (kind) {
    case CellKind::kShown:
      ++cells;
      break;
    case CellKind::kOlder:
      ++versions;
      break;
    case CellKind::kTombstone:
      ++tombstones;
      break;
    case CellKind::kExpired:
      ++expired;
      break;
    case CellKind::kHidden:
      ++hidden;
      break;
  }
}

struct RowSize {
  uint64_t bytes = 0;
  uint64_t cells = 0;  // that are stored
  std::string row;

  // The larger first, of equal ones in their order.
  friend bool operator<(const RowSize& a, const RowSize& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.row < b.row;
  }
};

// The counts of a table, of which cells come one row after the other.
class TableCounts {
 public:
  TableCounts(const TableSchema& schema, size_t rows_named) : rows_named_(rows_named) {
    for (const auto& [name, family] : schema.families) families_[name];
  }

  void Add(const Cell& cell, CellKind kind) {
    if (cell.row != row_.row) BeginRow(cell.row);
    Counts& family = families_[cell.family];
    const uint64_t size = SizeOfCell(cell);
    family.Add(kind, size);
    all_.Add(kind, size);
    row_.bytes += size;
    ++row_.cells;
    if (kind != CellKind::kShown) return;
    if (std::exchange(family_shown_, cell.family) != cell.family) ++family.rows;
    if (!std::exchange(is_row_shown_, true)) ++all_.rows;
  }
  void End() { BeginRow(""); }

  const std::map<std::string, Counts>& families() const { return families_; }
  const Counts& all() const { return all_; }
  const std::set<RowSize>& largest() const { return largest_; }

 private:
  void BeginRow(const std::string& row) {
    if (row_.cells != 0 && rows_named_ != 0) largest_.insert(std::move(row_));
    if (largest_.size() > rows_named_) largest_.erase(std::prev(largest_.end()));
    row_ = RowSize{.row = row};
    family_shown_.clear();
    is_row_shown_ = false;
  }

  const size_t rows_named_;
  std::map<std::string, Counts> families_;
  Counts all_;
  std::set<RowSize> largest_;
  // The row that is gone through.
  RowSize row_;
  std::string family_shown_;  // the last of it that shows something
  bool is_row_shown_ = false;
};

// What the store cannot tell is not there.
json CountsRecord(const Counts& counts, bool keeps_deleted) {
  json record = {{"rows", counts.rows},
                 {"cells", counts.cells},
                 {"versions", counts.versions},
                 {"bytes", counts.bytes}};
  if (!keeps_deleted) return record;
  record.update({{"tombstones", counts.tombstones},
                 {"hidden", counts.hidden},
                 {"expired", counts.expired},
                 {"garbage_bytes", counts.garbage_bytes}});
  return record;
}

json TableRecord(const TableName& table, const TableCounts& counts, bool keeps_deleted) {
  json record = CountsRecord(counts.all(), keeps_deleted);
  record["table"] = table.ToString();
  record["families"] = json::array();
  for (const auto& [name, family] : counts.families()) {
    record["families"].push_back(CountsRecord(family, keeps_deleted));
    record["families"].back()["family"] = name;
  }
  record["largest_rows"] = json::array();
  for (const RowSize& row : counts.largest())
    record["largest_rows"].push_back({{"row", row.row}, {"bytes", row.bytes}, {"cells", row.cells}});
  return record;
}

// Tells from time to time how far the work is.
class Reports {
 public:
  explicit Reports(Session& session, bool are_wanted) : session_(session), are_wanted_(are_wanted) {}

  // Whether anybody still waits.
  bool Take(const Cell& cell) {
    ++cells_;
    bytes_ += SizeOfCell(cell);
    if (!are_wanted_ || cells_ % 1024 != 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kBetweenCounts) return true;
    last_ = now;
    return session_.take({{"progress", {{"cells", cells_}, {"bytes", bytes_}}}});
  }

 private:
  Session& session_;
  const bool are_wanted_;
  uint64_t cells_ = 0;
  uint64_t bytes_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Status CountTable(Session& session, const TableName& table, size_t rows_named,
                  const std::optional<uint64_t>& file_bytes, Reports& reports) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, session.store.DescribeTable(table));
  TableCounts counts(*schema, rows_named);
  bool is_wanted = true;
  CELLFS_RETURN_IF_ERROR(
      ForEachStoredCell(session, *schema, [&](const Cell& cell, CellKind kind) {
        counts.Add(cell, kind);
        return is_wanted = reports.Take(cell);
      }));
  if (!is_wanted) return {StatusCode::kCancelled, "nobody reads the answer"};
  counts.End();
  json record = TableRecord(table, counts, session.store.traits().keeps_deleted);
  if (file_bytes) record["file_bytes"] = *file_bytes;
  session.take(std::move(record));
  return {};
}

// Of tables whose store says it.
std::map<TableName, uint64_t> FileBytes(Session& session) {
  std::map<TableName, uint64_t> bytes;
  if (!session.store.traits().has_statistics) return bytes;
  for (const TableStatistics& table : session.store.GetStatistics().tables)
    bytes[table.table] = table.file_bytes;
  return bytes;
}

// Of all tables those that cannot be read are told, and keep nobody from the others.
bool MayBePassedOver(const Status& status) {
  return status.code() != StatusCode::kCancelled && status.code() != StatusCode::kUnavailable;
}

StatusOr<Answer> ServeStats(Session& session, const Arguments& arguments) {
  CELLFS_ASSIGN_OR_RETURN(const int64_t rows,
                          arguments.NumberOr("rows", 0, kMostRowsNamed, kRowsNamed));
  CELLFS_ASSIGN_OR_RETURN(const auto tables, NamedTables(session, arguments));
  const auto file_bytes = FileBytes(session);
  Reports reports(session, arguments.Flag("progress"));
  bool is_whole = true;
  for (const TableName& table : tables) {
    const auto known = file_bytes.find(table);
    const Status counted =
        CountTable(session, table, static_cast<size_t>(rows),
                   known == file_bytes.end() ? std::nullopt : std::optional(known->second), reports);
    if (counted.ok()) continue;
    if (tables.size() == 1 || !MayBePassedOver(counted)) return counted;
    is_whole = false;
    session.take({{"table", table.ToString()}, {"error", counted.message()}});
  }
  return is_whole ? Answer::kDone : Answer::kNo;
}

// ---- Here ---------------------------------------------------------------------------------------

constexpr uint64_t kLongestBar = 20;

// "#####---": live and garbage, of which the largest fills the bar. What is there at all is shown.
std::string BarOf(const Printer& printer, uint64_t live, uint64_t garbage, uint64_t largest) {
  const auto part = [&](uint64_t bytes) {
    const double length = static_cast<double>(bytes) / static_cast<double>(largest) * kLongestBar;
    return std::max<uint64_t>(1, static_cast<uint64_t>(length));
  };
  std::string bar;
  if (live != 0) bar += printer.In(Colour::kGreen, std::string(part(live), '#'));
  if (garbage != 0) bar += printer.In(Colour::kRed, std::string(part(garbage), '-'));
  return bar;
}

uint64_t FigureIn(const json& record, const char* name) { return record.value(name, uint64_t{0}); }

uint64_t StoredBytesIn(const json& counts) {
  return FigureIn(counts, "bytes") + FigureIn(counts, "garbage_bytes");
}

std::string CountIn(const json& counts, const char* name) {
  return counts.contains(name) ? std::to_string(FigureIn(counts, name)) : "?";
}

std::string SizeIn(const Printer& printer, const json& counts, const char* name) {
  if (!counts.contains(name)) return "?";
  const uint64_t bytes = FigureIn(counts, name);
  return printer.style().terminal ? ShownSize(bytes) : std::to_string(bytes);
}

void PrintFamily(Printer& printer, const std::string& table, const std::string& family,
                 const json& counts, uint64_t largest) {
  std::vector<std::string> fields;
  if (!printer.style().terminal) fields.push_back(ShownBytes(table));
  fields.push_back(family);
  for (const char* name : {"rows", "cells", "versions", "tombstones", "hidden", "expired"})
    fields.push_back(CountIn(counts, name));
  for (const char* name : {"bytes", "garbage_bytes"})
    fields.push_back(SizeIn(printer, counts, name));
  if (printer.style().terminal && largest != 0)
    fields.push_back(
        BarOf(printer, FigureIn(counts, "bytes"), FigureIn(counts, "garbage_bytes"), largest));
  printer.Row(std::move(fields));
}

void PrintFamilyCounts(Printer& printer, const json& record) {
  uint64_t largest = 0;
  for (const json& family : record["families"]) largest = std::max(largest, StoredBytesIn(family));
  printer.Head({"family", "rows", "cells", "versions", "tombstones", "hidden", "expired", "live",
                "garbage", "# live - garbage"});
  const std::string table = record["table"];
  for (const json& family : record["families"])
    PrintFamily(printer, table, ShownBytes(family["family"].get<std::string>()), family, largest);
  if (record["families"].size() != 1) PrintFamily(printer, table, "all", record, /*largest=*/0);
}

// For people alone; programs have --json.
void PrintLargestRows(Printer& printer, const json& record) {
  const json& rows = record["largest_rows"];
  if (rows.empty()) return;
  printer.Line("");
  printer.Head({"largest rows", "cells stored", "bytes"});
  const uint64_t largest = rows.front()["bytes"];
  for (const json& row : rows) {
    const uint64_t bytes = row["bytes"];
    printer.Row({ShownBytes(row["row"].get<std::string>()), row["cells"].dump(), ShownSize(bytes),
                 BarOf(printer, bytes, 0, largest)});
  }
}

void PrintStats(Printer& printer, const json& record) {
  if (record.contains("error")) {
    printer.Finish();
    fprintf(stderr, "cellfs: %s: not counted: %s\n",
            ShownBytes(record["table"].get<std::string>()).c_str(),
            record["error"].get<std::string>().c_str());
    return;
  }
  if (!printer.style().terminal) return PrintFamilyCounts(printer, record);
  std::string head =
      printer.In(Colour::kBold, ShownBytes(record["table"].get<std::string>())) + ": " +
      CountIn(record, "rows") + (FigureIn(record, "rows") == 1 ? " row" : " rows");
  if (record.contains("file_bytes")) head += ", " + ShownSize(record["file_bytes"]) + " in files";
  printer.Line(head);
  if (!record.contains("garbage_bytes"))
    printer.Line("the database keeps nothing of what was deleted, and does not tell what is expired");
  PrintFamilyCounts(printer, record);
  PrintLargestRows(printer, record);
  printer.Line("");
}

StatusOr<int> RunStats(const Front& front, const Arguments& arguments) {
  json sent = arguments.values();
  if (isatty(STDERR_FILENO) != 0) sent["progress"] = true;
  CELLFS_ASSIGN_OR_RETURN(const auto access,
                          front.Open(arguments.Text("target"), sent, /*only_reads=*/true));
  Progress progress(/*total_bytes=*/0);
  const auto take = [&](json record) {
    if (record.contains("progress")) {
      progress.Show(record["progress"]["cells"], record["progress"]["bytes"]);
      return front.printer.ok();
    }
    progress.Clear();
    if (front.printer.style().json) {
      front.printer.Json(record);
    } else {
      PrintStats(front.printer, record);
    }
    front.printer.Finish();
    return front.printer.ok();
  };
  CELLFS_ASSIGN_OR_RETURN(const Answer answer, access->Call("stats", sent, take));
  return ExitCodeOf(answer);
}

}  // namespace

const Command kStatsCommand{
    .name = "stats",
    .group = Group::kMaintenance,
    .summary = "count rows, cells, versions, garbage and bytes by table and family",
    .description =
        "Goes through all that is stored and counts, of each family: rows that show something, cells that a "
        "read shows, versions beneath them, tombstones, puts that these or VERSIONS hide, puts whose time to "
        "live is over; the bytes of what can be read (live), and of the rest (garbage), which a "
        "compaction frees as far as the family does not keep it; and the largest rows. Bytes are those "
        "of HBase's KeyValue, before compression. Counted is what its caller may read. Of a database "
        "only what reads see is known.",
    .example = "stats ~/m\nstats ~/m notes --rows 20\nstats --json hbase://master1:16000/ web:pages",
    .syntax =
        [](Syntax& syntax) {
          syntax.Target("a store, a mount point, a namespace or a table");
          syntax.Words("TABLE", "a table alone, if the path is not one's");
          syntax.Option("--rows", "rows", "N", "as many of the largest rows; 5, 0: none");
        },
    .only_reads = true,
    .serve = ServeStats,
    .run = RunStats,
};

}  // namespace cellfs
