// SPDX-License-Identifier: MIT
//
// Which store files belong to a table is told
//  1. by the log, where it has a note of the table: it lists the files of a manifest. A file with a
//     smaller number that is not listed was replaced or given up (truncate, a dropped family), and
//     stays out;
//  2. else by the files: of one family, a file that has rows in common with another, and whose
//     range of sequence ids lies within that one's, was its input, and stays out, if all that this
//     compaction wrote is there. Files with common rows whose ranges overlap otherwise cannot be of
//     one table.
#include "engine/repair.h"

#include <algorithm>
#include <map>

#include "engine/catalog/catalog_json.h"
#include "engine/disk/file_layer.h"
#include "engine/disk/store_lock.h"
#include "engine/file/stored_facts.h"
#include "engine/local/manifest.h"
#include "engine/local/store_directory.h"
#include "engine/local/unnamed_files.h"
#include "engine/log/log_repair.h"
#include "engine/log/log_summary.h"
#include "engine/log/log_tail.h"

namespace cellfs {
namespace {

class Repair {
 public:
  Repair(FileLayer& files, std::string directory, RepairMode mode)
      : files_(files), directory_(std::move(directory)), mode_(mode) {}

  StatusOr<StoreRepair> Run() {
    CELLFS_ASSIGN_OR_RETURN(store_id_, CheckIsStore(files_, directory_));
    CELLFS_ASSIGN_OR_RETURN(const SavedCatalog saved, ReadCatalog(files_, directory_));
    CELLFS_ASSIGN_OR_RETURN(const Catalog catalog, DecodeCatalog(saved));
    CELLFS_ASSIGN_OR_RETURN(log_, SummarizeLog(files_, directory_ + "/wal", store_id_));
    const bool has_tables = !catalog.tables.empty() || !catalog.dropped_tables.empty();
    if (log_.first_segment == 0 && has_tables)
      log_.broken = LogBreak{.what = "'" + directory_ + "/wal' has no segment"};
    StoreRepair repairs;
    std::vector<CatalogTable> tables;
    for (const auto& [name, table] : catalog.tables) tables.push_back(table);
    for (const CatalogDroppedTable& dropped : catalog.dropped_tables)
      tables.push_back(dropped.table);
    for (const CatalogTable& table : tables) {
      const Status whole = CheckIsWhole(table.id);
      if (whole.ok()) continue;
      TableRepair repair;
      repair.table = table.schema->name();
      repair.damage = whole.message();
      if (whole.code() == StatusCode::kCorruption) {
        CELLFS_RETURN_IF_ERROR(RepairTable(table, repair));
      } else {
        repair.obstacle = "it cannot be read at all";
      }
      repairs.tables.push_back(std::move(repair));
    }
    // Last: what it says behind the damage tells of manifests too.
    if (!log_.is_whole()) {
      CELLFS_ASSIGN_OR_RETURN(repairs.log, RepairLog(files_, directory_ + "/wal", log_, mode_));
    }
    CELLFS_RETURN_IF_ERROR(TakeEndOfLog(tables, repairs));
    return repairs;
  }

 private:
  std::string PathOf(TableId id) const { return directory_ + "/tables/" + std::to_string(id); }

  SequenceId HighestLogged(TableId id) const {
    const auto found = log_.highest.find(id);
    return found == log_.highest.end() ? 0 : found->second;
  }

  // A manifest that knows the log to be longer is told that it is no more: nothing else in it is
  // another. A log of which nothing is good goes on where it was.
  Status TakeEndOfLog(const std::vector<CatalogTable>& tables, StoreRepair& repairs) {
    if (log_.end == 0) return {};
    for (const CatalogTable& table : tables) {
      const std::string path = PathOf(table.id);
      auto manifest = ReadManifest(files_, path, store_id_, table.id);
      if (!manifest.ok() || manifest->logged <= log_.end) continue;
      if (!repairs.log) repairs.log.emplace();
      LogRepair& repair = *repairs.log;
      if (!repair.is_cut && !repair.is_short) {
        repair.damage += (repair.damage.empty() ? "" : "; ") +
                         DescribeShortLog(log_.end, {manifest->logged, path + "/" + kManifestFile});
        repair.is_short = true;
      }
      manifest->logged = log_.end;
      if (mode_ == RepairMode::kAct) CELLFS_RETURN_IF_ERROR(SaveManifest(files_, path, *manifest));
    }
    return {};
  }

