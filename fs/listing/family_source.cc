// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {
namespace {

// The families of a row in which a cell is visible.
class FamilySource : public ShortSource {
 public:
  explicit FamilySource(ListedDirectory& row) : row_(row) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& caller) override {
    const Place& place = row_.place();
    Get get = GetOf(place, ReadDetail::kLengths);
    if (get.filter == nullptr) get.store_limit = 1;
    const Place like = place.As(PlaceKind::kFamily);
    SourceEntries entries;
    CELLFS_RETURN_IF_FAILED(ReadRow(row_.reading(), caller, place, get, [&](const Cell& cell) {
      if (entries.empty() || entries.back().key != cell.family) row_.AddCell(entries, like, cell);
      return true;
    }));
    return entries;
  }

  ListedDirectory& row_;
};

}  // namespace

std::unique_ptr<EntrySource> NewFamilySource(ListedDirectory& row) {
  return std::make_unique<FamilySource>(row);
}

}  // namespace cellfs::fs
