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

  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    const Place& place = deleted_.place();
    CELLFS_ASSIGN_OR_RETURN(const DeletedValues values,
                            DeletedValuesAfter(deleted_.reading(), caller, place, key));
    const Place like = place.As(PlaceKind::kDeletedCell);
    EntryBatch batch;
    for (const Cell& cell : values.cells) deleted_.AddCell(batch.entries, like, cell);
    batch.end = values.end;
    return batch;
  }

 private:
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
      if (has_left) versions_.AddCell(entries, column, cell);
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
