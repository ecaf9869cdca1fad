// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// Each column or, where the query asks for several versions, each of those, in the order in which
// they are returned.
class QuerySource : public ShortSource {
 public:
  explicit QuerySource(ListedDirectory& family) : family_(family) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& caller) override {
    const Place& place = family_.place();
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells, ReadRow(family_.reading(), caller, place,
                                                          GetOf(place, ReadDetail::kLengths)));
    SourceEntries entries;
    for (const Cell& cell : cells) {
      if (cell.family != place.family) continue;
      const auto number = static_cast<Timestamp>(entries.size() + 1);
      family_.AddCell(entries, PlaceOf(cell), cell).key = VersionKey(-number);
    }
    return entries;
  }

  Place PlaceOf(const Cell& cell) const {
    const Place& place = family_.place();
    if (!place.view->ShowsVersions()) return place.As(PlaceKind::kCell);
    return place.As(PlaceKind::kVersion, cell.timestamp);
  }

  ListedDirectory& family_;
};

}  // namespace

std::unique_ptr<EntrySource> NewQuerySource(ListedDirectory& family) {
  return std::make_unique<QuerySource>(family);
}

}  // namespace cellfs::fs
