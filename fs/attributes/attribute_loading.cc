// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_loading.h"

#include <string_view>

#include "fs/attributes/attribute_rows.h"
#include "fs/attributes/narrowed_modes.h"

namespace cellfs::fs {
namespace {

Status LoadDirectory(const RowCells& cells, LoadedAttributes& loaded) {
  if (cells.front().row == kNarrowedRow) {
    loaded.has_narrowed = true;
    return Status();
  }
  AttributeRecord record;
  for (const Cell& cell : cells) {
    if (cell.family == kChangeFamily && cell.qualifier == kDropped && !cell.value.empty())
      loaded.marked.insert(cell.row);
    if (!cell.qualifier.empty()) continue;
    if (cell.family == kOwnerFamily) CELLFS_RETURN_IF_ERROR(ReadRecord(cell, record));
    if (cell.family == kTimeFamily) record.time = ReadTimes(cell.value);
    if (cell.family == kChangeFamily) record.changed = ReadTime(cell.value);
  }
  loaded.directories.emplace(cells.front().row, record);
  return Status();
}

// Of tables with ids all that is not about data lies together.
Status LoadByScanning(Store& store, const TableName& attributes, LoadedAttributes& loaded) {
  Scan scan;
  scan.stop_row = kDataHereMark;
  return ForEachRow(store, attributes, scan, {}, [&](const RowCells& cells) -> Status {
    const std::string& row = cells.front().row;
    if (TableIdentities::IsRowOfOne(row)) {
      for (const Cell& cell : cells)
        CELLFS_RETURN_IF_ERROR(TableIdentities::Read(cell, loaded.identities));
      return {};
    }
    for (const Cell& cell : cells) {
      if (cell.family != kChangeFamily) continue;
      if (cell.qualifier == kHasRecords) loaded.contents.tables_with_records.insert(row);
      if (cell.qualifier == kHasChanges) loaded.contents.tables_with_changes.insert(row);
    }
    return LoadDirectory(cells, loaded);
  });
}

// Two seeks for each table: from a row of it to the first row behind all of its rows of that kind.
Status LoadBySeeking(Store& store, const TableName& attributes, LoadedAttributes& loaded) {
  Scan scan;
  scan.limit = 1;
  for (;;) {
    CELLFS_ASSIGN_OR_RETURN(auto scanner,
                            store.OpenScanner(Caller::Superuser(), attributes, scan));
    CELLFS_ASSIGN_OR_RETURN(const auto rows, scanner->Next({1, 1}));
    if (rows.empty()) return {};
    const RowCells& cells = rows.front();
    const std::string& row = cells.front().row;
    const size_t nul = row.find_first_of(std::string_view("\0\x01", 2));
    if (nul == std::string::npos) {
      CELLFS_RETURN_IF_ERROR(LoadDirectory(cells, loaded));
      scan.start_row = RowAfter(row);
    } else {
      auto& tables = row[nul] == '\0' ? loaded.contents.tables_with_records
                                      : loaded.contents.tables_with_changes;
      tables.insert(row.substr(0, nul));
      scan.start_row = row.substr(0, nul) + static_cast<char>(row[nul] + 1);
    }
  }
}

}  // namespace

StatusOr<LoadedAttributes> LoadAttributes(Store& store, const AttributeTable& table,
                                          const Freshness& freshness) {
  LoadedAttributes loaded;
  const Status read = freshness.is_exact() ? LoadBySeeking(store, table.name(), loaded)
                                           : LoadByScanning(store, table.name(), loaded);
  if (read.code() == StatusCode::kTableNotFound) return LoadedAttributes();
  CELLFS_RETURN_IF_ERROR(read);
  loaded.contents.exists = true;
  return loaded;
}

Status ReloadDirectory(const AttributeTable& table, const std::string& row,
                       InheritedAttributes& inherited) {
  Get get;
  get.row = row;
  CELLFS_ASSIGN_OR_RETURN(const RowCells cells, table.Read(get));
  if (cells.empty()) {
    inherited.ForgetDirectory(row);
    return {};
  }
  LoadedAttributes loaded;
  CELLFS_RETURN_IF_ERROR(LoadDirectory(cells, loaded));
  inherited.SetDirectory(row, loaded.directories.begin()->second);
  return {};
}

}  // namespace cellfs::fs
