// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/reading/deleted_values.h"
#include "fs/reading/listed_versions.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {
namespace {

// .deleted: the columns of which a tombstone hides the last value.
class DeletedSource : public EntrySource {
 public:
  explicit DeletedSource(ListedDirectory& deleted) : deleted_(deleted) {}

  // A part of which nothing is shown is passed by, so that each batch has an entry up to its end.
  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    EntryBatch batch;
    batch.end = key;
    do {
      CELLFS_ASSIGN_OR_RETURN(
          const DeletedValues values,
          DeletedValuesAfter(deleted_.reading(), caller, deleted_.place(), batch.end));
      CELLFS_RETURN_IF_FAILED(AddShown(values.cells, batch.entries));
      batch.end = values.end;
    } while (batch.end && batch.entries.empty());
    return batch;
  }

 private:
  Outcome AddShown(const RowCells& values, SourceEntries& entries) {
    Place column = deleted_.place().As(PlaceKind::kDeletedCell);
    for (const Cell& cell : values) {
      column.qualifier = cell.qualifier;
      CELLFS_ASSIGN_OR_RETURN(const bool is_shown,
                              deleted_.reading().ShowsDeleted(column, cell.timestamp));
      if (is_shown) deleted_.AddCell(entries, column, cell);
    }
    return {};
  }

  ListedDirectory& deleted_;
};

// .versions: those of them that have versions left.
class HistorySource : public EntrySource {
 public:
  explicit HistorySource(ListedDirectory& versions) : versions_(versions) {}

  // A part without any is passed by, so that each batch has an entry up to its end.
  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    EntryBatch batch;
    batch.end = key;
    do {
      CELLFS_ASSIGN_OR_RETURN(
          const DeletedValues values,
          DeletedValuesAfter(versions_.reading(), caller, versions_.place(), batch.end));
      CELLFS_RETURN_IF_FAILED(AddThoseWithVersions(caller, values.cells, batch.entries));
      batch.end = values.end;
    } while (batch.end && batch.entries.empty());
    return batch;
  }

 private:
  Outcome AddThoseWithVersions(const Caller& caller, const RowCells& deleted,
                               SourceEntries& entries) {
    Place column = versions_.place().As(PlaceKind::kVersionsColumn);
    for (const Cell& cell : deleted) {
      column.qualifier = cell.qualifier;
      CELLFS_ASSIGN_OR_RETURN(const bool has_left,
                              HasListedVersions(versions_.reading(), caller, column));
      if (!has_left) continue;
      CELLFS_ASSIGN_OR_RETURN(const bool is_shown,
                              versions_.reading().ShowsDeleted(column, cell.timestamp));
      if (is_shown) versions_.AddCell(entries, column, cell);
    }
    return {};
  }

  ListedDirectory& versions_;
};

}  // namespace

std::unique_ptr<EntrySource> NewDeletedSource(ListedDirectory& deleted) {
  return std::make_unique<DeletedSource>(deleted);
}

std::unique_ptr<EntrySource> NewHistorySource(ListedDirectory& versions) {
  return std::make_unique<HistorySource>(versions);
}

}  // namespace cellfs::fs
