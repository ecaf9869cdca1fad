// SPDX-License-Identifier: MIT
#include "fs/operations/mkdir.h"

#include "fs/reading/change_rights.h"
#include "fs/schema/schema_file.h"

namespace cellfs::fs {

namespace {

constexpr std::string_view kDroppedTtlOfMkdir = "2592000";  // 30 days

Outcome MakeNamespace(const DirectoryChanging& with, const Request& request, const Place& place) {
  CELLFS_RETURN_IF_FAILED(CheckNamespaceName(place.table.namespace_name));
  CELLFS_RETURN_IF_FAILED(
      with.store.CreateNamespace(*request.caller, {place.table.namespace_name, {}}));
  with.tree.unstored.ShowTomlUnwritten(place);
  with.errors.Record("mkdir", place, with.schemas.NoteChanged(place));
  return {};
}

// Where the store takes none without families, it is kept until it has one.
Outcome MakeEmptyTable(const DirectoryChanging& with, const Request& request,
                       const TableSchema& schema) {
  if (with.kept_tables == nullptr) return with.store.CreateTable(*request.caller, schema);
  CELLFS_ASSIGN_OR_RETURN(auto counted, with.tree.unstored.CountMade(request.uid));
  return with.kept_tables->Keep(schema, std::move(counted));
}

// Without families, until the first is declared or a schema is written.
Outcome MakeTable(const DirectoryChanging& with, const Request& request, const Place& place) {
  TableSchema schema(place.table);
  CELLFS_RETURN_IF_FAILED(schema.Set(kOpenAttribute, "true"));
  if (with.store.traits().keeps_dropped)
    CELLFS_RETURN_IF_FAILED(schema.Set("DROPPED_TTL", kDroppedTtlOfMkdir));
  CELLFS_RETURN_IF_FAILED(CheckTableName(place.table));
  CELLFS_ASSIGN_OR_RETURN(const auto share, with.schemas.ReserveShare(schema));
  CELLFS_RETURN_IF_FAILED(MakeEmptyTable(with, request, schema));
  with.tree.unstored.SomethingIsMadeIn(place.Parent());
  with.tree.unstored.HideToml(place);
  with.errors.Record("mkdir", place, with.schemas.NoteChanged(place));
  return {};
}

// What follows says of `entry`, which is the place's, what is its own.
Outcome MakeRow(const DirectoryChanging& with, const Request& request, UnstoredEntry& entry) {
  const Place& place = entry.place;
  CELLFS_RETURN_IF_FAILED(CheckRow(place.row));
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, place));
  CELLFS_ASSIGN_OR_RETURN(auto schema, with.reading.DescribeTable(place));
  if (schema->read_only()) return {EROFS, "table '" + place.table.ToString() + "' is READONLY"};
  CELLFS_ASSIGN_OR_RETURN(entry.counted, with.tree.unstored.CountMade(request.uid));
  entry.maker = request.pid;
  with.tree.unstored.SomethingIsMadeIn(place.Parent());
  return {};
}

Outcome MakeFamily(const DirectoryChanging& with, const Request& request, UnstoredEntry& entry) {
  CELLFS_ASSIGN_OR_RETURN(entry.counted, with.tree.unstored.CountMade(request.uid));
  return with.schemas.Declare(request, entry.place, with.options.family_defaults);
}

Outcome MakeHistory(const DirectoryChanging& with, const Request& request, UnstoredEntry& entry) {
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, entry.place));
  CELLFS_ASSIGN_OR_RETURN(entry.counted, with.tree.unstored.CountMade(request.uid));
  return {};
}

Outcome MakeTemporary(const DirectoryChanging& with, const Request& request, mode_t mode,
                      UnstoredEntry& entry) {
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, entry.place));
  entry.reason = UnstoredReason::kMemory;
  CELLFS_ASSIGN_OR_RETURN(entry.file, with.tree.memory_files.Make(request.uid));
  entry.file->uid = request.uid;
  entry.file->gid = request.gid;
  entry.file->mode = mode & ~request.umask & 07777;
  entry.file->mtime = entry.file->ctime = entry.made;
  return {};
}

Outcome MakeUnstored(const DirectoryChanging& with, const Request& request, mode_t mode,
                     UnstoredEntry& entry) {
  switch (entry.place.kind) {
    case PlaceKind::kRow:
      return MakeRow(with, request, entry);
    case PlaceKind::kFamily:
      return MakeFamily(with, request, entry);
    case PlaceKind::kVersionsColumn:
      return MakeHistory(with, request, entry);
    case PlaceKind::kMemoryDirectory:
      return MakeTemporary(with, request, mode, entry);
    default:
      return EPERM;
  }
}

Outcome Make(const DirectoryChanging& with, const Request& request, const Place& place,
             mode_t mode) {
  if (place.kind == PlaceKind::kNamespace) return MakeNamespace(with, request, place);
  if (place.kind == PlaceKind::kTable) return MakeTable(with, request, place);
  auto entry = std::make_shared<UnstoredEntry>();
  entry->place = place;
  entry->made = ToTimespec(with.tree.clock.Now());
  CELLFS_RETURN_IF_FAILED(MakeUnstored(with, request, mode, *entry));
  with.tree.unstored.Add(std::move(entry));
  if (place.kind == PlaceKind::kFamily) with.tree.removed_families.Forget(place);
  return {};
}

// A directory without the owner and mode that it was made with must not stay: it may be open to
// whom it was to be closed to.
Outcome Unmake(const DirectoryChanging& with, const Caller& caller, const Place& place,
               const Outcome& failure) {
  Outcome unmade;
  if (place.kind == PlaceKind::kNamespace) {
    unmade = with.store.DropNamespace(caller, place.table.namespace_name);
  } else if (place.kind == PlaceKind::kTable) {
    const auto dropped = with.store.DropEmptyTable(caller, place.table);
    if (!dropped.ok() || !*dropped) unmade = Outcome(EBUSY);
  } else {
    with.tree.unstored.Remove(place);
    if (place.kind == PlaceKind::kFamily)
      unmade = with.schemas.Undeclare(caller, place);
  }
  if (unmade.ok()) {
    with.tree.unstored.ShowToml(place);
    return failure;
  }
  return Status(StatusCode::kOutcomeUnknown,
                "it is made, but its owner and mode are not stored: " + failure.reason());
}

}  // namespace

OutcomeOr<Place> MakeDirectory(const DirectoryChanging& with, const Request& request,
                               const Place& directory, std::string_view name, mode_t mode) {
  CELLFS_ASSIGN_OR_RETURN(Place place, with.resolver.Child(*request.caller, directory, name,
                                                           NameUse::kCreateDirectory));
  const auto found = with.resolver.Find(*request.caller, place);
  if (found.ok() && found->absent_for == 0) return Outcome(EEXIST);
  // What cannot be looked at may be there, and somebody else's.
  if (!found.ok() && found.error() != ENOENT) return found.status();
  if (place.IsReadOnly() || with.options.read_only) return Outcome(EROFS);
  CELLFS_RETURN_IF_FAILED(Make(with, request, place, mode));
  AttributeUpdate update;
  update.uid = request.uid;
  update.gid = request.gid;
  update.mode = mode & ~request.umask & 07777;
  update.anew = true;
  // Nothing else tells when these were made.
  if (place.kind == PlaceKind::kNamespace || place.kind == PlaceKind::kTable) {
    update.mtime = update.ctime = ToTimespec(with.tree.clock.Now());
  }
  const Outcome stored = with.attributes.Update(place, update);
  if (!stored.ok()) return Unmake(with, *request.caller, place, stored);
  return place;
}

}  // namespace cellfs::fs
