// SPDX-License-Identifier: MIT
#include "engine/region/stamping.h"

#include <algorithm>
#include <functional>
#include <string>

namespace cellfs {
namespace {

// MIN_VERSIONS saves the newest version of a column, and the only one of a read by timestamp, from
// the family's TTL, but no cell from its own.
bool ExpiresAtOnce(Timestamp timestamp, int64_t cell_ttl, const FamilySchema& family,
                   Timestamp now) {
  if (cell_ttl != kNoCellTtl && now - timestamp > cell_ttl) return true;
  return family.time_to_live() != kForever && family.min_versions() == 0 &&
         now - timestamp > int64_t{family.time_to_live()} * 1000;
}

bool HasVersionTombstone(const ColumnHead& head, Timestamp timestamp) {
  return std::binary_search(head.version_tombstones.begin(), head.version_tombstones.end(),
                            timestamp, std::greater<>());
}

bool TakesGiven(const ColumnHead& head, const StampWish& wish, const FamilySchema& family,
                Timestamp now) {
  if (wish.given > now || ExpiresAtOnce(wish.given, wish.time_to_live, family, now)) return false;
  if (wish.given <= head.newest_wide_tombstone || wish.given < head.newest_put) return false;
  if (wish.given == head.newest_put) return !HasVersionTombstone(head, wish.given);
  return head.version_tombstones.empty() || wish.given > head.version_tombstones.front();
}

bool TakesRewritten(const ColumnHead& head, const StampWish& wish, const FamilySchema& family,
                    Timestamp now) {
  Timestamp rewritten = *wish.rewrites;
  return rewritten >= head.newest_put && rewritten > head.newest_wide_tombstone &&
         !HasVersionTombstone(head, rewritten) &&
         !ExpiresAtOnce(rewritten, wish.time_to_live, family, now);
}

bool CoversColumn(const Cell& tombstone, const Cell& put) {
  return IsTombstone(tombstone.type) && tombstone.family == put.family &&
         (IsFamilyTombstone(tombstone.type) || tombstone.qualifier == put.qualifier);
}

bool Masks(const Cell& tombstone, const Cell& put) {
  if (!CoversColumn(tombstone, put)) return false;
  bool wide =
      tombstone.type == CellType::kDeleteColumn || tombstone.type == CellType::kDeleteFamily;
  return wide ? tombstone.timestamp >= put.timestamp : tombstone.timestamp == put.timestamp;
}

// With NEW_VERSION_BEHAVIOR a put below VERSIONS newer ones is out, whatever range a read asks for.
StatusOr<bool> IsPushedOut(const Cell& put, std::string_view row, const FamilySchema& family,
                           CellStorage& storage, Timestamp now) {
  Get newer;
  newer.row = row;
  newer.columns[put.family].insert(put.qualifier);
  newer.time_range.min = put.timestamp + 1;
  newer.max_versions = family.max_versions();
  newer.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, storage.Read(newer, now));
  return cells.size() >= static_cast<size_t>(family.max_versions());
}

// With KEEP_DELETED_CELLS a read by timestamp heeds only the tombstones of just that timestamp.
StatusOr<bool> HasTombstoneAt(const Cell& put, std::string_view row, CellStorage& storage) {
  Scan scan;
  scan.start_row = scan.stop_row = row;
  scan.include_stop_row = true;
  scan.columns[put.family];
  scan.time_range = AtTimestamp(put.timestamp);
  scan.max_versions = kAllVersions;
  scan.raw = true;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, storage.OpenScanner(scan));
  CELLFS_ASSIGN_OR_RETURN(std::vector<RowCells> rows, scanner->Next({}));
  if (rows.empty()) return false;
  return std::any_of(rows[0].begin(), rows[0].end(),
                     [&](const Cell& cell) { return CoversColumn(cell, put); });
}

}  // namespace

void AddToHead(const Cell& cell, ColumnHead& head) {
  switch (cell.type) {
    case CellType::kPut:
      head.newest_put = std::max(head.newest_put, cell.timestamp);
      break;
    case CellType::kDeleteColumn:
    case CellType::kDeleteFamily:
      head.newest_wide_tombstone = std::max(head.newest_wide_tombstone, cell.timestamp);
      break;
    case CellType::kDelete:
    case CellType::kDeleteFamilyVersion:
      head.version_tombstones.insert(
          std::upper_bound(head.version_tombstones.begin(), head.version_tombstones.end(),
                           cell.timestamp, std::greater<>()),
          cell.timestamp);
      break;
  }
}

StatusOr<Timestamp> StampAbove(const ColumnHead& head, const StampWish& wish,
                               const FamilySchema& family, Timestamp now) {
  if (wish.given != kLatestTimestamp && TakesGiven(head, wish, family, now)) return wish.given;
  if (wish.rewrites && TakesRewritten(head, wish, family, now)) return *wish.rewrites;
  Timestamp newest = head.Newest();
  Timestamp stamp = newest < now ? now : newest + 1;
  for (auto it = head.version_tombstones.rbegin();
       it != head.version_tombstones.rend() && *it <= stamp && stamp < kLatestTimestamp; ++it) {
    if (*it == stamp) ++stamp;
  }
  if (stamp < kLatestTimestamp) return stamp;
  return Status(StatusCode::kTimestampsExhausted,
                "no timestamp is left above the newest version of the column");
}

StatusOr<bool> IsReadable(const Cell& put, std::span<const Cell> step, std::string_view row,
                          const FamilySchema& family, CellStorage& storage, Timestamp now) {
  if (ExpiresAtOnce(put.timestamp, put.time_to_live, family, now)) return false;
  for (const Cell& cell : step)
    if (Masks(cell, put)) return false;
  if (family.new_version_behavior()) {
    // What was written before does not mask it.
    CELLFS_ASSIGN_OR_RETURN(bool pushed_out, IsPushedOut(put, row, family, storage, now));
    return !pushed_out;
  }
  CELLFS_ASSIGN_OR_RETURN(ColumnHead head, storage.ReadColumnHead(row, put.family, put.qualifier));
  if (HasVersionTombstone(head, put.timestamp)) return false;
  if (head.newest_wide_tombstone < put.timestamp) return true;
  if (family.keep_deleted_cells() == KeepDeletedCells::kFalse) return false;
  CELLFS_ASSIGN_OR_RETURN(bool masked, HasTombstoneAt(put, row, storage));
  return !masked;
}

}  // namespace cellfs
