// SPDX-License-Identifier: MIT
#include "fs/operations/name_changes.h"

#include <linux/fs.h>

#include "fs/content/cell_writer.h"
#include "fs/content/column_change.h"
#include "fs/content/column_rights.h"
#include "fs/content/column_traces.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/schema/toml_files.h"

namespace cellfs::fs {

namespace {

bool IsMemory(const Place& place) {
  return place.kind == PlaceKind::kMemoryFile || place.kind == PlaceKind::kMemoryDirectory;
}

bool IsToml(const Place& place) {
  return place.kind == PlaceKind::kSchemaFile || place.kind == PlaceKind::kNamespaceFile;
}

bool IsCellOrVersion(const Place& place) {
  return place.kind == PlaceKind::kCell || place.kind == PlaceKind::kVersion ||
         place.kind == PlaceKind::kVersionsFile;
}

// What is renamed, as it is put at its new name.
struct Source {
  std::string bytes;
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;
  timespec mtime{};
  Timestamp proposed = kLatestTimestamp;  // a temporary's explicit time
  int64_t time_to_live = kNoCellTtl;
};

// ---- Files in memory and .toml files ----------------------------------------------------------

Outcome MoveMemory(MountContext& mount, const Place& from, const Place& to) {
  mount.unstored.Move(from, to);
  return {};
}

std::string BytesOf(MemoryFile& file) {
  std::lock_guard lock(file.mutex);
  return file.bytes();
}

Outcome ApplyMemory(MountContext& mount, const Caller& caller, const ResolvedEntry& from,
                    const Place& to) {
  MemoryFile& file = *from.unstored->file;
  CELLFS_RETURN_IF_FAILED(ApplyToml(mount, caller, to, BytesOf(file)));
  mount.unstored.Remove(from.place);
  AttributeUpdate update;
  const std::lock_guard lock(file.mutex);
  update.uid = file.uid;
  update.gid = file.gid;
  update.mode = file.mode;
  update.mtime = file.mtime;
  mount.RecordFailure("rename", to, mount.attributes.Update(to, update));
  return {};
}

// An editor puts the .toml aside before it writes a new one; the schema stays in force.
Outcome PutTomlAside(MountContext& mount, const Place& from, const Place& to) {
  CELLFS_ASSIGN_OR_RETURN(std::string text, TomlText(mount, from));
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, mount.attributes.Find(from, -1));
  CELLFS_ASSIGN_OR_RETURN(auto file, mount.memory_files.Make());
  CELLFS_RETURN_IF_FAILED(file->Write(text, 0));
  UnstoredEntry entry{to, UnstoredReason::kMemory, ToTimespec(mount.clock->Now()), std::move(file)};
  entry.file->uid = shown.uid;
  entry.file->gid = shown.gid;
  entry.file->mode = shown.mode;
  entry.file->mtime = entry.file->ctime = entry.made;
  mount.unstored.Remove(to);
  mount.unstored.Add(std::move(entry));
  mount.unstored.HideToml(from.Parent());
  return {};
}

// ---- Columns ----------------------------------------------------------------------------------

// A source that leaves no trace is a temporary file: the time it was given is its bytes' timestamp.
std::optional<Timestamp> ExplicitTime(const ShownAttributes& shown, Timestamp version) {
  if (shown.mtime) return ToMilliseconds(*shown.mtime);
  if (shown.ctime && ToMilliseconds(*shown.ctime) != version) return version;
  return std::nullopt;
}

// Of a file that has just been written the bytes are at hand.
OutcomeOr<std::optional<Cell>> ReadSource(MountContext& mount, const Caller& caller,
                                          const Place& from) {
  const bool may_be_known = from.kind == PlaceKind::kCell && caller.is_superuser();
  if (const NodePtr node = may_be_known ? mount.inodes.Find(from) : nullptr) {
    if (auto cell = mount.last_put.Take(*node)) return cell;
  }
  return ReadColumn(mount, caller, from, ReadDetail::kValues);
}

Source SourceOf(const Cell& cell, const ShownAttributes& shown, bool temporary) {
  Source source{cell.value, shown.uid, shown.gid, shown.mode,
                shown.mtime.value_or(ToTimespec(cell.timestamp))};
  source.time_to_live = cell.time_to_live;
  auto time = temporary ? ExplicitTime(shown, cell.timestamp) : std::nullopt;
  if (time && *time >= 0) source.proposed = *time;
  return source;
}

Source SourceOf(MemoryFile& file) {
  std::lock_guard lock(file.mutex);
  return {file.bytes(), file.uid, file.gid, file.mode, file.mtime};
}

Put PutAt(const Place& to, const Source& source) {
  Put put{to.row, {}, source.time_to_live, Stamping::kAboveColumn};
  PutCell cell{to.family, to.qualifier, source.proposed, source.bytes, {}};
  if (to.kind != PlaceKind::kCell) {
    cell.timestamp = to.timestamp;
    put.stamping = Stamping::kReadable;
  }
  put.cells.push_back(std::move(cell));
  return put;
}

// The step with what the rename leaves at the source. `only_version`: nothing.
void RemoveSource(const Place& from, std::optional<Timestamp> only_version, RowStep& step) {
  auto& mutations = step.mutations.mutations;
  if (from.kind == PlaceKind::kCell && only_version) {
    step.withdrawal = WithdrawVersion(from, *only_version);
    step.instead = DeleteColumn(from);
  } else if (from.kind == PlaceKind::kCell) {
    mutations.push_back(DeleteColumn(from));
  } else if (from.kind == PlaceKind::kVersion || from.kind == PlaceKind::kVersionsFile) {
    mutations.push_back(DeleteVersion(from));
  }  // .deleted/q: the tombstone that is there stays
}

// With the tombstone that an earlier rename left at the target.
void WithdrawTombstoneAt(MountContext& mount, const Place& to, RowStep& step) {
  const auto tombstone = mount.recent.RenamedAwayTombstone(to);
  if (!tombstone || to.kind != PlaceKind::kCell) return;
  Withdraw withdrawal = WithdrawTombstone(to, *tombstone);
  if (!step.withdrawal) {
    step.withdrawal = std::move(withdrawal);
  } else {
    step.withdrawal->cells.push_back(std::move(withdrawal.cells.front()));
  }
}

// The target's put and the source's removal in one step. Timestamps: of the put, of the tombstone
// that it left, if any.
OutcomeOr<std::vector<Timestamp>> Move(MountContext& mount, const Caller& caller, const Place& to,
                                       RowStep step, bool must_be_absent) {
  if (!must_be_absent) {
    CELLFS_ASSIGN_OR_RETURN(auto done, mount.mutations.Do(caller, to.table, step));
    return std::move(done.result.timestamps);
  }
  IfValueIs nothing{to.family, to.qualifier, "", {}};
  if (to.kind != PlaceKind::kCell) nothing.time_range = AtTimestamp(to.timestamp);
  CELLFS_ASSIGN_OR_RETURN(auto done,
                          mount.mutations.DoIf(caller, to.table, std::move(nothing), step));
  if (!done) return Outcome(EEXIST);
  return std::move(done->result.timestamps);
}

// What the target allows to nobody whom the source forbids it, and the reverse.
mode_t Narrower(const OwnerAndMode& target, const Source& source) {
  if (target.uid == source.uid && target.gid == source.gid) return target.mode & source.mode;
  const auto of_everyone = [](mode_t mode) { return mode & mode >> 3 & mode >> 6 & 07; };
  return (of_everyone(target.mode) & of_everyone(source.mode)) * 0111;
}

Status SetMode(MountContext& mount, const Place& place, mode_t mode) {
  AttributeUpdate update;
  update.mode = mode;
  return mount.attributes.Update(place, update);
}

// Before the bytes come: the target's own rights would give them to those whom the source forbids
// them, and that would stay so if its rights cannot be stored afterwards. The mode that the target
// had; nullopt: nothing to be done.
OutcomeOr<std::optional<mode_t>> Narrow(MountContext& mount, const Place& to,
                                        const Source& source) {
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes target, mount.attributes.Find(to, -1));
  const mode_t narrower = Narrower(target, source);
  if (narrower == target.mode) return std::optional<mode_t>();
  CELLFS_RETURN_IF_FAILED(SetMode(mount, to, narrower));
  return std::optional(target.mode);
}

