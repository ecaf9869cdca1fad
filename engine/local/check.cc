// SPDX-License-Identifier: MIT
#include "engine/check.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/local/local_check.h"
#include "engine/local/log_format.h"
#include "engine/local/rest_lock.h"
#include "engine/local/sqlite_cursor.h"
#include "engine/local/store_directory.h"
#include "engine/local/store_file.h"
#include "engine/region/catalog_json.h"

namespace cellfs {
namespace {

constexpr size_t kMostDamage = 1000;

class StoreCheck {
 public:
  StoreCheck(FileLayer& files, std::string directory)
      : files_(files), directory_(std::move(directory)), rest_lock_(directory_) {}

  StatusOr<CheckReport> Run() {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    Catalog catalog;
    StatusOr<Catalog> loaded = LoadTables();
    if (loaded.ok()) {
      catalog = *std::move(loaded);
    } else {
      Add({.file = "CATALOG", .what = loaded.status().message()});
    }
    CELLFS_RETURN_IF_ERROR(CheckLog(!catalog.tables.empty()));
    for (const auto& [name, table] : catalog.tables) CheckTable(name, table);
    return std::move(report_);
  }

 private:
  StatusOr<Catalog> LoadTables() {
    CELLFS_ASSIGN_OR_RETURN(const std::string bytes, ReadCatalog(files_, directory_));
    return DecodeCatalog(bytes);
  }

  // What a look at the log has found. `place` is the same wherever the same is found again.
  struct LogFinding {
    std::string place;
    Damage damage;
  };

  void Add(Damage damage) {
    if (report_.damage.size() < kMostDamage) report_.damage.push_back(std::move(damage));
  }
  bool Exists(const std::string& file) const {
    return std::filesystem::exists(directory_ + "/" + file);
  }

  // ---- The log ----------------------------------------------------------------------------------

  // A store that is open writes to its log meanwhile, begins segments and cuts others. What seems
  // damaged because of that is so for one look only: cut segments are not listed again, and what
  // was being written is whole. So damage is what two looks, one behind the other, both find.
  Status CheckLog(bool must_exist) {
    CELLFS_RETURN_IF_ERROR(LookAtLog(must_exist));
    if (found_in_log_.empty()) return {};
    const std::vector<LogFinding> before = std::exchange(found_in_log_, {});
    CELLFS_RETURN_IF_ERROR(LookAtLog(must_exist));
    for (LogFinding& finding : found_in_log_) {
      const bool again = std::any_of(before.begin(), before.end(), [&](const LogFinding& other) {
        return other.place == finding.place;
      });
      if (again) Add(std::move(finding.damage));
    }
    return {};
  }

  void AddToLog(const std::string& file, const std::string& place, std::string what) {
    if (found_in_log_.size() < kMostDamage)
      found_in_log_.push_back({file + " " + place, {.file = file, .what = std::move(what)}});
  }

