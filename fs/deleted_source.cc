// SPDX-License-Identifier: MIT
#include "fs/entry_sources.h"
#include "fs/reading.h"

namespace cellfs::fs {
namespace {

// .deleted: the columns of which a tombstone hides the last value.
class DeletedSource : public ShortSource {
 public:
  explicit DeletedSource(ListedDirectory& deleted) : deleted_(deleted) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& caller) override {
    const Place& place = deleted_.place();
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells, DeletedCells(deleted_.mount(), caller, place));
    const Place like = place.As(PlaceKind::kDeletedCell);
    SourceEntries entries;
    for (const Cell& cell : cells) deleted_.AddCell(entries, like, cell);
    return entries;
  }

  ListedDirectory& deleted_;
};

// .versions: those of them that have versions left. Found once for a listing, by a read of each.
class HistorySource : public EntrySource {
 public:
  explicit HistorySource(ListedDirectory& versions) : versions_(versions) {}

  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    if (!columns_) {
      CELLFS_ASSIGN_OR_RETURN(columns_, Columns(caller));
    }
    EntryBatch batch;
    for (const SourceEntry& column : *columns_) {
      if (!key || *key < column.key) batch.entries.push_back(column);
    }
    return batch;
  }

 private:
  OutcomeOr<SourceEntries> Columns(const Caller& caller) {
    MountContext& mount = versions_.mount();
    const Place& place = versions_.place();
    CELLFS_ASSIGN_OR_RETURN(const RowCells deleted, DeletedCells(mount, caller, place));
    Place column = place.As(PlaceKind::kVersionsColumn);
    SourceEntries columns;
    for (const Cell& cell : deleted) {
      column.qualifier = cell.qualifier;
      CELLFS_ASSIGN_OR_RETURN(const RowCells left, ListVersions(mount, caller, column));
      if (!left.empty()) versions_.AddCell(columns, column, cell);
    }
    return columns;
  }

  ListedDirectory& versions_;
  std::optional<SourceEntries> columns_;
};

}  // namespace

std::unique_ptr<EntrySource> NewDeletedSource(ListedDirectory& deleted) {
  return std::make_unique<DeletedSource>(deleted);
}

std::unique_ptr<EntrySource> NewHistorySource(ListedDirectory& versions) {
  return std::make_unique<HistorySource>(versions);
}

}  // namespace cellfs::fs
