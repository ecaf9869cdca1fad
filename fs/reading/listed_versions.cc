// SPDX-License-Identifier: MIT
#include "fs/reading/listed_versions.h"

#include <algorithm>
#include <utility>

#include "fs/reading/raw_pieces.h"
#include "fs/requests/long_work.h"

namespace cellfs::fs {

OutcomeOr<RowCells> ListedVersions::Next(const Caller& caller, size_t most) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, reading_.DescribeTable(column_));
  const FamilySchema* const family = schema->FindFamily(column_.family);
  if (family == nullptr) return Outcome(ENOENT);
  const auto kept = static_cast<size_t>(family->max_versions());
  const size_t wanted = std::min(most, kept - std::min(kept, given_));
  LongWork work(reading_.scan_slots(), LongWork::Kind::kMayBeShort);
  RawColumnPieces pieces(reading_, caller, column_, work, last_);
  std::optional<Timestamp> last = last_;
  RowCells versions;
  while (versions.size() < wanted) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece, pieces.Next());
    if (piece.empty()) break;
    for (const Cell& cell : piece) {
      if (versions.size() == wanted) break;
      if (cell.type != CellType::kPut || cell.timestamp == last) continue;
      last = cell.timestamp;
      const Place version = column_.As(PlaceKind::kVersion, cell.timestamp);
      CELLFS_ASSIGN_OR_RETURN(auto read,
                              ReadColumn(reading_, caller, version, ReadDetail::kLengths));
      if (read) versions.push_back(*std::move(read));
    }
  }
  last_ = last;
  given_ += versions.size();
  return versions;
}

OutcomeOr<bool> HasListedVersions(const Reading& reading, const Caller& caller,
                                  const Place& column) {
  CELLFS_ASSIGN_OR_RETURN(const RowCells newest, ListedVersions(reading, column).Next(caller, 1));
  return !newest.empty();
}

}  // namespace cellfs::fs
