// SPDX-License-Identifier: MIT
#include <algorithm>

#include "fs/listing/entry_sources.h"
#include "fs/reading/deleted_values.h"
#include "fs/reading/hidden_rows.h"
#include "fs/tree/hidden_namespace.h"

namespace cellfs::fs {
namespace {

// .deleted of a table: the rows that show nothing and of which a deleted value is kept.
class DeletedRowSource : public EntrySource {
 public:
  explicit DeletedRowSource(ListedDirectory& deleted) : deleted_(deleted) {}

  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    if (rows_ == nullptr || begun_at_ != key) CELLFS_RETURN_IF_FAILED(Open(caller, key));
    EntryBatch batch;
    while (batch.entries.empty()) {
      auto rows = rows_->Next(deleted_.batch());
      if (!rows.ok()) {
        if (!rows_->goes_on()) rows_.reset();
        return rows.status();
      }
      if (rows->empty()) break;
      if (Outcome added = AddRows(caller, *rows, batch.entries); !added.ok()) {
        rows_.reset();
        return added;
      }
      batch.end = rows->back();
    }
    if (batch.entries.empty()) batch.end.reset();
    begun_at_ = batch.end ? batch.end : key;
    return batch;
  }

 private:
  Outcome Open(const Caller& caller, const std::optional<std::string>& after) {
    const Place table = deleted_.place().As(PlaceKind::kTable);
    CELLFS_ASSIGN_OR_RETURN(rows_, HiddenRows::Open(deleted_.reading(), caller, table, after));
    begun_at_ = after;
    return {};
  }

  Outcome AddRows(const Caller& caller, const std::vector<std::string>& rows,
                  SourceEntries& entries) {
    const Place like = deleted_.place().As(PlaceKind::kDeletedRow);
    Place row = deleted_.place().As(PlaceKind::kRow);
    for (const std::string& key : rows) {
      if (IsHiddenRow(row.table, key)) continue;
      row.row = key;
      CELLFS_ASSIGN_OR_RETURN(const auto cell,
                              FirstDeletedValue(deleted_.reading(), caller, row));
      if (cell) deleted_.AddCell(entries, like, *cell);
    }
    return {};
  }

  ListedDirectory& deleted_;
  std::unique_ptr<HiddenRows> rows_;
  std::optional<std::string> begun_at_;  // the key behind which rows_ stands
};

// .deleted/<row>: the families in which columns are deleted; .deleted of a row: those of them that
// show nothing.
class DeletedFamilySource : public ShortSource {
 public:
  explicit DeletedFamilySource(ListedDirectory& deleted) : deleted_(deleted) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& caller) override {
    const Place& place = deleted_.place();
    const bool is_of_row = place.kind == PlaceKind::kDeletedFamiliesDirectory;
    const Place like = place.As(PlaceKind::kDeletedFamily, is_of_row ? kInRow : 0);
    const Place row = place.As(PlaceKind::kRow);
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                            FirstDeletedOfFamilies(deleted_.reading(), caller, row));
    SourceEntries entries;
    for (const Cell& cell : cells) {
      Place family = row.As(PlaceKind::kFamily);
      family.family = cell.family;
      if (is_of_row) {
        CELLFS_ASSIGN_OR_RETURN(const auto visible,
                                FirstVisibleCell(deleted_.reading(), caller, family));
        if (visible) continue;
      }
      deleted_.AddCell(entries, like, cell);
    }
    return entries;
  }

  ListedDirectory& deleted_;
};

}  // namespace

std::unique_ptr<EntrySource> NewDeletedRowSource(ListedDirectory& deleted) {
  return std::make_unique<DeletedRowSource>(deleted);
}

std::unique_ptr<EntrySource> NewDeletedFamilySource(ListedDirectory& deleted) {
  return std::make_unique<DeletedFamilySource>(deleted);
}

}  // namespace cellfs::fs