// The target shows the source's owner, mode and mtime; of a source that leaves no trace, these go.
Status CarryAttributes(MountContext& mount, const Place& to, const Source& source,
                       Timestamp version, const TracelessFile* gone) {
  AttributeUpdate update;
  update.uid = source.uid;
  update.gid = source.gid;
  update.mode = source.mode;
  update.version = version;
  update.mtime = source.mtime;
  if (version != mount.clock->Now()) update.ctime = ToTimespec(mount.clock->Now());
  return mount.attributes.Update(to, update, gone);
}

// Move, with the attributes. `from` is null where nothing stored is renamed; `gone`: the same,
// where it may leave no trace.
OutcomeOr<std::vector<Timestamp>> MoveAll(MountContext& mount, const Caller& caller,
                                          const Place& to, const Source& source, const Place* from,
                                          bool must_be_absent,
                                          const std::optional<TracelessFile>& gone) {
  CELLFS_ASSIGN_OR_RETURN(const auto mode, Narrow(mount, to, source));
  RowStep step{{to.row, {}, mount.options.durability}, {}, {}};
  step.mutations.mutations.push_back(PutAt(to, source));
  if (from != nullptr)
    RemoveSource(*from, gone ? std::optional(gone->version) : std::nullopt, step);
  WithdrawTombstoneAt(mount, to, step);
  auto timestamps = Move(mount, caller, to, std::move(step), must_be_absent);
  if (!timestamps.ok()) {
    const bool is_undone = mode && !timestamps.status().is_unknown();
    if (is_undone) mount.RecordFailure("rename", to, SetMode(mount, to, *mode));
    return timestamps;
  }
  const bool left_tombstone = timestamps->size() > 1;  // it could not be withdrawn
  mount.RecordFailure("rename", to,
                      CarryAttributes(mount, to, source, timestamps->front(),
                                      gone && !left_tombstone ? &*gone : nullptr));
  return timestamps;
}

