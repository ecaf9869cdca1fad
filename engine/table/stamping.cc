// SPDX-License-Identifier: MIT
#include "engine/table/stamping.h"

#include <algorithm>
#include <string>

namespace cellfs {
namespace {

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
                           RowStorage& storage, Timestamp now) {
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
StatusOr<bool> HasTombstoneAt(const Cell& put, std::string_view row, RowStorage& storage) {
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

StatusOr<bool> IsReadable(const Cell& put, std::span<const Cell> step, std::string_view row,
                          const FamilySchema& family, RowStorage& storage, Timestamp now) {
  if (ExpiresAtOnce(put.timestamp, put.time_to_live, family, now)) return false;
  for (const Cell& cell : step)
    if (Masks(cell, put)) return false;
  if (family.new_version_behavior()) {
    // What was written before does not mask it.
    CELLFS_ASSIGN_OR_RETURN(bool pushed_out, IsPushedOut(put, row, family, storage, now));
    return !pushed_out;
  }
  CELLFS_ASSIGN_OR_RETURN(ColumnHead head, storage.ReadColumnHead(row, put.family, put.qualifier));
  if (head.HasVersionTombstone(put.timestamp)) return false;
  if (head.newest_wide_tombstone < put.timestamp) return true;
  if (family.keep_deleted_cells() == KeepDeletedCells::kFalse) return false;
  CELLFS_ASSIGN_OR_RETURN(bool masked, HasTombstoneAt(put, row, storage));
  return !masked;
}

}  // namespace cellfs
