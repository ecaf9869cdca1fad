// SPDX-License-Identifier: MIT
#include "fs/operations/attribute_changes.h"

#include <utility>
#include <vector>

#include "fs/nodes/column_lock.h"
#include "fs/reading/change_rights.h"
#include "fs/reading/mode_rights.h"

namespace cellfs::fs {

namespace {

// truncate(2) of a file that is not open here: one Put of its own.
Outcome TruncateByName(const AttributeChanging& with, const Request& request, Node& node,
                       uint64_t size) {
  const Snapshot<Place> place = node.place();
  CELLFS_ASSIGN_OR_RETURN(
      OpenedFile opened, with.writers.Open(request, node.shared_from_this(), *place, OpenMode{}));
  CELLFS_RETURN_IF_FAILED(opened.handle->Truncate(size));
  Outcome flushed = opened.handle->Flush();
  opened.handle->Release();
  return flushed;
}

// A time goes with the bytes that are not yet put, whoever holds them.
bool GivesTimeToPut(Node& node, FileHandle* handle, timespec mtime) {
  if (handle != nullptr && handle->SetTime(mtime)) return true;
  for (const auto& open : node.handles()) {
    if (open.get() != handle && open->SetTime(mtime)) return true;
  }
  return false;
}

void ChangeMemoryFile(timespec now, MemoryFile& file, const AttributeChange& change) {
  std::lock_guard lock(file.mutex);
  if (change.mode) file.mode = *change.mode & 07777;
  if (change.uid) file.uid = *change.uid;
  if (change.gid) file.gid = *change.gid;
  if (change.mtime) file.mtime = *change.mtime;
  file.ctime = now;
}

// Whether the time that was set of the directory is what it shows: no entry came or went since.
// What is stored from now on has a later ctime, which would not tell that.
bool ShowsTimeThatWasSet(const AttributeChanging& with, const Place& directory,
                         const ShownAttributes& shown) {
  if (with.tree.directory_times.Find(directory)) return false;
  if (!shown.changed || !shown.ctime) return true;
  return ToMilliseconds(*shown.changed) <= ToMilliseconds(*shown.ctime);
}

// The directories without attributes of their own that are kept in the kernel with this one's.
std::vector<PlaceKind> ControlsOf(PlaceKind directory) {
  switch (directory) {
    case PlaceKind::kRoot:
      return {PlaceKind::kAsofDirectory, PlaceKind::kSelfDirectory, PlaceKind::kKeysDirectory};
    case PlaceKind::kFamily:
      return {PlaceKind::kVersionsDirectory, PlaceKind::kCountersDirectory,
              PlaceKind::kDeletedDirectory};
    default:
      return {};
  }
}

// What is below a table or namespace, and of which nothing is stored, shows its owner and mode.
Outcome DropInherited(const AttributeChanging& with, const Place& directory,
                      const ShownAttributes& before) {
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes now, with.attributes.Find(directory, -1));
  if (now.uid == before.uid && now.gid == before.gid && now.mode == before.mode) return {};
  if (directory.kind == PlaceKind::kNamespace) {
    with.tree.kernel.NamespaceChanged(directory.table.namespace_name);
  } else if (directory.kind == PlaceKind::kTable) {
    with.tree.kernel.TableChanged(directory.table);
  } else {
    for (const PlaceKind control : ControlsOf(directory.kind)) {
      with.tree.kernel.AttributesChanged(directory.As(control), nullptr);
    }
  }
  return {};
}

// Under the column's lock, as a put remembers the times of its version: of two who read what is
// stored and write it back one would lose what the other has said.
OutcomeOr<std::optional<ResolvedEntry>> StoreOfFile(const AttributeChanging& with,
                                                    const Request& request, Node& node,
                                                    AttributeUpdate update) {
  ColumnLock lock = ColumnLock::Of(node);
  const Snapshot<Place> place = node.place();
  if (node.unlinked()) return std::optional<ResolvedEntry>();
  auto found = with.resolver.Find(*request.caller, *place, &node);
  if (!found.ok()) return found.status();
  update.version = found->version;
  CELLFS_ASSIGN_OR_RETURN(found->attributes, with.attributes.UpdateAndFind(*place, update));
  lock.unlock();
  if (place->IsColumn() && place->kind != PlaceKind::kCell)
    with.tree.kernel.AttributesChanged(place->As(PlaceKind::kCell), &node);
  return OutcomeOr<std::optional<ResolvedEntry>>(std::in_place, std::move(*found));
}

// Where nothing is kept: what is shown already may be said, as every copy does. A directory's time
// is taken and forgotten for the same reason; a file's is its timestamp, to the millisecond.
Outcome CheckIsShown(const AttributeChanging& with, const Request& request, const Place& place,
                     const AttributeUpdate& update) {
  CELLFS_ASSIGN_OR_RETURN(const ResolvedEntry found, with.resolver.Find(*request.caller, place));
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, with.attributes.Find(place, found.version));
  const auto is_shown = [](const auto& said, auto present) { return !said || *said == present; };
  const bool has_owner = is_shown(update.uid, shown.uid) && is_shown(update.gid, shown.gid);
  const bool has_time = !update.mtime || place.IsDirectory() ||
                        ToMilliseconds(*update.mtime) == found.version;
  if (has_owner && is_shown(update.mode, shown.mode) && has_time) return {};
  return {EPERM, "this mount keeps no owners, modes and times: 'attributes' in [hbase] is off"};
}

