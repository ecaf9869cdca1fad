// SPDX-License-Identifier: MIT
#include "fs/content/column_traces.h"

#include <algorithm>


namespace cellfs::fs {
OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(const Column& column,
                                                        const Reading& reading,
                                                        const Caller& caller, const Place& place) {
  const std::optional<Timestamp> version = column.created();
  if (!version || place.kind != PlaceKind::kCell) return std::optional<Timestamp>();
  const auto known = column.cached_cell();
  if (known && known->alone && known->version == *version) return version;
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(reading, caller, place, ReadDetail::kLengths));
  // Family tombstones are not the column's: they stay whatever becomes of it.
  std::erase_if(raw, [](const Cell& cell) { return IsFamilyTombstone(cell.type); });
  bool alone = raw.size() == 1 && raw[0].type == CellType::kPut && raw[0].timestamp == *version;
  return alone ? version : std::nullopt;
}

Withdraw WithdrawVersion(const Place& column, Timestamp version) {
  return {column.row, {{column.family, column.qualifier, version, CellType::kPut}}};
}

Withdraw WithdrawTombstone(const Place& column, Timestamp tombstone) {
  return {column.row, {{column.family, column.qualifier, tombstone, CellType::kDeleteColumn}}};
}

Mutation DeleteColumn(const Place& column) {
  Delete tombstone;
  tombstone.row = column.row;
  tombstone.markers.push_back({CellType::kDeleteColumn, column.family, column.qualifier});
  tombstone.stamping = Stamping::kAboveColumn;
  return tombstone;
}

Mutation DeleteVersion(const Place& version) {
  Delete tombstone;
  tombstone.row = version.row;
  tombstone.markers.push_back(
      {CellType::kDelete, version.family, version.qualifier, version.timestamp});
  return tombstone;
}

void KeepEmptiedHistory(UnstoredEntries& unstored, const Resolver& resolver, timespec now,
                        const Caller& caller, const Place& version) {
  const Place history = version.As(PlaceKind::kVersionsColumn);
  const auto found = resolver.Find(caller, history);
  if (found.ok()) return;
  unstored.Add({history, UnstoredReason::kEmptied, now, nullptr});
}

}  // namespace cellfs::fs
