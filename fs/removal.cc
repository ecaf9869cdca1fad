// SPDX-License-Identifier: MIT
#include "fs/removal.h"

#include "fs/column_traces.h"
#include "fs/reading.h"
#include "fs/resolver.h"
#include "fs/schema_file.h"

namespace cellfs::fs {

namespace {

Status Mutate(MountContext& mount, const Caller& caller, const Place& place, Mutation mutation) {
  return mount.store
      .Mutate(caller, place.table, RowMutations::Of(std::move(mutation), mount.options.durability))
      .status();
}

Outcome RemoveCell(MountContext& mount, const Caller& caller, const Place& place,
                   std::string_view name) {
  std::optional<Timestamp> version;
  if (mount.recent.CreatedVersion(place) && IsTemporaryName(mount.options, std::string(name))) {
    CELLFS_ASSIGN_OR_RETURN(version, OnlyVersionMadeHere(mount, caller, place));
  }
  // Where a reader holds the moment before, the temporary file has to leave a tombstone after all.
  bool withdrawn = version && Mutate(mount, caller, place, WithdrawVersion(place, *version)).ok();
  if (withdrawn) {
    CELLFS_RETURN_IF_FAILED(mount.attributes.Forget({place, *version}));
  } else {
    CELLFS_RETURN_IF_FAILED(Mutate(mount, caller, place, DeleteColumn(place)));
  }
  mount.recent.Forget(place);
  return KeepEmptiedDirectories(mount, caller, place);
}

Outcome RemoveVersion(MountContext& mount, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(
      auto latest, ReadColumn(mount, caller, place.As(PlaceKind::kCell), ReadDetail::kLengths));
  // The history of a column already deleted stays: rm -r of .versions/q is no more than a gesture.
  if (!latest && place.kind == PlaceKind::kVersionsFile) return {};
  CELLFS_RETURN_IF_FAILED(Mutate(mount, caller, place, DeleteVersion(place)));
  if (!latest || latest->timestamp != place.timestamp) return {};
  AttributeUpdate update;
  update.ctime = ToTimespec(mount.clock->Now());
  update.version = place.timestamp;
  CELLFS_RETURN_IF_FAILED(mount.attributes.Update(place, update));
  return KeepEmptiedDirectories(mount, caller, place);
}

// The hidden versions are taken back, so that the next compaction frees them.
Outcome FreeDeleted(MountContext& mount, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, RawColumn(mount, caller, place, ReadDetail::kLengths));
  Withdraw withdraw{place.row, {}};
  for (const Cell& cell : raw) {
    if (cell.type != CellType::kPut) continue;
    withdraw.cells.push_back({place.family, place.qualifier, cell.timestamp, cell.type});
  }
  if (withdraw.cells.empty()) return ENOENT;
  const Status freed = Mutate(mount, caller, place, std::move(withdraw));
  if (freed.code() != StatusCode::kUnavailable) return freed;
  return {EBUSY, "an .asof that is held may see what would be freed; /.cellfs/status names it"};
}

// A file from CREATE to its first put: there is nothing in the store to remove.
bool TakeClaim(MountContext& mount, const Found& found) {
  if (!found.unstored || found.unstored->reason != UnstoredReason::kClaimed) return false;
  return mount.unstored.Remove(found.place);
}

Outcome RemoveFile(MountContext& mount, const Caller& caller, const Found& found,
                   std::string_view name) {
  const Place& place = found.place;
  if (TakeClaim(mount, found)) return KeepEmptiedDirectories(mount, caller, place);
  switch (place.kind) {
    case PlaceKind::kCell:
      return RemoveCell(mount, caller, place, name);
    case PlaceKind::kCounter:
      return RemoveCell(mount, caller, place.As(PlaceKind::kCell), name);
    case PlaceKind::kVersion:
    case PlaceKind::kVersionsFile:
      return RemoveVersion(mount, caller, place);
    case PlaceKind::kDeletedCell:
      return FreeDeleted(mount, caller, place);
    case PlaceKind::kSchemaFile:
    case PlaceKind::kNamespaceFile:
      mount.unstored.HideToml(place.Parent());
      return {};
    case PlaceKind::kMemoryFile:
      mount.unstored.Remove(place);
      return {};
    default:
      return EPERM;
  }
}

// ---- Directories ------------------------------------------------------------------------------

Outcome RemoveNamespace(MountContext& mount, const Caller& caller, const Place& place) {
  const std::string& name = place.table.namespace_name;
  if (name == kDefaultNamespace || name == kSystemNamespace) return {EPERM, "it always exists"};
  CELLFS_ASSIGN_OR_RETURN(auto tables, mount.store.ListTables(name));
  if (!tables.empty()) return ENOTEMPTY;
  CELLFS_RETURN_IF_FAILED(mount.store.DropNamespace(caller, name));
  mount.unstored.RemoveBelow(place);
  mount.unstored.ShowToml(place);
  return mount.attributes.Drop(place);
}

Outcome RemoveTable(MountContext& mount, const Caller& caller, const Place& place) {
  for (const UnstoredPtr& entry : mount.unstored.ChildrenAfter(place, std::nullopt, SIZE_MAX)) {
    if (entry->place.kind == PlaceKind::kRow) return ENOTEMPTY;
  }
  CELLFS_ASSIGN_OR_RETURN(const bool dropped, mount.store.DropEmptyTable(caller, place.table));
  if (!dropped) return ENOTEMPTY;
  mount.unstored.RemoveBelow(place);
  mount.unstored.ShowToml(place);
  return mount.attributes.Drop(place);
}

bool HasClaims(MountContext& mount, const Place& directory) {
  for (const UnstoredPtr& entry : mount.unstored.ChildrenAfter(directory, std::nullopt, SIZE_MAX)) {
    if (entry->reason == UnstoredReason::kClaimed) return true;
    if (entry->place.IsDirectory() && HasClaims(mount, entry->place)) return true;
  }
  return false;
}

// mkdir declared it, and it never held a cell: the declaration goes as well.
Outcome Undeclare(MountContext& mount, const Caller& caller, const Place& family) {
  Scan scan;
  scan.columns[family.family];
  scan.raw = true;
  scan.limit = scan.store_limit = 1;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, mount.store.OpenScanner(caller, family.table, scan));
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({1, 1}));
  if (!rows.empty()) return {};
  CELLFS_ASSIGN_OR_RETURN(auto present, mount.store.DescribeTable(family.table));
  TableSchema schema = *present;
  schema.families.erase(family.family);
  if (schema.families.empty() && !IsOpen(schema)) return {};
  return mount.store.AlterTable(caller, schema);
}

