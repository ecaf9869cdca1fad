// SPDX-License-Identifier: MIT
#include "engine/check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "engine/catalog/catalog_json.h"
#include "engine/catalog/emptied.h"
#include "engine/disk/remedies.h"
#include "engine/file/store_file_check.h"
#include "engine/local/local_check.h"
#include "engine/local/lost_tables.h"
#include "engine/local/manifest.h"
#include "engine/local/store_directory.h"
#include "engine/local/unnamed_files.h"
#include "engine/log/log_check.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"

namespace cellfs {
namespace {

class StoreCheck {
 public:
  StoreCheck(FileLayer& files, std::string directory, const CheckSteps& steps)
      : files_(files), directory_(std::move(directory)), steps_(steps) {}

  StatusOr<CheckReport> Run() {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    Catalog catalog;
    StatusOr<Catalog> loaded = LoadTables();
    if (loaded.ok()) {
      catalog = *loaded;
    } else {
      const bool is_edits = loaded.status().message().find("/EDITS'") != std::string::npos;
      Add({.file = is_edits ? "EDITS" : "CATALOG", .what = loaded.status().message()});
    }
    const bool must_have_log = !catalog.tables.empty() || !catalog.dropped_tables.empty();
    const KnownEnd known_end = EndKnownTo(catalog);
    CountLog();
    progress_.total += report_.log_bytes;
    CELLFS_ASSIGN_OR_RETURN(log_, CheckLog(files_, directory_, store_id_, must_have_log, known_end,
                                           [this](uint64_t bytes) { return HasRead(bytes, 0); }));
    report_.log_records = log_.records;
    for (Damage& damage : log_.damage) Add(std::move(damage));
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
    if (is_cancelled_) return Status(StatusCode::kCancelled, "the check has been stopped");
    return std::move(report_);
  }

 private:
  StatusOr<Catalog> LoadTables() {
    CELLFS_ASSIGN_OR_RETURN(const SavedCatalog saved, ReadCatalog(files_, directory_));
    return DecodeCatalog(saved);
  }

  // Read before the log, which goes on meanwhile where the store is open.
  KnownEnd EndKnownTo(const Catalog& catalog) {
    KnownEnd known;
    const auto ask = [&](const CatalogTable& table) {
      const std::string file = "tables/" + std::to_string(table.id);
      const auto manifest = ReadManifest(files_, directory_ + "/" + file, store_id_, table.id);
      if (!manifest.ok()) return;
      for (const FileFacts& facts : manifest->files)
        if (Wants(table.id, facts)) progress_.total += BytesToCheck(facts);
      if (manifest->logged > known.position)
        known = {manifest->logged, file + "/" + kManifestFile};
    };
    for (const auto& [name, table] : catalog.tables) ask(table);
    for (const CatalogDroppedTable& dropped : catalog.dropped_tables) ask(dropped.table);
    return known;
  }

  void CountLog() {
    const auto names = files_.List(directory_ + "/wal");
    if (!names.ok()) return;
    for (const std::string& name : *names) {
      std::error_code error;
      const auto size = std::filesystem::file_size(directory_ + "/wal/" + name, error);
      if (error || !ParseSegmentName(name)) continue;
      ++report_.log_files;
      report_.log_bytes += size;
    }
  }

  bool HasRead(uint64_t bytes, uint64_t cells) {
    progress_.bytes += bytes;
    progress_.cells += cells;
    is_cancelled_ |= steps_.tell && !steps_.tell(progress_);
    return !is_cancelled_;
  }

  bool Wants(TableId id, const FileFacts& facts) const {
    return !is_cancelled_ && (!steps_.wants || steps_.wants(id, facts));
  }

  void Add(Damage damage) {
    if (report_.damage.size() < kMostDamage) report_.damage.push_back(std::move(damage));
  }
  // What cannot be looked at is there, and damaged.
  bool Exists(const std::string& file) {
    const StatusOr<bool> exists = files_.Exists(directory_ + "/" + file);
    return !exists.ok() || *exists;
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
    for (const auto& [id, highest] : log_.highest) known.insert(id);
    for (const auto& [id, mark] : log_.marks)
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
    if (log_.highest.contains(id) || log_.marks.contains(id)) return false;
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
    place_ = {.file = directory + "/" + kManifestFile,
              .what = {},
              .remedy = kRemedyOfManifest,
              .table = name};
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
      if (!Wants(table.id, facts)) continue;
      const size_t before = report_.damage.size();
      CheckFile(folder, facts);
      if (is_cancelled_) return;
      if (report_.damage.size() > before && !IsStillNamed(*folder, facts))
        report_.damage.resize(before);
      if (steps_.has_read)
        steps_.has_read(table.id, facts, std::span(report_.damage).subspan(before));
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
    for (const auto& [family, sequence_id] : log_.families[table.id]) {
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
    if (const auto needed = log_.older.find(manifest.table); needed != log_.older.end()) {
      CELLFS_RETURN_IF_ERROR(CheckHasFlushed(directory, manifest.flushed, needed->second,
                                             SegmentName(log_.first_segment - 1)));
    }
    if (const auto mark = log_.marks.find(manifest.table); mark != log_.marks.end())
      return CheckIsNotOlder(directory, manifest, mark->second);
    const std::string path = directory_ + "/" + directory;
    const StatusOr<std::vector<std::string>> unnamed = UnnamedFiles(files_, path, manifest);
    if (!unnamed.ok()) return {};  // the files are looked at one by one
    return CheckAreNotNeeded(path, *unnamed,
                             std::max(manifest.flushed, log_.highest[manifest.table]));
  }

  void CheckFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts) {
    place_.file = "tables/" + std::to_string(folder->table) + "/" + StoreFileName(facts.number);
    place_.family = facts.family;
    CheckedStoreFile found;
    const uint64_t end = progress_.bytes + BytesToCheck(facts);
    const auto read = [this, end](uint64_t bytes, uint64_t cells) {
      return HasRead(std::min(bytes, end - progress_.bytes), cells);
    };
    if (const Status status = CheckStoreFile(folder, facts, &found, read); !status.ok()) {
      const bool is_there = Exists(place_.file);
      found.damage.push_back({.file = {}, .what = is_there ? status.message() : "it is missing"});
    }
    HasRead(end - progress_.bytes, 0);
    report_.cells += found.cells;
    for (Damage& damage : found.damage) {
      damage.file = place_.file;
      damage.remedy = damage.has_all_cells ? kRemedyOfIndex : kRemedyOfCheckedFile;
      damage.table = place_.table;
      damage.family = place_.family;
      Add(std::move(damage));
    }
  }

  FileLayer& files_;
  const std::string directory_;
  const CheckSteps& steps_;
  bool is_cancelled_ = false;
  CheckProgress progress_;
  uint64_t store_id_ = 0;
  CheckedLog log_;
  std::map<std::string, Timestamp> dropped_families_;  // of the table that is looked at
  Damage place_;  // what is looked at, for what is found there
  CheckReport report_;
};

}  // namespace

StatusOr<CheckReport> CheckLocalStore(const std::string& directory,
                                      const TellCheckProgress& tell) {
  return CheckLocalStore(PosixFiles(), directory, {.tell = tell, .wants = {}, .has_read = {}});
}

StatusOr<CheckReport> CheckLocalStore(FileLayer& files, const std::string& directory,
                                      const CheckSteps& steps) {
  return StoreCheck(files, directory, steps).Run();
}

}  // namespace cellfs
