// SPDX-License-Identifier: MIT
#include "fs/operations/file_removal.h"

#include "fs/content/column_change.h"
#include "fs/content/column_traces.h"

namespace cellfs::fs {
namespace {

RowStep StepOf(const FileRemoval& with, const Place& place) {
  return {{place.row, {}, with.options.durability}, {}, {}};
}

// The only version of a temporary file, which may leave without a trace.
OutcomeOr<std::optional<Timestamp>> TemporaryVersion(const FileRemoval& with, const Caller& caller,
                                                     const Place& place, std::string_view name) {
  if (!IsTemporaryName(with.options, std::string(name)) ||
      !with.tree.recent.CreatedVersion(place)) {
    return std::optional<Timestamp>();
  }
  return OnlyVersionMadeHere(with.tree.recent, with.tree.inodes, with.reading, caller, place);
}

// No tombstone of the column goes above a version at the last timestamp there is: that gets one of
// its own, and the column's lies below it.
Outcome RemoveLastVersion(const FileRemoval& with, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(const auto cell,
                          ReadColumn(with.reading, caller, place, ReadDetail::kLengths));
  if (!cell) return ENOENT;
  RowStep step = StepOf(with, place);
  step.mutations.mutations.push_back(
      DeleteVersion(place.As(PlaceKind::kVersion, cell->timestamp)));
  return with.mutations.Do(caller, place.table, step).status();
}

Outcome RemoveCell(const FileRemoval& with, const Caller& caller, const Place& place,
                   std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(const auto version, TemporaryVersion(with, caller, place, name));
  RowStep step = StepOf(with, place);
  if (version) {
    step.withdrawal = WithdrawVersion(place, *version);
    step.instead = DeleteColumn(place);
  } else {
    step.mutations.mutations.push_back(DeleteColumn(place));
  }
  auto done = with.mutations.Do(caller, place.table, step);
  if (done.status().code() == StatusCode::kTimestampsExhausted) {
    CELLFS_RETURN_IF_FAILED(RemoveLastVersion(with, caller, place));
    done = with.mutations.Do(caller, place.table, step);
    // The newest version has gone.
    if (!done.ok()) return Status(StatusCode::kOutcomeUnknown, done.status().message());
  }
  if (!done.ok()) return done.status();
  if (done->withdrawn) {
    with.errors.Record("unlink", place, with.attributes.Forget({place, *version}));
  }
  with.tree.recent.Forget(place);
  KeepEmptiedDirectories(with.tree.unstored, with.reading, caller, place);
  return {};
}

Outcome RemoveVersion(const FileRemoval& with, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto latest, ReadColumn(with.reading, caller, place.As(PlaceKind::kCell),
                                                  ReadDetail::kLengths));
  // The history of a column already deleted stays: rm -r of .versions/q is no more than a gesture.
  if (!latest && place.kind == PlaceKind::kVersionsFile) return {};
  RowStep step = StepOf(with, place);
  step.mutations.mutations.push_back(DeleteVersion(place));
  CELLFS_RETURN_IF_FAILED(with.mutations.Do(caller, place.table, step).status());
  if (place.kind == PlaceKind::kVersionsFile)
    KeepEmptiedHistory(with.tree.unstored, with.resolver, ToTimespec(with.tree.clock.Now()), caller,
                       place);
  if (!latest || latest->timestamp != place.timestamp) return {};
  AttributeUpdate update;
  update.ctime = ToTimespec(with.tree.clock.Now());
  update.version = place.timestamp;
  with.errors.Record("unlink", place, with.attributes.Update(place, update));
  KeepEmptiedDirectories(with.tree.unstored, with.reading, caller, place);
  return {};
}

// The hidden versions are taken back, so that the next compaction frees them.
Outcome FreeDeleted(const FileRemoval& with, const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(RowCells raw,
                          RawColumn(with.reading, caller, place, ReadDetail::kLengths));
  Withdraw withdraw{place.row, {}};
  for (const Cell& cell : raw) {
    if (cell.type != CellType::kPut) continue;
    withdraw.cells.push_back({place.family, place.qualifier, cell.timestamp, cell.type});
  }
  if (withdraw.cells.empty()) return ENOENT;
  RowStep step = StepOf(with, place);
  step.withdrawal = std::move(withdraw);
  return with.mutations.DoWithdrawing(caller, place.table, std::move(step));
}

// A file from CREATE to its first put: there is nothing in the store to remove.
bool TakeClaim(UnstoredEntries& unstored, const ResolvedEntry& found) {
  if (!found.unstored || found.unstored->reason != UnstoredReason::kClaimed) return false;
  return unstored.Remove(found.place);
}

Outcome RemoveFile(const FileRemoval& with, const Caller& caller, const ResolvedEntry& found,
                   std::string_view name) {
  const Place& place = found.place;
  if (TakeClaim(with.tree.unstored, found)) {
    KeepEmptiedDirectories(with.tree.unstored, with.reading, caller, place);
    return {};
  }
  switch (place.kind) {
    case PlaceKind::kCell:
      return RemoveCell(with, caller, place, name);
    case PlaceKind::kCounter:
      return RemoveCell(with, caller, place.As(PlaceKind::kCell), name);
    case PlaceKind::kVersion:
    case PlaceKind::kVersionsFile:
      return RemoveVersion(with, caller, place);
    case PlaceKind::kDeletedCell:
      return FreeDeleted(with, caller, place);
    case PlaceKind::kSchemaFile:
    case PlaceKind::kNamespaceFile:
      with.tree.unstored.HideToml(place.Parent());
      return {};
    case PlaceKind::kMemoryFile:
      with.tree.unstored.Remove(place);
      return {};
    default:
      return EPERM;
  }
}

}  // namespace

Outcome Unlink(const FileRemoval& with, const Request& request, const Place& directory,
               std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(ResolvedEntry found,
                          with.resolver.LookUp(*request.caller, directory, name));
  const Place& place = found.place;
  if (place.IsDirectory()) return EISDIR;
  if (place.IsReadOnly() || with.options.read_only) return EROFS;
  ColumnChange change(with.tree, with.contents, place);
  std::optional<UnstoredEntries::Emptying> emptying;
  if (place.IsColumn())
    emptying.emplace(with.tree.unstored, place, ToTimespec(with.tree.clock.Now()));
  change.PrepareOrphan(place);
  Outcome removed = RemoveFile(with, *request.caller, found, name);
  if (removed.ok()) {
    change.NameRemoved();
  } else {
    change.Ended(removed);
  }
  return removed;
}

}  // namespace cellfs::fs
