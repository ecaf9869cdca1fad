// SPDX-License-Identifier: MIT
#include "fs/operations/removal.h"

#include "fs/content/column_change.h"
#include "fs/content/column_traces.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/schema_file.h"

namespace cellfs::fs {

namespace {

RowStep StepOf(MountContext& mount, const Place& place) {
  return {{place.row, {}, mount.options.durability}, {}, {}};
}

// The only version of a temporary file, which may leave without a trace.
OutcomeOr<std::optional<Timestamp>> TemporaryVersion(MountContext& mount, const Caller& caller,
                                                     const Place& place, std::string_view name) {
  if (!mount.recent.CreatedVersion(place) || !IsTemporaryName(mount.options, std::string(name))) {
    return std::optional<Timestamp>();
  }
  return OnlyVersionMadeHere(mount, caller, place);
}

Outcome RemoveCell(MountContext& mount, const Caller& caller, const Place& place,
                   std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(const auto version, TemporaryVersion(mount, caller, place, name));
  RowStep step = StepOf(mount, place);
  if (version) {
    step.withdrawal = WithdrawVersion(place, *version);
    step.instead = DeleteColumn(place);
  } else {
    step.mutations.mutations.push_back(DeleteColumn(place));
  }
  CELLFS_ASSIGN_OR_RETURN(const auto done, mount.mutations.Do(caller, place.table, step));
  if (done.withdrawn) {
    mount.RecordFailure("unlink", place, mount.attributes.Forget({place, *version}));
  }
  mount.recent.Forget(place);
  KeepEmptiedDirectories(mount, caller, place);
  return {};
}

Outcome RemoveVersion(MountContext& mount, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(
      auto latest, ReadColumn(mount, caller, place.As(PlaceKind::kCell), ReadDetail::kLengths));
  // The history of a column already deleted stays: rm -r of .versions/q is no more than a gesture.
  if (!latest && place.kind == PlaceKind::kVersionsFile) return {};
  RowStep step = StepOf(mount, place);
  step.mutations.mutations.push_back(DeleteVersion(place));
  CELLFS_RETURN_IF_FAILED(mount.mutations.Do(caller, place.table, step).status());
  if (place.kind == PlaceKind::kVersionsFile) KeepEmptiedHistory(mount, caller, place);
  if (!latest || latest->timestamp != place.timestamp) return {};
  AttributeUpdate update;
  update.ctime = ToTimespec(mount.clock->Now());
  update.version = place.timestamp;
  mount.RecordFailure("unlink", place, mount.attributes.Update(place, update));
  KeepEmptiedDirectories(mount, caller, place);
  return {};
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
  RowStep step = StepOf(mount, place);
  step.withdrawal = std::move(withdraw);
  return mount.mutations.DoWithdrawing(caller, place.table, std::move(step));
}

// A file from CREATE to its first put: there is nothing in the store to remove.
bool TakeClaim(MountContext& mount, const ResolvedEntry& found) {
  if (!found.unstored || found.unstored->reason != UnstoredReason::kClaimed) return false;
  return mount.unstored.Remove(found.place);
}

Outcome RemoveFile(MountContext& mount, const Caller& caller, const ResolvedEntry& found,
                   std::string_view name) {
  const Place& place = found.place;
  if (TakeClaim(mount, found)) {
    KeepEmptiedDirectories(mount, caller, place);
    return {};
  }
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
  mount.RecordFailure("rmdir", place, mount.attributes.Drop(place));
  return {};
}

Outcome RemoveTable(MountContext& mount, const Caller& caller, const Place& place) {
  for (const UnstoredPtr& entry : mount.unstored.ChildrenAfter(place, std::nullopt, SIZE_MAX)) {
    if (entry->place.kind == PlaceKind::kRow) return ENOTEMPTY;
  }
  CELLFS_ASSIGN_OR_RETURN(const bool dropped, mount.store.DropEmptyTable(caller, place.table));
  if (!dropped) return ENOTEMPTY;
  mount.unstored.RemoveBelow(place);
  mount.unstored.ShowToml(place);
  mount.RecordFailure("rmdir", place, mount.attributes.Drop(place));
  return {};
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

Outcome RemoveRowOrFamily(MountContext& mount, const Caller& caller, const ResolvedEntry& found) {
  const Place& place = found.place;
  const bool shows_a_cell = found.version >= 0;
  if (shows_a_cell || HasClaims(mount, place)) return ENOTEMPTY;
  if (place.kind == PlaceKind::kFamily && mount.recent.WasDeclared(place)) {
    CELLFS_RETURN_IF_FAILED(Undeclare(mount, caller, place));
  }
  mount.unstored.RemoveBelow(place);
  mount.unstored.Remove(place);
  return {};
}

// A namespace, a table, or the declaration of a family, may have gone.
void TellDoubtful(MountContext& mount, const Place& directory) {
  if (directory.kind == PlaceKind::kNamespace) {
    mount.kernel.NamespaceChanged(directory.table.namespace_name);
  } else {
    mount.kernel.TableChanged(directory.table);
  }
}

Outcome RemoveOne(MountContext& mount, const Caller& caller, const ResolvedEntry& found) {
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
  CELLFS_ASSIGN_OR_RETURN(ResolvedEntry found,
                          Resolver(mount).LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (place.IsDirectory()) return EISDIR;
  if (place.IsReadOnly() || mount.options.read_only) return EROFS;
  ColumnChange change(mount, place);
  change.PrepareOrphan(place);
  Outcome removed = RemoveFile(mount, *request.caller, found, name);
  if (removed.ok()) {
    change.NameRemoved();
  } else {
    change.Ended(removed);
  }
  return removed;
}

Outcome RemoveDirectory(MountContext& mount, const Request& request, const Place& directory,
                        std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(ResolvedEntry found,
                          Resolver(mount).LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (!place.IsDirectory()) return ENOTDIR;
  if (place.IsReadOnly() || mount.options.read_only) return EROFS;
  if (Outcome removed = RemoveOne(mount, *request.caller, found); !removed.ok()) {
    if (removed.is_unknown()) TellDoubtful(mount, place);
    return removed;
  }
  mount.directory_times.Forget(place);
  mount.inodes.Unlink(place);
  return {};
}

}  // namespace cellfs::fs
