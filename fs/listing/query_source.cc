// SPDX-License-Identifier: MIT
#include "fs/listing/entry_sources.h"
#include "fs/reading/reading.h"
#include "fs/reading/row_scan.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// Each column or, where the query asks for several versions, each of those, in the order in which
// they are returned: by a scan of the row that goes on from batch to batch.
class QuerySource : public EntrySource {
 public:
  explicit QuerySource(ListedDirectory& family) : family_(family) {}

  // A query may be limited, so it is always run from its beginning.
  OutcomeOr<EntryBatch> After(const Caller& caller,
                              const std::optional<std::string>& key) override {
    if (scan_ == nullptr || scan_key_ != key) CELLFS_RETURN_IF_FAILED(Open(caller));
    EntryBatch batch;
    while (batch.entries.empty()) {
      auto piece = scan_->NextPiece(family_.batch() * sizeof(Cell));
      if (!piece.ok()) {
        if (!scan_->goes_on()) scan_.reset();
        return piece.status();
      }
      if (piece->empty()) break;
      AddCells(*piece, key, batch.entries);
    }
    if (!batch.entries.empty()) batch.end = batch.entries.back().key;
    scan_key_ = batch.end ? batch.end : key;
    return batch;
  }

 private:
  Outcome Open(const Caller& caller) {
    const Place& place = family_.place();
    const Get get = GetOf(place, ReadDetail::kLengths);
    CELLFS_ASSIGN_OR_RETURN(scan_, RowScan::Open(family_.reading(), caller, place, ScanOf(get)));
    scan_key_.reset();
    returned_ = 0;
    return {};
  }

  void AddCells(const RowCells& cells, const std::optional<std::string>& after,
                SourceEntries& entries) {
    entries.reserve(cells.size());
    for (const Cell& cell : cells) {
      if (cell.family != family_.place().family) continue;
      std::string key = VersionKey(-++returned_);
      if (after && key <= *after) continue;
      family_.AddCell(entries, PlaceOf(cell), cell).key = std::move(key);
    }
  }

  Place PlaceOf(const Cell& cell) const {
    const Place& place = family_.place();
    if (!place.view->ShowsVersions()) return place.As(PlaceKind::kCell);
    return place.As(PlaceKind::kVersion, cell.timestamp);
  }

  ListedDirectory& family_;
  std::unique_ptr<RowScan> scan_;        // standing behind scan_key_
  std::optional<std::string> scan_key_;  // nullopt: at the beginning
  Timestamp returned_ = 0;               // cells of the family, up to there
};

}  // namespace

std::unique_ptr<EntrySource> NewQuerySource(ListedDirectory& family) {
  return std::make_unique<QuerySource>(family);
}

}  // namespace cellfs::fs
