// SPDX-License-Identifier: MIT
#include "fs/content/column_traces.h"

#include <algorithm>

#include "fs/reading/raw_pieces.h"

namespace cellfs::fs {

OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(const Column& column,
                                                        const Reading& reading,
                                                        const Caller& caller, const Place& place) {
  const std::optional<Timestamp> version = column.created();
  if (!version || place.kind != PlaceKind::kCell) return std::optional<Timestamp>();
  const auto known = column.cached_cell();
  if (known && known->alone && known->version == *version) return version;
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, NewestRawCells(reading, caller, place, {}));
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

void KeepEmptied(LiveTree& tree, const Place& directory) {
  if (directory.kind == PlaceKind::kFamily) tree.removed_families.Forget(directory);
  const auto forgotten = tree.unstored.AddEmptied(directory, ToTimespec(tree.clock.Now()));
  if (forgotten) tree.kernel.NameWent(*forgotten);
}

void KeepEmptiedHistory(LiveTree& tree, const Resolver& resolver, const Caller& caller,
                        const Place& version) {
  const Place history = version.As(PlaceKind::kVersionsColumn);
  if (!resolver.Find(caller, history).ok()) KeepEmptied(tree, history);
}

}  // namespace cellfs::fs
