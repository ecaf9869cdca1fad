// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {
namespace {

// .versions/q, newest first.
class VersionSource : public ShortSource {
 public:
  explicit VersionSource(ListedDirectory& column) : column_(column) {}

 private:
  OutcomeOr<SourceEntries> All(const Caller& caller) override {
    const Place& place = column_.place();
    CELLFS_ASSIGN_OR_RETURN(const RowCells cells, ListVersions(column_.reading(), caller, place));
    SourceEntries entries;
    for (const Cell& cell : cells) {
      const Place like = place.As(PlaceKind::kVersionsFile, cell.timestamp);
      column_.AddCell(entries, like, cell).key = VersionKey(cell.timestamp);
    }
    return entries;
  }

  ListedDirectory& column_;
};

}  // namespace

std::unique_ptr<EntrySource> NewVersionSource(ListedDirectory& versions_column) {
  return std::make_unique<VersionSource>(versions_column);
}

}  // namespace cellfs::fs
