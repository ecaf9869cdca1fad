// SPDX-License-Identifier: MIT
#include "fs/operations/rmdir.h"

#include "fs/operations/dropped.h"
#include "fs/operations/kept_shares.h"
#include "fs/reading/change_rights.h"
#include "fs/reading/schema_rights.h"

namespace cellfs::fs {
namespace {

Outcome RemoveNamespace(const DirectoryChanging& with, const Request& request,
                        const Place& place) {
  const std::string& name = place.table.namespace_name;
  if (name == kDefaultNamespace || name == kSystemNamespace) return {EPERM, "it always exists"};
  CELLFS_RETURN_IF_FAILED(CheckMayDrop(with.reading, request, place));
  CELLFS_ASSIGN_OR_RETURN(auto tables, with.reading.ListTables(place));
  if (!tables.empty()) return ENOTEMPTY;
  CELLFS_ASSIGN_OR_RETURN(const Timestamp last_kept, with.attributes.LastKeptDrop(name));
  CELLFS_RETURN_IF_FAILED(with.store.DropNamespace(*request.caller, name));
  with.tree.unstored.RemoveBelow(place);
  with.tree.unstored.ShowToml(place);
  with.errors.Record("rmdir", place, with.attributes.DropNamespace(place, last_kept));
  return {};
}

Outcome RemoveTable(const DirectoryChanging& with, const Request& request, const Place& place) {
  CELLFS_RETURN_IF_FAILED(CheckMayDrop(with.reading, request, place));
  for (const UnstoredPtr& entry : with.tree.unstored.ChildrenAfter(place, std::nullopt, SIZE_MAX)) {
    if (entry->place.kind == PlaceKind::kRow) return ENOTEMPTY;
  }
  CELLFS_ASSIGN_OR_RETURN(const DataTable table, with.attributes.BeginDropTable(place));
  CELLFS_ASSIGN_OR_RETURN(const bool dropped,
                          with.store.DropEmptyTable(*request.caller, place.table));
  if (!dropped) return ENOTEMPTY;
  with.tree.unstored.RemoveBelow(place);
  with.tree.unstored.ShowToml(place);
  with.tree.declared.Forget(place.table);
  with.errors.Record("rmdir", place, with.attributes.DropTable(table));
  FreeBeyondShares(with.store, with.attributes, with.errors);
  return {};
}

bool HasClaims(const UnstoredEntries& unstored, const Place& directory) {
  for (const UnstoredPtr& entry : unstored.ChildrenAfter(directory, std::nullopt, SIZE_MAX)) {
    if (entry->reason == UnstoredReason::kClaimed) return true;
    if (entry->place.IsDirectory() && HasClaims(unstored, entry->place)) return true;
  }
  return false;
}

Outcome RemoveRowOrFamily(const DirectoryChanging& with, const Caller& caller,
                          const ResolvedEntry& found) {
  const Place& place = found.place;
  const bool shows_a_cell = found.version >= 0;
  if (shows_a_cell || HasClaims(with.tree.unstored, place)) return ENOTEMPTY;
  if (with.tree.unstored.IsEmptying(place)) return ENOTEMPTY;  // its last file is still going
  if (place.kind == PlaceKind::kFamily) {
    with.tree.removed_families.Note(place);  // first: it may lack memory
    if (Outcome undeclared = with.schemas.Undeclare(caller, place); !undeclared.ok()) {
      with.tree.removed_families.Forget(place);
      return undeclared;
    }
  } else {
    with.tree.removed_families.ForgetRow(place);
  }
  with.tree.unstored.RemoveBelow(place);
  with.tree.unstored.Remove(place);
  return {};
}

// A namespace, a table, or the declaration of a family, may have gone.
void TellDoubtful(KernelCache& kernel, const Place& directory) {
  if (directory.kind == PlaceKind::kNamespace) {
    kernel.NamespaceChanged(directory.table.namespace_name);
  } else {
    kernel.TableChanged(directory.table);
  }
}

Outcome RemoveOne(const DirectoryChanging& with, const Request& request,
                  const ResolvedEntry& found) {
  const Place& place = found.place;
  switch (place.kind) {
    case PlaceKind::kNamespace:
      return RemoveNamespace(with, request, place);
    case PlaceKind::kTable:
      return RemoveTable(with, request, place);
    case PlaceKind::kRow:
    case PlaceKind::kFamily:
      return RemoveRowOrFamily(with, *request.caller, found);
    case PlaceKind::kVersionsDirectory:
    case PlaceKind::kVersionsColumn:
    case PlaceKind::kCountersDirectory:
    case PlaceKind::kDeletedDirectory:
    case PlaceKind::kDeletedRowsDirectory:
    case PlaceKind::kDeletedFamiliesDirectory:
      with.tree.unstored.RemoveBelow(place);
      with.tree.unstored.Remove(place);
      return {};
    case PlaceKind::kDeletedRow:
    case PlaceKind::kDeletedFamily:
      return found.version >= 0 ? ENOTEMPTY : Outcome();
    case PlaceKind::kDropped:
      return FreeDropped(with, request, place);
    case PlaceKind::kMemoryDirectory:
      if (with.tree.unstored.HasChildren(place)) return ENOTEMPTY;
      with.tree.unstored.Remove(place);
      return {};
    default:
      return EPERM;
  }
}

}  // namespace

Outcome RemoveDirectory(const DirectoryChanging& with, const Request& request,
                        const Place& directory, std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(ResolvedEntry found,
                          with.resolver.LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (!place.IsDirectory()) return ENOTDIR;
  if (place.IsReadOnly() || with.options.read_only) return EROFS;
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, place));
  if (Outcome removed = RemoveOne(with, request, found); !removed.ok()) {
    if (removed.is_unknown()) TellDoubtful(with.tree.kernel, place);
    return removed;
  }
  with.tree.directory_times.Forget(place);
  with.tree.inodes.Unlink(place);
  return {};
}

}  // namespace cellfs::fs