// A claimed source may have bytes by now: its handles put them. What nobody wrote to is empty.
Outcome SettleClaim(MountContext& mount, const Place& from) {
  const NodePtr node = mount.inodes.Find(from);
  if (node == nullptr) return {};
  for (const auto& handle : node->handles()) CELLFS_RETURN_IF_FAILED(handle->Flush());
  if (!mount.unstored.Find(from)) return {};
  for (const auto& handle : node->handles()) CELLFS_RETURN_IF_FAILED(handle->PutAll());
  return {};
}

// What handles put again at the new name stays the version that the rename made.
void TellRenamed(const MountContext& mount, Node& node, const Place& to, const CachedCell& moved) {
  const bool may_be_known = to.kind == PlaceKind::kCell && mount.freshness.is_exact();
  if (may_be_known) node.Cache(moved, node.generation());
  for (const auto& handle : node.handles()) {
    if (auto* writer = dynamic_cast<CellWriter*>(handle.get())) writer->Renamed(moved.version);
  }
}

void NoteMove(MountContext& mount, const Place& from, const Place& to,
              const std::vector<Timestamp>& timestamps) {
  mount.recent.Forget(from);
  if (to.kind == PlaceKind::kCell) {
    mount.recent.Forget(to);
    mount.recent.NoteCreated(to, timestamps[0]);
  }
  if (from.kind == PlaceKind::kCell && timestamps.size() > 1) {
    mount.recent.NoteRenamedAway(from, timestamps[1]);
  }
}

// vim, sed and rsync put a file aside under a temporary's name before they write it anew: what goes
// aside is no temporary, and its history comes back with the next put.
bool GoesAside(MountContext& mount, const Place& from, const Place& to) {
  return to.kind == PlaceKind::kCell && IsTemporaryName(mount.options, to.qualifier) &&
         !IsTemporaryName(mount.options, from.qualifier);
}