  // As the opening of the store judges it.
  Status CheckIsWhole(TableId id) const {
    const std::string path = PathOf(id);
    CELLFS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(files_, path, store_id_, id));
    if (const auto needed = log_.older.find(id); needed != log_.older.end())
      CELLFS_RETURN_IF_ERROR(CheckHasFlushed(path, manifest.flushed, needed->second,
                                             SegmentName(log_.first_segment - 1)));
    CELLFS_ASSIGN_OR_RETURN(const std::vector<std::string> unnamed,
                            UnnamedFiles(files_, path, manifest));
    if (const auto mark = log_.marks.find(id); mark != log_.marks.end())
      return CheckIsNotOlder(path, manifest, mark->second);
    return CheckAreNotNeeded(path, unnamed, std::max(manifest.flushed, HighestLogged(id)));
  }

  Status RepairTable(const CatalogTable& table, TableRepair& repair) {
    std::map<uint64_t, FileFacts> facts = ReadFacts(table, repair);
    Manifest manifest{.store_id = store_id_, .table = table.id, .files = {}};
    for (const auto& [number, of_file] : facts)
      manifest.next_file = std::max(manifest.next_file, number + 1);
    const auto mark = log_.marks.find(table.id);
    if (mark != log_.marks.end()) {
      FollowMark(mark->second, facts, manifest, repair);
    } else {
      FollowFiles(facts, manifest, repair);
      CheckLogAgainst(table.id, facts, repair);
    }
    if (const auto needed = log_.older.find(table.id);
        repair.obstacle.empty() && needed != log_.older.end() && manifest.flushed < needed->second)
      repair.obstacle = "the files have nothing beyond sequence id " +
                        std::to_string(manifest.flushed) + ", and the log has cut what came up to " +
                        std::to_string(needed->second);
    if (!repair.obstacle.empty()) return {};
    for (const auto& [number, of_file] : facts) {
      manifest.files.push_back(of_file);
      repair.files.push_back(StoreFileName(number));
    }
    return mode_ == RepairMode::kAct ? SaveManifest(files_, PathOf(table.id), manifest) : Status();
  }

  // Of the files that are the table's, by number.
  std::map<uint64_t, FileFacts> ReadFacts(const CatalogTable& table, TableRepair& repair) {
    std::map<uint64_t, FileFacts> facts;
    const auto names = files_.List(PathOf(table.id));
    if (!names.ok()) repair.obstacle = names.status().message();
    if (!names.ok()) return facts;
    for (const std::string& name : *names) {
      if (!IsStoreFileName(name)) continue;
      const StatusOr<StoredFacts> stored = ReadStoredFacts(PathOf(table.id) + "/" + name);
      if (!stored.ok()) {
        repair.notes.push_back(name + " is left out: " + stored.status().message());
      } else if (stored->store_id != store_id_ || stored->table != table.id ||
                 name != StoreFileName(stored->facts.number)) {
        repair.notes.push_back(name + " is left out: it is another table's, or another file");
      } else if (table.schema->FindFamily(stored->facts.family) == nullptr) {
        repair.notes.push_back(name + " is left out: its family was dropped");
      } else {
        facts[stored->facts.number] = stored->facts;
      }
    }
    return facts;
  }

  // The files that the log lists, all of them. What was written later lies in the log.
  void FollowMark(const TableMark& mark, std::map<uint64_t, FileFacts>& facts, Manifest& manifest,
                  TableRepair& repair) const {
    for (const uint64_t number : mark.files) {
      if (!facts.contains(number))
        repair.obstacle = StoreFileName(number) +
                          ", which the log lists, is missing or damaged, or its family was dropped";
    }
    const SequenceId known = std::max(mark.flushed, HighestLogged(manifest.table));
    std::erase_if(facts, [&](const auto& file) {
      if (std::binary_search(mark.files.begin(), mark.files.end(), file.first)) return false;
      // A log that was cut lists older files, and has not what was flushed since.
      if (file.first >= mark.next_file && file.second.highest > known)
        repair.obstacle = StoreFileName(file.first) +
                          " has what neither the log nor the files that it lists have";
      repair.notes.push_back(StoreFileName(file.first) + " is left out: " +
                             (file.first < mark.next_file
                                  ? "it was replaced, truncated or dropped"
                                  : "what it has that others lack is in the log"));
      return true;
    });
    manifest.flushed = mark.flushed;
    manifest.next_file = std::max(manifest.next_file, mark.next_file);
  }

