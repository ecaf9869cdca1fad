// SPDX-License-Identifier: MIT
#include "fs/reading/long_keys.h"

#include "engine/filter.h"
#include "fs/reading/row_scan.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

// So few bytes, for a cell is counted without its key, which may have tens of kilobytes.
constexpr size_t kKeysAtOnce = 128 * sizeof(Cell);

}  // namespace

OutcomeOr<std::string> FindLongRow(const Reading& reading, const NameSpelling& names,
                                   const Caller& caller, const Place& table, LongRows which,
                                   const std::string& beginning, std::string_view name) {
  Scan scan;
  scan.raw = which == LongRows::kStored;
  scan.start_row = beginning;
  scan.stop_row = RowAfterPrefix(beginning);
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeFirstKeyOnlyFilter());
  CELLFS_ASSIGN_OR_RETURN(const auto scanned, RowScan::Open(reading, caller, table, scan));
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(auto rows, scanned->Next(ScanBatch().max_rows));
    if (rows.empty()) return Outcome(ENOENT);
    for (const RowCells& row : rows) {
      if (names.IsShortenedTo(name, row.front().row)) return row.front().row;
    }
  }
}

OutcomeOr<std::string> FindLongQualifier(const Reading& reading, const NameSpelling& names,
                                         const Caller& caller, const Place& family,
                                         const std::string& beginning, std::string_view name) {
  // Hidden columns count too: their versions and last values have names.
  Scan scan;
  scan.start_row = scan.stop_row = family.row;
  scan.include_stop_row = true;
  scan.raw = true;
  scan.columns[family.family];
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(scan.filter, MakeColumnPrefixFilter(beginning));
  Place stored = FamilyPlace(family.table, family.row, family.family);
  if (family.view != nullptr && family.view->ShowsPast()) stored.view = family.view;
  CELLFS_ASSIGN_OR_RETURN(const auto scanned, RowScan::Open(reading, caller, stored, scan));
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece, scanned->NextPiece(kKeysAtOnce));
    if (piece.empty()) return Outcome(ENOENT);
    for (const Cell& cell : piece) {
      if (names.IsShortenedTo(name, cell.qualifier)) return cell.qualifier;
    }
  }
}

}  // namespace cellfs::fs