bool IsSameCell(const Place& a, const Cell& cell, const Place& b) {
  return a.family == b.family && a.qualifier == b.qualifier && b.kind != PlaceKind::kCell &&
         b.timestamp == cell.timestamp;
}

// The cell at the new name.
OutcomeOr<CachedCell> RenameColumn(MountContext& mount, const Caller& caller, const Place& from,
                                   const Place& to, bool must_be_absent) {
  CELLFS_ASSIGN_OR_RETURN(auto schema, mount.store.DescribeTable(to.table));
  const FamilySchema* family = schema->FindFamily(to.family);
  if (family == nullptr) return Outcome(ENOENT);
  CELLFS_ASSIGN_OR_RETURN(auto cell, ReadSource(mount, caller, from));
  if (!cell) return Outcome(ENOENT);
  if (IsSameCell(from, *cell, to)) return CachedCellOf(*cell, family);
  CELLFS_ASSIGN_OR_RETURN(auto only_version, OnlyVersionMadeHere(mount, caller, from));
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown,
                          mount.attributes.Find(from, cell->timestamp));
  const Source source = SourceOf(*cell, shown, only_version.has_value());
  if (only_version && GoesAside(mount, from, to)) only_version.reset();
  std::optional<TracelessFile> gone;
  if (only_version) gone = {from, *only_version};
  CELLFS_ASSIGN_OR_RETURN(const std::vector<Timestamp> timestamps,
                          MoveAll(mount, caller, to, source, &from, must_be_absent, gone));
  NoteMove(mount, from, to, timestamps);
  mount.unstored.Remove(to);
  if (from.family != to.family) KeepEmptiedDirectories(mount, caller, from);
  cell->timestamp = timestamps[0];
  return CachedCellOf(*cell, family);
}

// rsync brings q before its history: a time that was only remembered beside the newest version has
// become a timestamp then. That version comes now, with this time and these bytes, and takes its
// place.
Outcome TakePlaceOfCopy(MountContext& mount, const Caller& caller, const Place& version,
                        const Source& source) {
  const Place column = version.As(PlaceKind::kCell);
  const auto copy = mount.recent.CreatedVersion(column);
  if (!copy) return {};
  if (*copy == version.timestamp) mount.recent.Forget(column);
  if (*copy >= version.timestamp) return {};
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, mount.attributes.Find(column, *copy));
  const timespec time = shown.mtime.value_or(ToTimespec(*copy));
  if (time.tv_sec != source.mtime.tv_sec || time.tv_nsec != source.mtime.tv_nsec) return {};
  CELLFS_ASSIGN_OR_RETURN(
      auto cell,
      ReadColumn(mount, caller, column.As(PlaceKind::kVersion, *copy), ReadDetail::kValues));
  if (!cell || cell->value != source.bytes) return {};
  mount.recent.Forget(column);
  // Where it cannot be withdrawn, there is one version too many.
  RowStep step{{column.row, {}, mount.options.durability}, WithdrawVersion(column, *copy), {}};
  return mount.mutations.Do(caller, column.table, step).status();
}

// A temporary of rsync below .versions/q becomes a version.
Outcome PutMemory(MountContext& mount, const Caller& caller, const ResolvedEntry& from,
                  const Place& to, bool must_be_absent) {
  Source source = SourceOf(*from.unstored->file);
  CELLFS_RETURN_IF_FAILED(
      MoveAll(mount, caller, to, source, nullptr, must_be_absent, std::nullopt).status());
  mount.unstored.Remove(from.place);
  if (to.kind == PlaceKind::kCell) return {};
  // Else there is one version too many.
  mount.RecordFailure("rename", to, TakePlaceOfCopy(mount, caller, to, source));
  return {};
}

