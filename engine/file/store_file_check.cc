// SPDX-License-Identifier: MIT
#include "engine/file/store_file_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/file/page_checksums.h"
#include "engine/file/store_file_cursor.h"
#include "engine/file/stored_facts.h"

namespace cellfs {
namespace {

class StoreFileCheck {
 public:
  StoreFileCheck(CheckedStoreFile* found, const TellBytesRead& tell) : found_(found), tell_(tell) {}

  Status Run(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts) {
    // SQLite passes over what lies behind its pages, and says little of what is cut short.
    CELLFS_RETURN_IF_ERROR(
        LookAtStoreFile(folder->path + "/" + StoreFileName(facts.number), facts));
    const PagesTold told([this](int bytes) { return Tell(static_cast<uint64_t>(bytes)); });
    FileCache cache(/*bytes=*/int64_t{4} << 20, /*most_idle_readers=*/1);
    const auto file = std::make_shared<StoreFile>(folder, facts, cache);
    const int64_t hidden = facts.hidden.cells;
    CELLFS_RETURN_IF_ERROR(CheckCells(*file, CellSet::kShown, facts.cells - hidden));
    if (hidden != 0) CELLFS_RETURN_IF_ERROR(CheckCells(*file, CellSet::kHidden, hidden));
    Tell(0);
    if (!found_->damage.empty()) return {};
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file->Open());
    return CheckOtherPages(lease.reader().database());
  }

 private:
  void Add(Damage damage) {
    if (found_->damage.size() < kMostDamage) found_->damage.push_back(std::move(damage));
  }

  // Those too that the cells are not read from: of indexes and of the filter. Where cells are
  // damaged SQLite says the same in words of its own.
  Status CheckOtherPages(Database& database) {
    CELLFS_ASSIGN_OR_RETURN(Statement statement, database.Prepare("PRAGMA integrity_check(1)"));
    const StatusOr<bool> has_row = statement.Step();
    if (!has_row.ok() && has_row.status().code() != StatusCode::kCorruption)
      return has_row.status();
    if (has_row.ok() && (!*has_row || statement.Bytes(0) == "ok")) return {};
    Add({.file = {},
         .what = "a page of it that has no cells, of an index or the filter, is damaged",
         .has_all_cells = true});
    return {};
  }

  bool Tell(uint64_t bytes) {
    return !tell_ || tell_(bytes, found_->cells - std::exchange(told_cells_, found_->cells));
  }

  Status CheckCells(StoreFile& file, CellSet set, int64_t expected) {
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file.Open());
    StoreFileCursor cursor(std::move(lease), set, kMaxSequenceId, /*lengths_only=*/false);
    Cell last;
    int64_t cells = 0;
    for (Status status = cursor.Seek({}); !status.ok() || cursor.valid(); status = cursor.Next()) {
      if (!status.ok()) {
        if (!SkipDamagedPages(file, set, status, last, cursor)) return {};
      } else if (const Status loaded = cursor.LoadValue(); !loaded.ok()) {
        AddCell(loaded, cursor.cell());
      }
      ++cells;
      ++found_->cells;
      last = CopyOf(cursor.cell());
    }
    if (cells == expected || !found_->damage.empty()) return {};
    const std::string what = set == CellSet::kShown ? " cells" : " hidden cells";
    return {StatusCode::kCorruption, "it has " + std::to_string(cells) + what +
                                         ", and the manifest says " + std::to_string(expected)};
  }

  void AddCell(const Status& status, const CellView& cell) {
    Damage damage{.file = {}, .what = status.message()};
    damage.cell = CopyOf(cell);
    damage.cell->value.clear();
    Add(std::move(damage));
  }

  // Comes from the end to where it cannot go on either. What lies between several damaged pages is
  // not looked at. False: there is nothing behind the damage.
  bool SkipDamagedPages(StoreFile& file, CellSet set, const Status& status, const Cell& before,
                        StoreFileCursor& cursor) {
    Damage damage{.file = {}, .what = status.message()};
    const auto [behind, next] = LastReachable(file, set);
    damage.between_rows = {before.row, behind.row};
    Add(std::move(damage));
    if (next.row.empty() || !IsBefore(ViewOf(before), ViewOf(next))) return false;
    return cursor.Seek({next.row, next.qualifier, next.timestamp}).ok() && cursor.valid();
  }

  // And the cell behind it: from there on one can go forward, for the way to the last one may lead
  // over the page before it.
  std::pair<Cell, Cell> LastReachable(StoreFile& file, CellSet set) {
    std::pair<Cell, Cell> reached;
    auto lease = file.Open();
    if (!lease.ok()) return reached;
    auto statement =
        lease->reader().database().Prepare(std::string("SELECT K, Q, T FROM ") + TableOf(set) +
                                           " ORDER BY K DESC, Q DESC, T DESC, Y DESC, S DESC");
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

  CheckedStoreFile* const found_;
  const TellBytesRead& tell_;
  uint64_t told_cells_ = 0;
};

}  // namespace

Status CheckStoreFile(const std::shared_ptr<const TableFolder>& folder, const FileFacts& facts,
                      CheckedStoreFile* found, const TellBytesRead& tell) {
  return StoreFileCheck(found, tell).Run(folder, facts);
}

}  // namespace cellfs
