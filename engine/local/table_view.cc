// SPDX-License-Identifier: MIT
#include "engine/local/table_view.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/file/store_file_cursor.h"
#include "engine/visibility/query_matcher.h"

namespace cellfs {
namespace {

// A file may be left out only where that changes no answer. Its tombstones hide puts that are older
// than the range's end, but none whose time lies before the range.
bool IsOutsideTimes(const FileFacts& facts, const TimeRange& times) {
  if (facts.newest < times.min) return true;
  const bool only_puts = facts.tombstones == 0 && facts.withdrawals == 0;
  return only_puts && facts.oldest >= times.max && !times.Contains(facts.oldest);
}

// Of a raw scan nothing hides anything: a tombstone is told where its own time lies. What is
// withdrawn has the time of its withdrawal.
bool HasNothingRaw(const FileFacts& facts, const TimeRange& times) {
  return facts.newest < times.min || (facts.oldest >= times.max && !times.Contains(facts.oldest));
}

// As HBase leaves out store files that are expired as a whole.
bool IsExpired(const FileFacts& facts, const FamilySchema& family, Timestamp now) {
  return family.min_versions() == 0 && facts.newest < OldestUnexpired(family, now);
}

}  // namespace

StatusOr<bool> TableView::MayMatter(StoreFile& file, const FamilySchema& family,
                                    const ReadScope& scope) const {
  const FileFacts& facts = file.facts();
  if (facts.lowest > read_point_) return false;
  if (scope.raw) {
    if (HasNothingRaw(facts, scope.times)) return false;
  } else {
    if (IsExpired(facts, family, scope.now)) return false;
    // There any put may push others out, also from outside the range.
    if (!family.new_version_behavior() && IsOutsideTimes(facts, scope.times)) return false;
  }
  if (!scope.row) return true;
  return file.MayHold(*scope.row, scope.columns);
}

StatusOr<FileRun> TableView::PartOf(const FileRun& run, const FamilySchema& family,
                                    const ReadScope& scope) const {
  FileRun part;
  const auto take = [&](const std::shared_ptr<StoreFile>& file) -> Status {
    CELLFS_ASSIGN_OR_RETURN(const bool may_matter, MayMatter(*file, family, scope));
    if (may_matter) part.files.push_back(file);
    return {};
  };
  if (scope.row) {
    if (const auto* const file = run.FindFileOf(*scope.row)) CELLFS_RETURN_IF_ERROR(take(*file));
    return part;
  }
  for (const auto& file : run.files) CELLFS_RETURN_IF_ERROR(take(file));
  return part;
}

// A tombstone that a read does not see, for its time range or read point, hides nothing from it;
// and what lies in memory or in another file may be hidden by one, or withdraw one. Under
// NEW_VERSION_BEHAVIOR any put may push others out.
FileRun TableView::WithHiddenThatMatter(const FileRun& run, const FamilySchema& family,
                                        const ReadScope& scope, Timestamp oldest_in_memory) const {
  FileRun part;
  const bool sees_all = scope.raw || scope.hidden_rows || family.new_version_behavior();
  for (const auto& file : run.files) {
    const FileFacts& facts = file->facts();
    if (facts.hidden.cells == 0) continue;
    const Timestamp newest = facts.hidden.newest_tombstone;
    if (sees_all || scope.times.max <= newest || read_point_ < facts.highest ||
        oldest_in_memory <= newest || version_->files->OldestBeside(*file) <= newest)
      part.files.push_back(file);
  }
  return part;
}

StatusOr<std::unique_ptr<CellCursor>> TableView::OpenSet(FileRun run, CellSet set,
                                                         bool lengths_only,
                                                         const ReadScope& scope) const {
  if (run.files.size() > 1) return OpenRun(std::move(run), set, read_point_, lengths_only);
  CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, run.files.front()->Open());
  return std::unique_ptr<CellCursor>(std::make_unique<StoreFileCursor>(
      std::move(lease), set, read_point_, lengths_only, scope.row));
}

