// SPDX-License-Identifier: MIT
#include "fs/column_traces.h"

#include <algorithm>

#include "engine/filters.h"
#include "fs/cell_reader.h"
#include "fs/nameless_file.h"
#include "fs/reading.h"

namespace cellfs::fs {

OutcomeOr<std::optional<Timestamp>> OnlyVersionMadeHere(MountContext& mount, const Caller& caller,
                                                        const Place& column) {
  const std::optional<Timestamp> version = mount.recent.CreatedVersion(column);
  if (!version || column.kind != PlaceKind::kCell) return std::optional<Timestamp>();
  if (const NodePtr node = mount.inodes.Find(column)) {
    const auto known = node->known();
    if (known && known->alone && known->version == *version) return version;
  }
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(mount, caller, column, ReadDetail::kLengths));
  // Family tombstones are not the column's: they stay whatever becomes of it.
  std::erase_if(raw, [](const Cell& cell) { return IsFamilyTombstone(cell.type); });
  bool alone = raw.size() == 1 && raw[0].type == CellType::kPut && raw[0].timestamp == *version;
  return alone ? version : std::nullopt;
}

Mutation WithdrawVersion(const Place& column, Timestamp version) {
  return Withdraw{column.row, {{column.family, column.qualifier, version, CellType::kPut}}};
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

Outcome KeepEmptiedDirectories(MountContext& mount, const Caller& caller, const Place& column) {
  const Place family = FamilyPlace(column.table, column.row, column.family);
  // First what comes behind the column: names are mostly removed in order, and what lies before
  // them is then nothing but tombstones to be read past.
  Get behind = GetOf(family, ReadDetail::kLengths);
  const std::string after = RowAfter(column.qualifier);
  CELLFS_ASSIGN_OR_RETURN(behind.filter, MakeColumnRangeFilter(after, true, std::nullopt, true));
  behind.store_limit = 1;
  CELLFS_ASSIGN_OR_RETURN(RowCells next, mount.store.Read(caller, column.table, behind));
  if (!next.empty()) return {};
  CELLFS_ASSIGN_OR_RETURN(auto in_family, FirstVisibleCell(mount, caller, family));
  if (in_family) return {};
  const timespec now = ToTimespec(mount.clock->Now());
  mount.unstored.Add({family, UnstoredReason::kEmptied, now, nullptr});
  const Place row = family.Parent();
  CELLFS_ASSIGN_OR_RETURN(auto in_row, FirstVisibleCell(mount, caller, row));
  if (!in_row) mount.unstored.Add({row, UnstoredReason::kEmptied, now, nullptr});
  return {};
}

NodePtr BeforeNameGoes(MountContext& mount, const Place& place) {
  NodePtr node = mount.inodes.Find(place);
  if (node == nullptr || node->handle_count() == 0) return nullptr;
  auto bytes = WholeFile(mount, Caller::Superuser(), place);
  if (!bytes.ok() && bytes.error() == ENOENT) bytes = std::string();
  const auto file =
      std::make_shared<NamelessFile>(std::move(bytes), ToTimespec(mount.clock->Now()));
  for (const auto& handle : node->handles()) handle->BeforeNameGoes(file);
  return node;
}

void AfterNameWent(const NodePtr& node) {
  if (node == nullptr || !node->unlinked()) return;
  for (const auto& handle : node->handles()) handle->NameWent();
}

}  // namespace cellfs::fs