  void FollowFiles(std::map<uint64_t, FileFacts>& facts, Manifest& manifest, TableRepair& repair) {
    const std::map<uint64_t, FileFacts> all = facts;
    std::erase_if(facts, [&](const auto& file) {
      for (const auto& [number, other] : all) {
        if (!IsInputOf(file.second, other)) continue;
        if (!HasAllOfItsCompaction(other, all))
          repair.obstacle = StoreFileName(number) + " has a part of what " +
                            StoreFileName(file.first) + " has, and the others are not there";
        repair.notes.push_back(StoreFileName(file.first) + " is left out: its cells are in " +
                               StoreFileName(number));
        return true;
      }
      return false;
    });
    for (const auto& [number, of_file] : facts) {
      manifest.flushed = std::max(manifest.flushed, of_file.highest);
      for (const auto& [other_number, other] : facts) {
        if (number < other_number && HaveRowsInCommon(of_file, other) &&
            of_file.lowest <= other.highest && other.lowest <= of_file.highest)
          repair.obstacle = StoreFileName(number) + " and " + StoreFileName(other_number) +
                            " overlap, and neither was made of the other";
      }
    }
    repair.notes.push_back(
        "the log says nothing of the table's files: one that was truncated, or whose cells had all "
        "expired, would come back if it had not been removed yet");
  }

  static bool HaveRowsInCommon(const FileFacts& a, const FileFacts& b) {
    return a.family == b.family && a.first_row <= b.last_row && b.first_row <= a.last_row;
  }

  // Whatever a compaction wrote beside the file is there too.
  static bool HasAllOfItsCompaction(const FileFacts& file,
                                    const std::map<uint64_t, FileFacts>& all) {
    const FileFacts* first = &file;
    while (first->follows != 0) {
      const auto before = all.find(first->follows);
      if (before == all.end()) return false;
      first = &before->second;
    }
    const FileFacts* last = &file;
    while (last->is_followed) {
      const auto behind = std::find_if(all.begin(), all.end(), [&](const auto& other) {
        return other.second.follows == last->number;
      });
      if (behind == all.end()) return false;
      last = &behind->second;
    }
    return true;
  }

  static bool IsInputOf(const FileFacts& file, const FileFacts& other) {
    if (file.number == other.number || !HaveRowsInCommon(file, other)) return false;
    if (file.lowest < other.lowest || file.highest > other.highest) return false;
    const bool is_same = file.lowest == other.lowest && file.highest == other.highest;
    return !is_same || file.number < other.number;
  }

  // A flush that was cut short may have written the file of one family and not another's: then the
  // log has the cells, and must not be passed over.
  void CheckLogAgainst(TableId id, const std::map<uint64_t, FileFacts>& facts,
                       TableRepair& repair) const {
    std::map<std::string, SequenceId> newest;
    for (const auto& [number, of_file] : facts)
      newest[of_file.family] = std::max(newest[of_file.family], of_file.highest);
    for (const auto& [family, highest] : newest) {
      const auto differs = [top = highest](const auto& other) { return other.second != top; };
      if (HighestLogged(id) > highest && std::any_of(newest.begin(), newest.end(), differs))
        repair.obstacle = "it cannot be told which of the log's records are in the files";
    }
  }

  FileLayer& files_;
  const std::string directory_;
  const RepairMode mode_;
  uint64_t store_id_ = 0;
  LogSummary log_;
};

}  // namespace

StatusOr<StoreRepair> RepairLocalStore(const std::string& directory, RepairMode mode) {
  if (mode == RepairMode::kAct) {
    // Holds the lock meanwhile.
    CELLFS_ASSIGN_OR_RETURN(const auto held, StoreDirectory::Open(PosixFiles(), directory));
    return Repair(PosixFiles(), directory, mode).Run();
  }
  CELLFS_RETURN_IF_ERROR(CheckIsUnlocked(directory));
  return Repair(PosixFiles(), directory, mode).Run();
}

}  // namespace cellfs
