// SPDX-License-Identifier: MIT
#include "fs/attributes/kept_columns.h"

#include <sys/stat.h>

#include "fs/attributes/attribute_table.h"

namespace cellfs::fs {

StatusOr<mode_t> KeptColumns::ClosedBefore(const Place& directory, const DataTable& table,
                                           const DirectoryRecordChange& change) {
  if (!change.made_by) return mode_t{0};
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode inherited, inherited_.Of(directory, table, {}));
  if (change.before.uid.value_or(inherited.uid) == *change.made_by) return mode_t{0};
  const mode_t before = change.before.mode.value_or(inherited.mode);
  const mode_t group = (before & S_IXGRP) == 0 ? S_IRWXG : 0;
  const mode_t others = (before & S_IXOTH) == 0 ? S_IRWXO : 0;
  return group | others;
}

// All of which a version is stored in the row, or in its family, hidden or not.
StatusOr<std::set<KeptColumns::ColumnName>> KeptColumns::StoredColumns(
    const Place& row_or_family) {
  std::set<ColumnName> columns;
  Scan scan;
  scan.start_row = scan.stop_row = row_or_family.row;
  scan.include_stop_row = true;
  if (!row_or_family.family.empty()) scan.columns[row_or_family.family] = {};
  scan.raw = true;
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  const auto see = [&](const RowCells& cells) {
    for (const Cell& cell : cells) {
      if (cell.type == CellType::kPut) columns.emplace(cell.family, cell.qualifier);
    }
    return Status();
  };
  CELLFS_RETURN_IF_ERROR(
      ForEachRow(store_, row_or_family.table, scan, {.partial_rows = true}, see));
  return columns;
}

// What the column has of its own afterwards, so that it shows what it has shown before, and lets in
// nobody whom its directory kept out.
StatusOr<OwnerRecord> KeptColumns::KeptBy(const Place& column, const DataTable& table,
                                          const OwnerRecord& own, const FamilyRecords& family,
                                          mode_t closed) {
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode had, inherited_.Of(column, table, family.before));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode has, inherited_.Of(column, table, family.after));
  OwnerRecord kept = own;
  if (!kept.uid && had.uid != has.uid) kept.uid = had.uid;
  if (!kept.gid && had.gid != has.gid) kept.gid = had.gid;
  if (!kept.mode && had.mode != has.mode) kept.mode = had.mode;
  if (const mode_t mode = kept.mode.value_or(had.mode); (mode & closed) != 0) {
    kept.mode = mode & ~closed;
    kept.had_mode = kept.had_mode.value_or(mode);
  }
  return kept;
}

StatusOr<std::vector<KeptColumn>> KeptColumns::Of(const Place& directory, const DataTable& table,
                                                  const DirectoryRecordChange& change) {
  std::vector<KeptColumn> kept;
  const bool is_family = directory.kind == PlaceKind::kFamily;
  if (!is_family && directory.kind != PlaceKind::kRow) return kept;
  CELLFS_ASSIGN_OR_RETURN(const mode_t closed, ClosedBefore(directory, table, change));
  if (closed == 0 && (!is_family || SameOwner(change.before, change.after))) return kept;
  CELLFS_ASSIGN_OR_RETURN(const auto columns, StoredColumns(directory));
  for (const auto& [family, qualifier] : columns) {
    const Place column = CellPlace(directory.table, directory.row, family, qualifier);
    const RecordKey key = RecordKeyOf(column, table);
    CELLFS_ASSIGN_OR_RETURN(const RowRecords records, reader_.Read(column, table, key, kNoVersion));
    const OwnerRecord& of_family = records.family;
    const FamilyRecords both = is_family ? FamilyRecords{change.before, change.after}
                                         : FamilyRecords{of_family, of_family};
    CELLFS_ASSIGN_OR_RETURN(const OwnerRecord after,
                            KeptBy(column, table, records.own, both, closed));
    if (!SameRecord(records.own, after)) kept.push_back({key, records.own, after});
  }
  return kept;
}

}  // namespace cellfs::fs
