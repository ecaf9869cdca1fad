// SPDX-License-Identifier: MIT
#include "fs/content/column_traces.h"

#include <algorithm>

#include "engine/filters.h"
#include "fs/attributes/attribute_store.h"

namespace cellfs::fs {
namespace {

// First what comes behind the column: names are mostly removed in order, and what lies before them
// is then nothing but tombstones to be read past.
OutcomeOr<bool> IsFamilyFilled(const Reading& reading, const Caller& caller, const Place& family,
                               const std::string& qualifier) {
  Get behind = GetOf(family, ReadDetail::kLengths);
  const std::string after = RowAfter(qualifier);
  CELLFS_ASSIGN_OR_RETURN(behind.filter, MakeColumnRangeFilter(after, true, std::nullopt, true));
  behind.store_limit = 1;
  CELLFS_ASSIGN_OR_RETURN(const RowCells next, reading.Read(caller, family.table, behind));
  if (!next.empty()) return true;
  CELLFS_ASSIGN_OR_RETURN(const auto first, FirstVisibleCell(reading, caller, family));
  return first.has_value();
}

}  // namespace

OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(RecentChanges& recent,
                                                        const InodeTable& inodes,
                                                        const Reading& reading,
                                                        const Caller& caller, const Place& column) {
  const std::optional<Timestamp> version = recent.CreatedVersion(column);
  if (!version || column.kind != PlaceKind::kCell) return std::optional<Timestamp>();
  if (const NodePtr node = inodes.Find(column)) {
    const auto known = node->cached_cell();
    if (known && known->alone && known->version == *version) return version;
  }
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(reading, caller, column, ReadDetail::kLengths));
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

void KeepEmptiedDirectories(UnstoredEntries& unstored, const Reading& reading, const Caller& caller,
                            const Place& column) {
  const Place family = FamilyPlace(column.table, column.row, column.family);
  const auto family_filled = IsFamilyFilled(reading, caller, family, column.qualifier);
  if (family_filled.ok() && *family_filled) return;
  const timespec now = ToTimespec(reading.clock().Now());
  unstored.Add({family, UnstoredReason::kEmptied, now, nullptr});
  const Place row = family.Parent();
  const auto in_row = FirstVisibleCell(reading, caller, row);
  if (in_row.ok() && *in_row) return;
  unstored.Add({row, UnstoredReason::kEmptied, now, nullptr});
}

void KeepEmptiedHistory(UnstoredEntries& unstored, const Resolver& resolver, timespec now,
                        const Caller& caller, const Place& version) {
  const Place history = version.As(PlaceKind::kVersionsColumn);
  const auto found = resolver.Find(caller, history);
  if (found.ok()) return;
  unstored.Add({history, UnstoredReason::kEmptied, now, nullptr});
}

}  // namespace cellfs::fs
