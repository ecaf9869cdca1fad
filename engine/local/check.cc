// SPDX-License-Identifier: MIT
#include "engine/check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "engine/catalog/catalog_json.h"
#include "engine/catalog/emptied.h"
#include "engine/file/store_file_cursor.h"
#include "engine/file/stored_facts.h"
#include "engine/local/local_check.h"
#include "engine/local/lost_tables.h"
#include "engine/local/manifest.h"
#include "engine/local/store_directory.h"
#include "engine/local/unnamed_files.h"
#include "engine/log/cut_off_log.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"

namespace cellfs {
namespace {

constexpr size_t kMostDamage = 1000;

class StoreCheck {
 public:
  StoreCheck(FileLayer& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  StatusOr<CheckReport> Run() {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    Catalog catalog;
    StatusOr<Catalog> loaded = LoadTables();
    if (loaded.ok()) {
      catalog = *loaded;
    } else {
      Add({.file = "CATALOG", .what = loaded.status().message()});
    }
    CELLFS_RETURN_IF_ERROR(CheckLog(!catalog.tables.empty() || !catalog.dropped_tables.empty()));
    CELLFS_RETURN_IF_ERROR(CheckForCutOff());
    CheckReserve();
    for (const auto& [name, table] : catalog.tables) {
      dropped_families_ = DroppedFamilies(catalog, name);
      CheckTable(name, table);
    }
    for (const CatalogDroppedTable& dropped : catalog.dropped_tables) {
      dropped_families_ = DroppedFamilies(dropped);
      CheckTable(dropped.table.schema->name(), dropped.table);
    }
    if (loaded.ok()) CheckForLostTables();
    return std::move(report_);
  }

 private:
  StatusOr<Catalog> LoadTables() {
    CELLFS_ASSIGN_OR_RETURN(const SavedCatalog saved, ReadCatalog(files_, directory_));
    return DecodeCatalog(saved);
  }

  // What a look at the log has found. `place` is the same wherever the same is found again.
  struct LogFinding {
    std::string place;
    Damage damage;
  };

  void Add(Damage damage) {
    if (report_.damage.size() < kMostDamage) report_.damage.push_back(std::move(damage));
  }
  // What cannot be looked at is there, and damaged.
  bool Exists(const std::string& file) {
    const StatusOr<bool> exists = files_.Exists(directory_ + "/" + file);
    return !exists.ok() || *exists;
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
    marks_.clear();
    logged_.clear();
    families_.clear();
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

  void NoteRecord(const LogRecord& record) {
    ++report_.log_records;
    SequenceId& highest = logged_[record.table_id];
    highest = std::max(highest, record.sequence_id);
    for (const CellView& cell : record.cells)
      families_[record.table_id].insert_or_assign(std::string(cell.family), record.sequence_id);
  }

  // Answers where the records end.
  size_t CheckRecords(uint64_t number, std::string_view bytes, LogPosition base, bool newest) {
    const std::string file = "wal/" + SegmentName(number);
    std::vector<CellView> cells;
    size_t offset = kSegmentHeaderSize;
    marks_.clear();  // each segment says itself what is so
    while (offset < bytes.size()) {
      const auto found = FindRecord(bytes.substr(offset), base + offset);
      const std::string_view record = bytes.substr(offset, found ? found->size : 0);
      const auto note = found ? DecodeNote(record) : std::nullopt;
      if (note && note->kind == LogNote::Kind::kEndOfSegment) break;
      if (note && number == first_segment_ && !note->older.empty()) older_ = note->older;
      if (note) note->ApplyTo(&marks_);
      const auto decoded = found && !note ? DecodeRecord(record, &cells) : std::nullopt;
      if (note || decoded) {
        if (decoded) NoteRecord(*decoded);
        offset += found->size;
        continue;
      }
      const LogTail tail = found ? LogTail::kDamaged : TailOf(bytes, offset, base);
      if (tail == LogTail::kTorn) AddTorn(file, bytes, offset, base);
      if (tail != LogTail::kDamaged) break;
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

  // A torn end is no damage: a crash leaves it. But nobody can say that of one before whole records.
  void AddTorn(const std::string& file, std::string_view bytes, size_t offset, LogPosition base) {
    if (const size_t records = CountRecords(bytes, offset, base); records != 0)
      AddToLog(file, std::to_string(offset), DescribeTornBeforeRecords(offset, records));
  }

  Status CheckForCutOff() {
    const std::string log = directory_ + "/wal";
    CELLFS_ASSIGN_OR_RETURN(const auto names, FindCutOff(files_, log));
    for (const std::string& name : names)
      Add({.file = "wal/" + name, .what = DescribeCutOff(log, name)});
    return {};
  }

  // It may be missing, and short: it is filled when there is room.
  void CheckReserve() {
    std::error_code none;
    const auto found = std::filesystem::symlink_status(directory_ + "/RESERVE", none);
    if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
      Add({.file = "RESERVE",
           .what = "it is no file, so nothing is kept for a full disk; remove it"});
  }

  // ---- Tables that CATALOG does not name --------------------------------------------------------

  // Something of a table that was dropped may be left; its id is below the next one.
  void CheckForLostTables() {
    LostTables tables(files_, directory_);
    std::set<TableId> known;
    const auto stored = tables.FindStored();
    if (stored.ok()) known = *stored;
    for (const auto& [id, highest] : logged_) known.insert(id);
    for (const auto& [id, mark] : marks_)
      if (mark != TableMark()) known.insert(id);
    const auto lost = tables.Find();
    if (lost.ok()) known.insert(lost->begin(), lost->end());
    const StatusOr<Catalog> now = LoadTables();  // a store that is open makes tables
    if (!now.ok()) return;
    for (const auto& [name, table] : now->tables) known.erase(table.id);
    for (const CatalogDroppedTable& dropped : now->dropped_tables) known.erase(dropped.table.id);
    for (const TableId id : known) {
      const bool is_dropped = id < now->next_table_id && (!lost.ok() || !lost->contains(id));
      if (!is_dropped && !IsEmpty(id))
        Add({.file = "CATALOG", .what = DescribeLostTable(directory_, id)});
    }
  }

  // Its creation was cut short, or is under way.
  bool IsEmpty(TableId id) {
    if (logged_.contains(id) || marks_.contains(id)) return false;
    const auto names = files_.List(directory_ + "/tables/" + std::to_string(id));
    if (!names.ok()) return !Exists("lost/" + std::to_string(id));
    return std::none_of(names->begin(), names->end(), IsStoreFileName);
  }

  // ---- Store files ------------------------------------------------------------------------------

  // A store that is open may drop or alter the table meanwhile, or put another file in the place of
  // one that is being looked at: then what was found does not count.
  void CheckTable(const TableName& name, const CatalogTable& table) {
    const size_t known = report_.damage.size();
    const std::string directory = "tables/" + std::to_string(table.id);
    place_ = {.file = directory + "/" + kManifestFile, .what = {}, .table = name};
    const StatusOr<Manifest> manifest =
        ReadManifest(files_, directory_ + "/" + directory, store_id_, table.id);
    if (!manifest.ok()) {
      if (!TableNow(name, table)) return;
      place_.what = Exists(place_.file) ? manifest.status().message() : "it is missing";
      return Add(place_);
    }
    if (const Status complete = CheckIsComplete(*manifest); !complete.ok()) {
      place_.what = complete.message();
      Add(place_);
    }
    const auto folder = std::make_shared<const TableFolder>(
        TableFolder{directory_ + "/" + directory, store_id_, table.id});
    CheckFamilies(name, table, *manifest, *folder);
    for (const FileFacts& facts : manifest->files) {
      const size_t before = report_.damage.size();
      CheckFile(folder, facts);
      if (report_.damage.size() > before && !IsStillNamed(*folder, facts))
        report_.damage.resize(before);
    }
    if (report_.damage.size() > known && !TableNow(name, table)) report_.damage.resize(known);
  }

  // A family that CATALOG does not name by now, though the table has something of it. What it says
  // now is read where it seems so: all of it, for one table.
  void CheckFamilies(const TableName& name, const CatalogTable& table, const Manifest& manifest,
                     const TableFolder& folder) {
    if (StrangeFamilies(table, manifest, folder).empty()) return;
    const auto now = TableNow(name, table);
    if (!now) return;
    for (auto& [family, what] : StrangeFamilies(*now, manifest, folder))
      Add({.file = "CATALOG", .what = what, .table = name, .family = family});
  }

  // Each with what there is of it.
  std::vector<std::pair<std::string, std::string>> StrangeFamilies(const CatalogTable& table,
                                                                   const Manifest& manifest,
                                                                   const TableFolder& folder) {
    const auto is_strange = [&](const std::string& family, Timestamp written) {
      if (table.schema->FindFamily(family) != nullptr) return false;
      const auto dropped = dropped_families_.find(family);
      return dropped == dropped_families_.end() || written > dropped->second;
    };
    std::set<std::string> in_files;
    for (const FileFacts& facts : manifest.files) {
      if (is_strange(facts.family, facts.written) && IsStillNamed(folder, facts))
        in_files.insert(facts.family);
    }
    std::vector<std::pair<std::string, std::string>> strange;
    strange.reserve(in_files.size());
    for (const std::string& family : in_files)
      strange.emplace_back(family, DescribeStrangeFamily(family));
    for (const auto& [family, sequence_id] : families_[table.id]) {
      if (is_strange(family, 0) && sequence_id > manifest.flushed)
        strange.emplace_back(family, DescribeStrangeFamilyInLog(family));
    }
    return strange;
  }

  bool IsStillNamed(const TableFolder& folder, const FileFacts& facts) {
    const auto now = ReadManifest(files_, folder.path, folder.store_id, folder.table);
    return !now.ok() || std::find(now->files.begin(), now->files.end(), facts) != now->files.end();
  }

  // As the catalog has it by now; none where it was dropped.
  std::optional<CatalogTable> TableNow(const TableName& name, const CatalogTable& table) {
    const StatusOr<Catalog> now = LoadTables();
    if (!now.ok()) return table;
    const auto found = now->tables.find(name);
    if (found != now->tables.end() && found->second.id == table.id) return found->second;
    for (const CatalogDroppedTable& dropped : now->dropped_tables)
      if (dropped.table.id == table.id) return dropped.table;
    return std::nullopt;
  }

  Status CheckIsComplete(const Manifest& manifest) {
    const std::string directory = "tables/" + std::to_string(manifest.table);
    if (const auto needed = older_.find(manifest.table); needed != older_.end()) {
      CELLFS_RETURN_IF_ERROR(CheckHasFlushed(directory, manifest.flushed, needed->second,
                                             SegmentName(first_segment_ - 1)));
    }
    if (const auto mark = marks_.find(manifest.table); mark != marks_.end())
      return CheckIsNotOlder(directory, manifest, mark->second);
    const std::string path = directory_ + "/" + directory;
    const StatusOr<std::vector<std::string>> unnamed = UnnamedFiles(files_, path, manifest);
    if (!unnamed.ok()) return {};  // the files are looked at one by one
    return CheckAreNotNeeded(path, *unnamed, std::max(manifest.flushed, logged_[manifest.table]));
  }

  void CheckFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts) {
    place_.file = "tables/" + std::to_string(folder->table) + "/" + StoreFileName(facts.number);
    place_.family = facts.family;
    const Status status = CheckStoreFile(folder, facts);
    if (status.ok()) return;
    Damage damage = place_;
    damage.what = Exists(place_.file) ? status.message() : "it is missing";
    Add(std::move(damage));
  }

  Status CheckStoreFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts) {
    // SQLite passes over what lies behind its pages, and says little of what is cut short.
    CELLFS_RETURN_IF_ERROR(
        LookAtStoreFile(folder->path + "/" + StoreFileName(facts.number), facts));
    FileCache cache(/*bytes=*/int64_t{4} << 20, /*most_idle_readers=*/1);
    const auto file = std::make_shared<StoreFile>(folder, facts, cache);
    const size_t known = report_.damage.size();
    {
      CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
      CELLFS_RETURN_IF_ERROR(CheckCells(std::move(lease), *file, facts.cells));
    }
    if (report_.damage.size() > known) return {};
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    return CheckPages(lease.reader().database());
  }

  // Those too that the cells are not read from: of indexes and of the filter. Where cells are
  // damaged SQLite says the same in words of its own.
  Status CheckPages(Database& database) {
    CELLFS_ASSIGN_OR_RETURN(Statement statement, database.Prepare("PRAGMA integrity_check(1)"));
    CELLFS_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row || statement.Bytes(0) == "ok") return {};
    return {StatusCode::kCorruption,
            "a page of it that has no cells, of an index or the filter, is damaged"};
  }

  Status CheckCells(StoreFile::Lease lease, StoreFile& file, int64_t expected) {
    StoreFileCursor cursor(std::move(lease), kMaxSequenceId, /*lengths_only=*/false);
    Cell last;
    int64_t cells = 0;
    const size_t known = report_.damage.size();
    for (Status status = cursor.Seek({}); !status.ok() || cursor.valid(); status = cursor.Next()) {
      if (!status.ok() && !cursor.valid()) {
        if (!SkipDamagedPages(file, status, last, cursor)) return {};
      } else {
        if (status.ok()) status = cursor.LoadValue();
        if (!status.ok()) AddCell(status, cursor.cell());
      }
      ++cells;
      ++report_.cells;
      last = CopyOf(cursor.cell());
    }
    if (cells == expected || report_.damage.size() > known) return {};
    return {StatusCode::kCorruption, "it has " + std::to_string(cells) +
                                         " cells, and the manifest says " +
                                         std::to_string(expected)};
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
  bool SkipDamagedPages(StoreFile& file, const Status& status, const Cell& before,
                        StoreFileCursor& cursor) {
    Damage damage = place_;
    damage.what = status.message();
    const auto [behind, next] = LastReachable(file);
    damage.between_rows = {before.row, behind.row};
    Add(std::move(damage));
    if (next.row.empty() || !IsBefore(ViewOf(before), ViewOf(next))) return false;
    return cursor.Seek({next.row, next.qualifier, next.timestamp}).ok() && cursor.valid();
  }

  // And the cell behind it: from there on one can go forward, for the way to the last one may lead
  // over the page before it.
  std::pair<Cell, Cell> LastReachable(StoreFile& file) {
    std::pair<Cell, Cell> reached;
    auto lease = file.Open();
    if (!lease.ok()) return reached;
    auto statement = lease->reader().database().Prepare(
        "SELECT K, Q, T FROM cells ORDER BY K DESC, Q DESC, T DESC, Y DESC, S DESC");
    if (!statement.ok()) return reached;
    for (;;) {
      const StatusOr<bool> row = statement->Step();
      if (!row.ok() || !*row) return reached;
      reached.second = std::move(reached.first);
      reached.first.row = statement->Bytes(0);
      reached.first.qualifier = statement->Bytes(1);
      reached.first.timestamp = -statement->Integer(2);
    }
  }

  FileLayer& files_;
  const std::string directory_;
  uint64_t store_id_ = 0;
  uint64_t first_segment_ = 0;
  bool next_is_on_disk_ = false;  // as the segment that was read last says
  std::vector<LogFinding> found_in_log_;
  std::map<std::string, Timestamp> dropped_families_;  // of the table that is looked at
  OlderCells older_;  // what the log had before its first segment
  TableMarks marks_;  // what it says of manifests
  std::map<TableId, SequenceId> logged_;  // the highest of its records
  std::map<TableId, std::map<std::string, SequenceId>> families_;  // likewise of each family
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