Outcome RemoveRowOrFamily(MountContext& mount, const Caller& caller, const Found& found) {
  const Place& place = found.place;
  const bool shows_a_cell = found.version >= 0;
  if (shows_a_cell || HasClaims(mount, place)) return ENOTEMPTY;
  mount.unstored.RemoveBelow(place);
  mount.unstored.Remove(place);
  if (place.kind != PlaceKind::kFamily || !mount.recent.WasDeclared(place)) return {};
  return Undeclare(mount, caller, place);
}

Outcome RemoveOne(MountContext& mount, const Caller& caller, const Found& found) {
  const Place& place = found.place;
  switch (place.kind) {
    case PlaceKind::kNamespace:
      return RemoveNamespace(mount, caller, place);
    case PlaceKind::kTable:
      return RemoveTable(mount, caller, place);
    case PlaceKind::kRow:
    case PlaceKind::kFamily:
      return RemoveRowOrFamily(mount, caller, found);
    case PlaceKind::kVersionsDirectory:
    case PlaceKind::kVersionsColumn:
    case PlaceKind::kCountersDirectory:
    case PlaceKind::kDeletedDirectory:
      mount.unstored.RemoveBelow(place);
      mount.unstored.Remove(place);
      return {};
    case PlaceKind::kMemoryDirectory:
      if (mount.unstored.HasChildren(place)) return ENOTEMPTY;
      mount.unstored.Remove(place);
      return {};
    default:
      return EPERM;
  }
}

}  // namespace

Outcome Unlink(MountContext& mount, const Request& request, const Place& directory,
               std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(Found found, Resolver(mount).LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (place.IsDirectory()) return EISDIR;
  if (place.IsReadOnly() || mount.options.read_only) return EROFS;
  NodePtr node, open;
  {
    const auto lock = mount.column_locks.Take(place);
    open = BeforeNameGoes(mount, place);
    CELLFS_RETURN_IF_FAILED(RemoveFile(mount, *request.caller, found, name));
    node = mount.inodes.Unlink(place);
  }
  AfterNameWent(open);
  if (place.IsColumn() && place.kind != PlaceKind::kCell) {
    mount.kernel.ColumnChanged(place, node.get());
  }
  return {};
}

Outcome RemoveDirectory(MountContext& mount, const Request& request, const Place& directory,
                        std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(Found found, Resolver(mount).LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (!place.IsDirectory()) return ENOTDIR;
  if (place.IsReadOnly() || mount.options.read_only) return EROFS;
  CELLFS_RETURN_IF_FAILED(RemoveOne(mount, *request.caller, found));
  mount.directory_times.Forget(place);
  mount.inodes.Unlink(place);
  return {};
}

}  // namespace cellfs::fs