Outcome RenameOne(MountContext& mount, const Caller& caller, const ResolvedEntry& from,
                  const Place& to, bool must_be_absent, std::optional<CachedCell>& moved) {
  const Place& source = from.place;
  if (IsMemory(source)) {
    if (source.table != to.table || source.row != to.row) return EXDEV;
    if (IsMemory(to)) return MoveMemory(mount, source, to);
    if (source.kind == PlaceKind::kMemoryDirectory) return EXDEV;
    if (IsToml(to)) return ApplyMemory(mount, caller, from, to);
    if (IsCellOrVersion(to)) return PutMemory(mount, caller, from, to, must_be_absent);
    return EPERM;
  }
  if (source.IsDirectory()) return EXDEV;
  if (IsToml(source))
    return to.kind == PlaceKind::kMemoryFile && source.Parent() == to.Parent()
               ? PutTomlAside(mount, source, to)
               : Outcome(EXDEV);
  if (source.table != to.table || source.row != to.row) return EXDEV;
  bool movable = IsCellOrVersion(source) || source.kind == PlaceKind::kDeletedCell;
  if (!movable || !IsCellOrVersion(to)) return EPERM;
  CELLFS_ASSIGN_OR_RETURN(moved, RenameColumn(mount, caller, source, to, must_be_absent));
  return {};
}

// Whether a cell is there is seen when it is read to be moved.
OutcomeOr<ResolvedEntry> FindSource(MountContext& mount, Resolver& resolver, const Caller& caller,
                                    const Place& directory, std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(Place place, resolver.Child(caller, directory, name, NameUse::kLookUp));
  if (!IsCellOrVersion(place)) return resolver.Find(caller, place);
  ResolvedEntry found{place};
  found.unstored = mount.unstored.Find(place);
  return found;
}

// EEXIST, EISDIR, ENOTDIR. What stands at a cell's place is no directory.
Outcome CheckTarget(Resolver& resolver, const Caller& caller, const Place& directory,
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

// A directory's new name is read as mkdir would read it, a file's as open.
NameUse UseOf(const Place& from) {
  return from.IsDirectory() ? NameUse::kCreateDirectory : NameUse::kCreateFile;
}

}  // namespace

Outcome Rename(MountContext& mount, const Request& request, const Place& directory,
               std::string_view name, const Place& new_directory, std::string_view new_name,
               unsigned flags) {
  if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) return EINVAL;
  const Caller& caller = *request.caller;
  Resolver resolver(mount);
  CELLFS_ASSIGN_OR_RETURN(ResolvedEntry from, FindSource(mount, resolver, caller, directory, name));
  if (directory.IsReadOnly() || new_directory.IsReadOnly() || mount.options.read_only) return EROFS;
  if (from.place.IsDirectory() && from.place.kind != PlaceKind::kMemoryDirectory) return EXDEV;
  CELLFS_ASSIGN_OR_RETURN(Place to,
                          resolver.Child(caller, new_directory, new_name, UseOf(from.place)));
  if (from.place == to) return {};
  const bool must_be_absent = (flags & RENAME_NOREPLACE) != 0;
  CELLFS_RETURN_IF_FAILED(
      CheckTarget(resolver, caller, new_directory, new_name, from.place, to, must_be_absent));
  if (to.IsColumn() && to.kind != PlaceKind::kCell) {
    CELLFS_RETURN_IF_FAILED(CheckMayAddVersion(mount, request, to));
  }

  if (from.unstored && from.unstored->reason == UnstoredReason::kClaimed) {
    CELLFS_RETURN_IF_FAILED(SettleClaim(mount, from.place));
  }
  std::optional<CachedCell> moved;
  Outcome renamed;
  {
    ColumnChange change(mount, from.place, to);
    change.PrepareOrphan(to);
    renamed = RenameOne(mount, caller, from, to, must_be_absent, moved);
    if (renamed.ok()) {
      const NodePtr node = change.NameMoved();
      if (node != nullptr && moved) TellRenamed(mount, *node, to, *moved);
    } else {
      change.Ended(renamed);
    }
  }
  if (IsToml(to)) TellTomlApplied(mount, to);
  return renamed;
}

}  // namespace cellfs::fs
