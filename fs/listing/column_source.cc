// SPDX-License-Identifier: MIT
#include "engine/filter.h"
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {
namespace {

class ColumnSource : public EntrySource {
 public:
  ColumnSource(ListedDirectory& directory, PlaceKind kind) : directory_(directory), kind_(kind) {}

  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    const Place& place = directory_.place();
    Get get = GetOf(place.As(PlaceKind::kFamily), ReadDetail::kLengths);
    get.store_limit = static_cast<int32_t>(directory_.batch());
    const Place like = place.As(kind_);
    std::optional<std::string> after = key;
    EntryBatch batch;
    bool is_all = false;
    while (batch.entries.empty() && !is_all) {
      if (after) {
        CELLFS_ASSIGN_OR_RETURN(get.filter,
                                MakeColumnRangeFilter(after, false, std::nullopt, false));
      }
      CELLFS_ASSIGN_OR_RETURN(const RowCells cells,
                              directory_.reading().Read(caller, place.table, get));
      is_all = cells.size() < directory_.batch();
      if (!cells.empty()) after = cells.back().qualifier;
      batch.entries.reserve(cells.size());
      for (const Cell& cell : cells) {
        if (IsListed(cell)) directory_.AddCell(batch.entries, like, cell);
      }
    }
    if (!is_all) batch.end = batch.entries.back().key;
    return batch;
  }

 private:
  bool IsListed(const Cell& cell) const {
    return kind_ != PlaceKind::kCounter || cell.value_length == sizeof(int64_t);
  }

  ListedDirectory& directory_;
  const PlaceKind kind_;
};

}  // namespace

std::unique_ptr<EntrySource> NewColumnSource(ListedDirectory& directory, PlaceKind kind) {
  return std::make_unique<ColumnSource>(directory, kind);
}

}  // namespace cellfs::fs
