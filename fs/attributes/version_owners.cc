// SPDX-License-Identifier: MIT
#include "fs/attributes/version_owners.h"

#include <algorithm>
#include <vector>

#include "fs/store/raw_cells.h"

namespace cellfs::fs {
namespace {

constexpr int32_t kMostBetween = 4096;

// Oldest first. Of a column that was made without a record the first says nothing, and is of old.
StatusOr<std::vector<OwnerRecord>> AllRecords(const AttributeTable& table, const RecordKey& key) {
  Get get;
  get.row = key.row;
  get.columns[kOwnerFamily] = {key.qualifier};
  get.max_versions = kAllVersions;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table.Read(get));
  std::vector<OwnerRecord> records;
  if (cells.size() < kOwnerVersions) records.emplace_back();
  for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
    CELLFS_RETURN_IF_ERROR(ReadRecord(*cell, records.emplace_back()));
  }
  return records;
}

}  // namespace

// Timestamps of versions may be any, so a record is another's only where the column was deleted
// between the version and the record.
StatusOr<std::optional<OwnerRecord>> VersionOwners::Find(const Place& version,
                                                         const RecordKey& key) const {
  CELLFS_ASSIGN_OR_RETURN(const std::vector<OwnerRecord> records, AllRecords(table_, key));
  const bool is_always_the_same =
      std::all_of(records.begin(), records.end(),
                  [&](const OwnerRecord& record) { return record.uid == records.back().uid; });
  if (is_always_the_same) return std::optional<OwnerRecord>();
  auto then = records.begin();
  for (auto later = then + 1; later != records.end(); ++later, ++then) {
    if (later->since <= version.timestamp || later->uid == then->uid) continue;
    CELLFS_ASSIGN_OR_RETURN(const bool was_deleted,
                            WasDeleted(version, version.timestamp, later->since));
    if (was_deleted) return std::optional(*then);
  }
  return std::optional<OwnerRecord>();
}

// Newest first: who makes a name anew does so behind its tombstone. What has more than so many
// versions in between is taken for deleted, which shows it to nobody else.
StatusOr<bool> VersionOwners::WasDeleted(const Place& column, Timestamp after,
                                         Timestamp until) const {
  RawCellsQuery query{column.table, column.row, column.family};
  query.limit = kMostBetween;
  query.times = {after + 1, until + 1};
  CELLFS_ASSIGN_OR_RETURN(
      const RowCells cells,
      RawCellsOfColumn(store_, Caller::Superuser(), query, column.qualifier));
  if (cells.size() >= size_t{kMostBetween}) return true;
  return std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
    return cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily;
  });
}

}  // namespace cellfs::fs
