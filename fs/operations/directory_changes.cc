// SPDX-License-Identifier: MIT
#include "fs/operations/directory_changes.h"

#include "fs/resolve/resolver.h"
#include "fs/schema/schema_file.h"
#include "fs/schema/toml_files.h"

namespace cellfs::fs {

namespace {

Outcome MakeNamespace(MountContext& mount, const Caller& caller, const Place& place) {
  CELLFS_RETURN_IF_FAILED(CheckNamespaceName(place.table.namespace_name));
  CELLFS_RETURN_IF_FAILED(mount.store.CreateNamespace(caller, {place.table.namespace_name, {}}));
  mount.unstored.HideToml(place);
  return NoteTomlChanged(mount, place);
}

// Without families, until the first is declared or a schema is written.
Outcome MakeTable(MountContext& mount, const Caller& caller, const Place& place) {
  TableSchema schema(place.table);
  CELLFS_RETURN_IF_FAILED(schema.Set(kOpenAttribute, "true"));
  CELLFS_RETURN_IF_FAILED(CheckTableName(place.table));
  CELLFS_RETURN_IF_FAILED(mount.store.CreateTable(caller, schema));
  mount.unstored.ShowToml(place.Parent());
  mount.unstored.HideToml(place);
  return NoteTomlChanged(mount, place);
}

Outcome DeclareFamily(MountContext& mount, const Caller& caller, const Place& place) {
  FamilySchema family(place.family);
  for (const auto& [attribute, value] : mount.options.family_defaults) {
    CELLFS_RETURN_IF_FAILED(family.Set(attribute, value));
  }
  CELLFS_RETURN_IF_FAILED(mount.store.AddFamily(caller, place.table, family));
  mount.recent.NoteDeclared(place);
  return NoteTomlChanged(mount, TablePlace(place.table));
}

Outcome MakeFamily(MountContext& mount, const Caller& caller, const Place& place) {
  // A copy may write the .schema.toml at the same time: its time is not to be overtaken by ours.
  const std::lock_guard lock(mount.schema_changes);
  CELLFS_ASSIGN_OR_RETURN(auto schema, mount.store.DescribeTable(place.table));
  if (schema->FindFamily(place.family) != nullptr) return {};
  if (!IsOpen(*schema)) {
    return {EPERM, "table '" + place.table.ToString() + "' has no family '" + place.family +
                       "' and is not open to new ones; declare it in .schema.toml"};
  }
  if (!CheckFamilyName(place.family).ok()) return EPERM;
  return DeclareFamily(mount, caller, place);
}

Outcome Make(MountContext& mount, const Request& request, const Place& place, mode_t mode) {
  const Caller& caller = *request.caller;
  UnstoredEntry entry{place, UnstoredReason::kMade, ToTimespec(mount.clock->Now()), nullptr,
                      request.pid};
  switch (place.kind) {
    case PlaceKind::kNamespace:
      return MakeNamespace(mount, caller, place);
    case PlaceKind::kTable:
      return MakeTable(mount, caller, place);
    case PlaceKind::kRow: {
      CELLFS_RETURN_IF_FAILED(CheckRow(place.row));
      CELLFS_ASSIGN_OR_RETURN(auto schema, mount.store.DescribeTable(place.table));
      if (schema->read_only()) return {EROFS, "table '" + place.table.ToString() + "' is READONLY"};
      mount.unstored.ShowToml(place.Parent());
      break;
    }
    case PlaceKind::kFamily:
      CELLFS_RETURN_IF_FAILED(MakeFamily(mount, caller, place));
      break;
    case PlaceKind::kVersionsColumn:
      break;
    case PlaceKind::kMemoryDirectory: {
      entry.reason = UnstoredReason::kMemory;
      CELLFS_ASSIGN_OR_RETURN(entry.file, mount.memory_files.Make());
      entry.file->uid = request.uid;
      entry.file->gid = request.gid;
      entry.file->mode = mode & ~request.umask & 07777;
      entry.file->mtime = entry.file->ctime = entry.made;
      break;
    }
    default:
      return EPERM;
  }
  mount.unstored.Add(std::move(entry));
  return {};
}

}  // namespace

OutcomeOr<Place> MakeDirectory(MountContext& mount, const Request& request, const Place& directory,
                               std::string_view name, mode_t mode) {
  Resolver resolver(mount);
  CELLFS_ASSIGN_OR_RETURN(
      Place place, resolver.Child(*request.caller, directory, name, NameUse::kCreateDirectory));
  const auto found = resolver.Find(*request.caller, place);
  if (found.ok() && found->absent_for == 0) return Outcome(EEXIST);
  // What cannot be looked at may be there, and somebody else's.
  if (!found.ok() && found.error() != ENOENT) return found.status();
  if (place.IsReadOnly() || mount.options.read_only) return Outcome(EROFS);
  CELLFS_RETURN_IF_FAILED(Make(mount, request, place, mode));
  AttributeUpdate update;
  update.uid = request.uid;
  update.gid = request.gid;
  update.mode = mode & ~request.umask & 07777;
  update.anew = true;
  // Nothing else tells when these were made.
  if (place.kind == PlaceKind::kNamespace || place.kind == PlaceKind::kTable) {
    update.mtime = update.ctime = ToTimespec(mount.clock->Now());
  }
  CELLFS_RETURN_IF_FAILED(mount.attributes.Update(place, update));
  return place;
}

}  // namespace cellfs::fs
