// SPDX-License-Identifier: MIT
#include "fs/operations/rename.h"

#include <linux/fs.h>

#include <optional>

#include "fs/content/column_change.h"
#include "fs/content/column_rights.h"
#include "fs/operations/dropped.h"
#include "fs/operations/rename_column.h"
#include "fs/operations/rename_table.h"
#include "fs/operations/rename_toml.h"
#include "fs/reading/later_timestamps.h"
#include "fs/reading/schema_rights.h"

namespace cellfs::fs {

namespace {

bool IsMemory(const Place& place) {
  return place.kind == PlaceKind::kMemoryFile || place.kind == PlaceKind::kMemoryDirectory;
}

// A claimed source may have bytes by now: its handles put them. What nobody wrote to is empty.
Outcome SettleClaim(const Renaming& with, const Place& from) {
  const NodePtr node = with.tree.inodes.Find(from);
  if (node == nullptr) return {};
  for (const auto& handle : node->handles()) CELLFS_RETURN_IF_FAILED(handle->Flush());
  if (!with.tree.unstored.Find(from)) return {};
  for (const auto& handle : node->handles()) CELLFS_RETURN_IF_FAILED(handle->PutAll());
  return {};
}

// Of files in memory alone, and of those that are no file of a column; nullopt: it is another.
std::optional<Outcome> RenameInMemory(const Renaming& with, const SchemaChanges::Turn& turn,
                                      const Request& request, const ResolvedEntry& from,
                                      const Place& to) {
  const Place& source = from.place;
  if (IsMemory(source) && IsMemory(to)) {
    with.tree.unstored.Move(source, to);
    return Outcome();
  }
  if (source.kind == PlaceKind::kMemoryFile && to.IsToml())
    return ApplyMemory(with, turn, request, from, to);
  if (source.IsToml()) return PutTomlAside(with, source, to);
  return std::nullopt;
}

Outcome RenameOne(const Renaming& with, ColumnChange& change, const SchemaChanges::Turn& turn,
                  const Request& request, const ResolvedEntry& from, const Place& to,
                  bool must_be_absent) {
  const Caller& caller = *request.caller;
  const Place& source = from.place;
  const bool is_of_row = source.table == to.table && source.row == to.row;
  if (IsMemory(source) && !is_of_row) return EXDEV;
  if (const auto renamed = RenameInMemory(with, turn, request, from, to)) {
    if (renamed->ok()) change.NameMoved();
    return *renamed;
  }
  if (source.IsDirectory() || !is_of_row) return EXDEV;
  if (!IsCellOrVersion(to)) return EPERM;
  if (IsMemory(source)) return PutMemory(with, change, caller, from, to, must_be_absent);
  const bool movable = IsCellOrVersion(source) || source.kind == PlaceKind::kDeletedCell;
  return movable ? RenameColumn(with, change, request, source, to, must_be_absent) : EPERM;
}

// Whether a cell is there is seen when it is read to be moved.
OutcomeOr<ResolvedEntry> FindSource(const Renaming& with, const Caller& caller,
                                    const Place& directory, std::string_view name) {
  const auto place = with.resolver.Child(caller, directory, name, NameUse::kLookUp);
  if (!place.ok()) return place.status();
  if (!IsCellOrVersion(*place)) return with.resolver.Find(caller, *place);
  return OutcomeOr<ResolvedEntry>(std::in_place, *place, with.tree.unstored.Find(*place));
}

// EEXIST, EISDIR, ENOTDIR. What stands at a cell's place is no directory.
Outcome CheckTarget(const Resolver& resolver, const Caller& caller, const Place& directory,
                    std::string_view name, const Place& from, const Place& to,
                    bool must_be_absent) {
  if (IsCellOrVersion(to) && !must_be_absent) return {};
  // Of files and directories in memory the name says one or the other.
  const auto target =
      IsMemory(to) ? resolver.LookUp(caller, directory, name) : resolver.Find(caller, to);
  if (!target.ok()) return target.error() == ENOENT ? Outcome() : target.status();
  if (must_be_absent) return EEXIST;
  const bool onto_directory = target->place.IsDirectory();
  if (onto_directory != from.IsDirectory()) return onto_directory ? EISDIR : ENOTDIR;
  return {};
}

Outcome CheckMayReplace(const Renaming& with, const Request& request, const Place& place) {
  if (!place.IsToml()) return {};
  const bool is_hidden = with.tree.unstored.IsTomlHidden(place.Parent());
  return CheckMayReplaceToml(with.reading, request, place,
                             is_hidden ? IsTomlShown::kNo : IsTomlShown::kYes);
}

// mv copies then, the latest versions alone.
Outcome CannotRename(const Place& directory) {
  const std::string name =
      directory.kind == PlaceKind::kNamespace ? "a namespace" : "a row or family";
  return {EXDEV, name + " has one name for ever, so mv copies, without history; with it: mount "
                        "with -o controls=visible, then 'rsync -a OLD/ NEW/' and 'rm -rf OLD'"};
}

Outcome RenameDirectory(const Renaming& with, const Request& request, const Place& from,
                        const Place& new_directory, std::string_view new_name) {
  if (from.kind == PlaceKind::kDropped)
    return BringBack(with.directories, request, from, new_directory, new_name);
  if (from.kind == PlaceKind::kTable)
    return RenameTableDirectory(with.directories, request, from, new_directory, new_name);
  const bool is_data = from.kind == PlaceKind::kNamespace || from.kind == PlaceKind::kRow ||
                       from.kind == PlaceKind::kFamily;
  return is_data ? CannotRename(from) : EXDEV;
}

bool IsBeside(const Place& toml, const Place& other) {
  return other.kind == PlaceKind::kMemoryFile && toml.Parent() == other.Parent();
}

// A directory's new name is read as mkdir would read it, a file's as open. A column stays one,
// though a file that is made under its new name would be held in memory.
OutcomeOr<Place> TargetPlace(const Resolver& resolver, const Caller& caller, const Place& from,
                             const Place& directory, std::string_view name) {
  const NameUse use = from.IsDirectory() ? NameUse::kCreateDirectory : NameUse::kCreateFile;
  auto to = resolver.Child(caller, directory, name, use);
  if (!to.ok()) return to;
  const bool goes_to_memory = IsMemory(*to) && directory.kind == PlaceKind::kFamily;
  if (!goes_to_memory || IsMemory(from)) return to;
  return resolver.Child(caller, directory, name, NameUse::kLookUp);
}

}  // namespace

Outcome Rename(const Renaming& with, const Request& request, const Place& directory,
               std::string_view name, const Place& new_directory, std::string_view new_name,
               unsigned flags) {
  if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) return EINVAL;
  const Caller& caller = *request.caller;
  const auto source = FindSource(with, caller, directory, name);
  if (!source.ok()) return source.status();
  const ResolvedEntry& from = *source;
  if (directory.IsReadOnly() || new_directory.IsReadOnly() || with.options.read_only) return EROFS;
  if (from.place.IsDirectory() && from.place.kind != PlaceKind::kMemoryDirectory)
    return RenameDirectory(with, request, from.place, new_directory, new_name);
  const auto target = TargetPlace(with.resolver, caller, from.place, new_directory, new_name);
  if (!target.ok()) return target.status();
  const Place& to = *target;
  if (from.place == to) return {};
  // Before the locks are taken: who applies a .toml may wait for those of a family that it drops.
  if (from.place.IsToml() && !IsBeside(from.place, to)) return EXDEV;
  for (const Place* const place : {&from.place, &to})
    CELLFS_RETURN_IF_FAILED(CheckMayReplace(with, request, *place));
  const bool must_be_absent = (flags & RENAME_NOREPLACE) != 0;
  CELLFS_RETURN_IF_FAILED(
      CheckTarget(with.resolver, caller, new_directory, new_name, from.place, to, must_be_absent));
  for (const Place* const place : {&from.place, &to})
    CELLFS_RETURN_IF_FAILED(CheckIsNoLater(with.reading, request.uid, *place));
  if (to.IsColumn() && to.kind != PlaceKind::kCell) {
    CELLFS_RETURN_IF_FAILED(
        CheckMayAddVersion(with.reading, with.attributes, with.options, request, to));
  }

  if (from.unstored && from.unstored->reason == UnstoredReason::kClaimed) {
    CELLFS_RETURN_IF_FAILED(SettleClaim(with, from.place));
  }
  Outcome renamed;
  {
    SchemaChanges::Turn turn;
    if (to.IsToml()) turn = with.schemas.TakeTurn(to.table);
    ColumnChange change(with.changing, from.place, to);
    change.PrepareOrphan(to);
    renamed = RenameOne(with, change, turn, request, from, to, must_be_absent);
    if (to.IsToml()) turn.End();
    if (renamed.ok()) {
      renamed = change.AwaitDisk();
    } else {
      change.Failed(renamed);  // the target's mode may be another
    }
  }
  if (to.IsToml()) with.schemas.TellApplied(to);
  return renamed;
}

}  // namespace cellfs::fs