  Status LookAtLog(bool must_exist) {
    report_.log_records = 0;
    first_segment_ = 0;
    next_is_on_disk_ = false;
    older_.clear();
    CELLFS_ASSIGN_OR_RETURN(const auto names, files_.List(directory_ + "/wal"));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names)
      if (const auto number = ParseSegmentName(name)) numbers.push_back(*number);
    if (numbers.empty() && must_exist) AddToLog("wal", "", "the log has no segment");
    LogPosition end = 0;  // of the segment before; 0: not known
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0 && numbers[i] != numbers[i - 1] + 1) {
        AddMissing(numbers[i - 1] + 1);
        end = 0;
      }
      if (i == 0) first_segment_ = numbers[i];
      CheckSegment(numbers[i], numbers[i] == numbers.back(), &end);
    }
    return {};
  }

  void AddMissing(uint64_t number) {
    AddToLog("wal/" + SegmentName(number), "missing", "it is missing");
  }

  void CheckSegment(uint64_t number, bool newest, LogPosition* end) {
    const std::string file = "wal/" + SegmentName(number);
    const auto bytes = files_.Read(directory_ + "/" + file);
    if (!bytes.ok()) {
      // A store that is open cuts its log.
      if (Exists(file)) AddToLog(file, "unreadable", bytes.status().message());
      *end = 0;
      return;
    }
    const bool begins_log = number == first_segment_;
    const SegmentHeader expected{.number = number, .base = *end, .store_id = store_id_};
    if (newest && (!begins_log || number == 1) && IsUnbegun(*bytes, expected)) {  // just begun
      if (next_is_on_disk_) AddToLog(file, "header", "the header is missing");
      return;
    }
    const auto header = DecodeSegmentHeader(*bytes);
    if (!header || header->number != number || header->format_version != kLogFormatVersion ||
        header->store_id != store_id_) {
      AddToLog(file, "header",
               "the header is damaged, or not of this segment, or of another store");
      *end = 0;
      return;
    }
    if (*end != 0 && header->base != *end)
      AddToLog("wal/" + SegmentName(number - 1), "end",
               "it ends at position " + std::to_string(*end) +
                   " of the log, and the next segment begins at " + std::to_string(header->base));
    *end = header->base + CheckRecords(number, *bytes, header->base, newest);
  }

  // Answers where the records end.
  size_t CheckRecords(uint64_t number, std::string_view bytes, LogPosition base, bool newest) {
    const std::string file = "wal/" + SegmentName(number);
    std::vector<CellView> cells;
    size_t offset = kSegmentHeaderSize;
    while (offset < bytes.size()) {
      const auto found = FindRecord(bytes.substr(offset), base + offset);
      const std::string_view record = bytes.substr(offset, found ? found->size : 0);
      const auto note = found ? DecodeNote(record) : std::nullopt;
      if (note && note->ends_segment) break;
      if (note && number == first_segment_ && offset == kSegmentHeaderSize) older_ = note->older;
      if (found && (note || DecodeRecord(record, &cells))) {
        if (!note) ++report_.log_records;
        offset += found->size;
        continue;
      }
      if (!found && TailOf(bytes, offset, base) != LogTail::kDamaged) break;
      const size_t next = std::min(FindNextRecord(bytes, offset + 1, base), bytes.size());
      AddToLog(file, std::to_string(offset),
               "what lies from offset " + std::to_string(offset) + " to " + std::to_string(next) +
                   " " + std::string(newest ? kDamagedTail : "is not what was written"));
      offset = next;
    }
    next_is_on_disk_ = TailOf(bytes, offset, base) == LogTail::kEnd;
    if (newest && next_is_on_disk_ && !Exists("wal/" + SegmentName(number + 1)))
      AddMissing(number + 1);
    return offset;
  }

  // ---- Store files ------------------------------------------------------------------------------

  // A store that is open may drop or alter the table meanwhile: then what was found does not count.
  void CheckTable(const TableName& name, const CatalogTable& table) {
    const size_t known = report_.damage.size();
    place_ = {.file = "tables/" + std::to_string(table.id) + ".db", .what = {}, .table = name};
    const Status status = CheckStoreFile(*table.schema, table.id);
    if (status.ok() && report_.damage.size() == known) return;
    const std::optional<CatalogTable> now = TableNow(name, table);
    const bool is_dropped = !now.has_value();
    if (is_dropped || !HasSameFamilies(*now->schema, *table.schema)) {
      report_.damage.resize(known);
      return is_dropped ? void() : CheckTable(name, *now);
    }
    if (status.ok()) return;
    place_.what = Exists(place_.file) ? status.message() : "it is missing";
    Add(place_);
  }

  // As the catalog has it by now; none where it was dropped.
  std::optional<CatalogTable> TableNow(const TableName& name, const CatalogTable& table) {
    const StatusOr<Catalog> now = LoadTables();
    if (!now.ok()) return table;
    const auto found = now->tables.find(name);
    if (found == now->tables.end() || found->second.id != table.id) return std::nullopt;
    return found->second;
  }

  static bool HasSameFamilies(const TableSchema& a, const TableSchema& b) {
    return std::equal(a.families.begin(), a.families.end(), b.families.begin(), b.families.end(),
                      [](const auto& one, const auto& other) { return one.first == other.first; });
  }

  Status CheckIsComplete(Database& database, TableId id) {
    const auto needed = older_.find(id);
    if (needed == older_.end()) return {};
    CELLFS_ASSIGN_OR_RETURN(const SequenceId flushed, ReadFlushed(database));
    return CheckHasFlushed(database.path(), flushed, needed->second,
                           SegmentName(first_segment_ - 1));
  }

  Status CheckStoreFile(const TableSchema& schema, TableId id) {
    CELLFS_ASSIGN_OR_RETURN(
        std::unique_ptr<Database> database,
        Database::Open(directory_ + "/" + place_.file,
                       rest_lock_.at_rest() ? Database::Mode::kAtRest : Database::Mode::kOpen));
    CELLFS_RETURN_IF_ERROR(CheckIsStoreFile(*database, {store_id_, id}));
    CELLFS_RETURN_IF_ERROR(CheckIsComplete(*database, id));
    CELLFS_RETURN_IF_ERROR(database->Execute(
        "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cell_size_check = ON;"));
    CELLFS_RETURN_IF_ERROR(CheckPages(*database));
    for (const auto& [family, attributes] : schema.families) {
      place_.family = family;
      CELLFS_RETURN_IF_ERROR(CheckCells(*database));
    }
    return {};
  }

  Status CheckPages(Database& database) {
    CELLFS_ASSIGN_OR_RETURN(Statement statement, database.Prepare("PRAGMA integrity_check(100)"));
    for (;;) {
      const StatusOr<bool> row = statement.Step();
      if (row.ok() && !*row) return {};
      Damage damage = place_;
      damage.what = row.ok() ? std::string(statement.Bytes(0)) : row.status().message();
      if (damage.what == "ok") continue;
      std::replace(damage.what.begin(), damage.what.end(), '\n', ' ');
      Add(std::move(damage));
      if (!row.ok()) return {};  // the walk over the cells may get farther
    }
  }

  Status CheckCells(Database& database) {
    FreeReaders free;
    SqliteCursor cursor(std::make_unique<FamilyReader>(database, place_.family), free,
                        kMaxSequenceId, /*lengths_only=*/false);
    Cell last;
    for (Status status = cursor.Seek({}); !status.ok() || cursor.valid(); status = cursor.Next()) {
      if (!status.ok() && !cursor.valid()) {
        if (!SkipDamagedPages(database, status, last, cursor)) return {};
      } else {
        if (status.ok()) status = cursor.LoadValue();
        if (!status.ok()) AddCell(status, cursor.cell());
      }
      ++report_.cells;
      last = CopyOf(cursor.cell());
    }
    return {};
  }

  void AddCell(const Status& status, const CellView& cell) {
    Damage damage = place_;
    damage.what = status.message();
    damage.cell = CopyOf(cell);
    damage.cell->value.clear();
    Add(std::move(damage));
  }

  // Comes from the end to where it cannot go on either. What lies between several damaged pages is
  // not looked at. False: there is nothing behind the damage.
  bool SkipDamagedPages(Database& database, const Status& status, const Cell& before,
                        SqliteCursor& cursor) {
    Damage damage = place_;
    damage.what = status.message();
    const Cell behind = LastReachable(database);
    damage.between_rows = {before.row, behind.row};
    Add(std::move(damage));
    if (behind.row.empty() || CompareInFamily(ViewOf(behind), ViewOf(before)) <= 0) return false;
    return cursor.Seek({behind.row, behind.qualifier, behind.timestamp}).ok() && cursor.valid();
  }

  Cell LastReachable(Database& database) {
    Cell reached;
    auto statement =
        database.Prepare("SELECT K, Q, T FROM " + QuotedName(CellTableName(place_.family)) +
                         " ORDER BY K DESC, Q DESC, T DESC, Y DESC, S DESC");
    if (!statement.ok()) return reached;
    for (;;) {
      const StatusOr<bool> row = statement->Step();
      if (!row.ok() || !*row) return reached;
      reached.row = statement->Bytes(0);
      reached.qualifier = statement->Bytes(1);
      reached.timestamp = -statement->Integer(2);
    }
  }

  FileLayer& files_;
  const std::string directory_;
  const RestLock rest_lock_;
  uint64_t store_id_ = 0;
  uint64_t first_segment_ = 0;
  bool next_is_on_disk_ = false;  // as the segment that was read last says
  std::vector<LogFinding> found_in_log_;
  OlderCells older_;  // what the log had before its first segment
  Damage place_;      // what is looked at, for what is found there
  CheckReport report_;
};

}  // namespace

StatusOr<CheckReport> CheckLocalStore(const std::string& directory) {
  return CheckLocalStore(PosixFiles(), directory);
}

StatusOr<CheckReport> CheckLocalStore(FileLayer& files, const std::string& directory) {
  return StoreCheck(files, directory).Run();
}

}  // namespace cellfs