StatusOr<std::unique_ptr<CellCursor>> TableView::OpenCursor(std::string_view family,
                                                            bool lengths_only,
                                                            const ReadScope& scope) const {
  const FamilySchema* const schema = version_->schema->FindFamily(family);
  if (schema == nullptr)  // a scan may outlive it
    return Status(StatusCode::kNoSuchColumnFamily,
                  "family '" + std::string(family) + "' does not exist");
  std::unique_ptr<CellCursor> only;
  std::vector<std::unique_ptr<CellCursor>> cursors;  // all of them, where there are several
  const auto add = [&](std::unique_ptr<CellCursor> cursor) {
    if (only == nullptr && cursors.empty()) {
      only = std::move(cursor);
      return;
    }
    if (only != nullptr) cursors.push_back(std::move(only));
    cursors.push_back(std::move(cursor));
  };
  bool any_withdrawals = false;
  Timestamp oldest_in_memory = kLatestTimestamp;
  for (const auto* memory : {&version_->active, &version_->frozen}) {
    const std::shared_ptr<MemoryCells>& cells = *memory;
    if (cells == nullptr) continue;
    const Memstore::FamilyFigures figures = cells->memstore().FiguresOf(family);
    if (figures.cells == 0) continue;
    add(OpenMemstoreCursor(std::shared_ptr<const Memstore>(cells, &cells->memstore()), family,
                           read_point_, lengths_only));
    oldest_in_memory = std::min(oldest_in_memory, figures.oldest_that_shows);
    any_withdrawals |=
        cells->MayHaveWithdrawals(family, scope.row.value_or(std::string_view()), scope.columns);
  }
  const std::vector<FileRun>& runs = version_->files->RunsOf(family);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    CELLFS_ASSIGN_OR_RETURN(FileRun wanted, PartOf(*run, *schema, scope));
    if (wanted.files.empty()) continue;
    for (const auto& file : wanted.files) any_withdrawals |= file->facts().withdrawals > 0;
    FileRun hidden = WithHiddenThatMatter(wanted, *schema, scope, oldest_in_memory);
    for (auto [part, set] : {std::pair(&wanted, CellSet::kShown), {&hidden, CellSet::kHidden}}) {
      if (part->files.empty()) continue;
      CELLFS_ASSIGN_OR_RETURN(auto cursor, OpenSet(std::move(*part), set, lengths_only, scope));
      add(std::move(cursor));
    }
  }
  if (only != nullptr && !any_withdrawals) return only;
  if (only != nullptr) cursors.push_back(std::move(only));
  std::optional<CursorScope> cursor_scope;
  if (scope.row) cursor_scope = {*scope.row, scope.columns};
  return MergeCursors(std::move(cursors), cursor_scope);
}

bool TableView::MayHaveTombstones() const {
  for (const MemoryCells* cells : {version_->active.get(), version_->frozen.get()})
    if (cells != nullptr && cells->any_tombstones()) return true;
  return version_->files->any_tombstones();
}

StatusOr<bool> TableView::MayHaveTombstones(std::string_view family, std::string_view row,
                                            std::string_view qualifier) const {
  for (const MemoryCells* cells : {version_->active.get(), version_->frozen.get()}) {
    if (cells != nullptr && cells->MayHaveTombstones(family, row, qualifier)) return true;
  }
  for (const FileRun& run : version_->files->RunsOf(family)) {
    const auto* const found = run.FindFileOf(row);
    if (found == nullptr) continue;
    StoreFile& file = **found;
    if (file.facts().tombstones == 0 || file.facts().lowest > read_point_) continue;
    CELLFS_ASSIGN_OR_RETURN(const bool may_hold, file.MayHold(row, nullptr));
    if (!may_hold) continue;
    CELLFS_ASSIGN_OR_RETURN(StoreFile::Lease lease, file.Open());
    for (const CellSet set : kCellSets) {
      CELLFS_ASSIGN_OR_RETURN(const bool may_have, lease.MayHaveTombstones(set, row, qualifier));
      if (may_have) return true;
    }
  }
  return false;
}

}  // namespace cellfs