// Whether it is a version from before another user made its name anew, who alone may change it.
// Owner and mode that are stored are his then, so those that a copy brings are passed over.
OutcomeOr<bool> IsOfAnotherOwner(const AttributeChanging& with, const Request& request,
                                 const Place& place) {
  Timestamp version = place.timestamp;
  if (place.kind == PlaceKind::kDeletedCell) {
    CELLFS_ASSIGN_OR_RETURN(const auto found, with.resolver.Find(*request.caller, place));
    version = found.version;
  } else if (!place.IsVersion()) {
    return false;
  }
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, with.attributes.Find(place, version));
  CELLFS_ASSIGN_OR_RETURN(const OwnerAndMode today, with.attributes.FindOwner(place));
  if (shown.uid == today.uid) return false;
  if (IsBoundByModes(with.reading, request) && request.uid != today.uid)
    return Outcome(EPERM, "the name is another user's now");
  return true;
}

Outcome StoreOfDirectory(const AttributeChanging& with, const Place& directory,
                         AttributeUpdate update) {
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes before,
                          with.attributes.Find(directory, update.version));
  update.forget_mtime = !ShowsTimeThatWasSet(with, directory, before);
  CELLFS_RETURN_IF_FAILED(with.attributes.Update(directory, update));
  return DropInherited(with, directory, before);
}

}  // namespace

OutcomeOr<std::optional<ResolvedEntry>> ChangeAttributes(const AttributeChanging& with,
                                                         const Request& request, Node& node,
                                                         const AttributeChange& change,
                                                         FileHandle* handle) {
  const Snapshot<Place> now = node.place();
  const Place& place = *now;
  const std::optional<ResolvedEntry> not_found;
  if (place.IsReadOnly() || with.options.read_only) return Outcome(EROFS);
  if (place.IsDirectory() && change.size) return Outcome(EISDIR);
  CELLFS_ASSIGN_OR_RETURN(const bool is_anothers, IsOfAnotherOwner(with, request, place));
  if (change.size) {
    CELLFS_RETURN_IF_FAILED(handle != nullptr ? handle->Truncate(*change.size)
                                              : TruncateByName(with, request, node, *change.size));
  }
  // Without a name there is nothing left to remember it for.
  if (node.unlinked()) return not_found;
  if (auto entry = with.tree.unstored.Find(place); entry && entry->file) {
    ChangeMemoryFile(ToTimespec(with.tree.clock.Now()), *entry->file, change);
    return not_found;
  }
  // Copies that bring a history set what its directories have, and are not to fail.
  if (!place.HasAttributes()) return not_found;
  if (!change.uid && !change.gid && !change.mode && !change.mtime) return not_found;
  CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, *request.caller, place));
  AttributeUpdate update;
  update.uid = change.uid;
  update.gid = change.gid;
  if (change.mode) update.mode = *change.mode & 07777;
  if (change.mtime && !GivesTimeToPut(node, handle, *change.mtime)) update.mtime = change.mtime;
  if (is_anothers) {
    update.uid.reset();
    update.gid.reset();
    update.mode.reset();
  }
  if (!update.uid && !update.gid && !update.mode && !update.mtime) return not_found;
  if (!with.attributes.keeps()) {
    CELLFS_RETURN_IF_FAILED(CheckIsShown(with, request, place, update));
    return not_found;
  }
  update.ctime = ToTimespec(with.tree.clock.Now());
  if (!place.IsDirectory()) return StoreOfFile(with, request, node, update);
  CELLFS_RETURN_IF_FAILED(StoreOfDirectory(with, place, update));
  return not_found;
}

}  // namespace cellfs::fs
