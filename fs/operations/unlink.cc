// SPDX-License-Identifier: MIT
#include "fs/operations/unlink.h"

#include "fs/content/column_change.h"
#include "fs/content/column_traces.h"
#include "fs/reading/change_rights.h"
#include "fs/reading/later_timestamps.h"
#include "fs/reading/raw_pieces.h"
#include "fs/reading/schema_rights.h"

namespace cellfs::fs {
namespace {

RowStep StepOf(const FileUnlinking& with, const Place& place) {
  return {{place.row, {}, with.options.durability}, {}, {}};
}

// The only version of a temporary file, which may leave without a trace.
OutcomeOr<std::optional<Timestamp>> TemporaryVersion(const FileUnlinking& with,
                                                     const ColumnChange& change,
                                                     const Caller& caller, const Place& place,
                                                     std::string_view name) {
  if (!IsTemporaryName(with.options, std::string(name)) ||
      !change.column().created()) {
    return std::optional<Timestamp>();
  }
  return OnlyVersionMadeHere(change.column(), with.reading, caller, place);
}

// No tombstone of the column goes above a version at the last timestamp there is: that gets one of
// its own, and the column's lies below it.
Outcome RemoveLastVersion(const FileUnlinking& with, ColumnChange& change, const Caller& caller,
                          const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(const auto cell,
                          ReadColumn(with.reading, caller, place, ReadDetail::kLengths));
  if (!cell) return ENOENT;
  RowStep step = StepOf(with, place);
  step.mutations.mutations.push_back(
      DeleteVersion(place.As(PlaceKind::kVersion, cell->timestamp)));
  return change.Send(caller, step).status();
}

OutcomeOr<Effect> RemoveCell(const FileUnlinking& with, ColumnChange& change, const Caller& caller,
                             const Place& place, std::string_view name) {
  CELLFS_ASSIGN_OR_RETURN(const auto version, TemporaryVersion(with, change, caller, place, name));
  RowStep step = StepOf(with, place);
  if (version) {
    step.withdrawal = WithdrawVersion(place, *version);
    step.instead = DeleteColumn(place);
  } else {
    step.mutations.mutations.push_back(DeleteColumn(place));
  }
  auto done = change.Send(caller, step);
  if (done.status().code() == StatusCode::kTimestampsExhausted) {
    CELLFS_RETURN_IF_FAILED(RemoveLastVersion(with, change, caller, place));
    done = change.Send(caller, step);
    // The newest version has gone.
    if (!done.ok()) return Status(StatusCode::kOutcomeUnknown, done.status().message());
  }
  if (!done.ok()) return done.status();
  if (done->withdrawn) {
    with.errors.Record("unlink", place, with.attributes.Forget({place, *version}));
  }
  return Effect(effect::Removed{});
}

OutcomeOr<Effect> RemoveVersion(const FileUnlinking& with, ColumnChange& change,
                                const Caller& caller, const Place& place) {
  CELLFS_ASSIGN_OR_RETURN(auto latest, ReadColumn(with.reading, caller, place.As(PlaceKind::kCell),
                                                  ReadDetail::kLengths));
  // The history of a column already deleted stays: rm -r of .versions/q is no more than a gesture.
  if (!latest && place.kind == PlaceKind::kVersionsFile) return Effect(effect::HiddenRemoved{});
  RowStep step = StepOf(with, place);
  step.mutations.mutations.push_back(DeleteVersion(place));
  CELLFS_RETURN_IF_FAILED(change.Send(caller, step).status());
  if (place.kind == PlaceKind::kVersionsFile)
    KeepEmptiedHistory(with.tree, with.resolver, caller, place);
  if (!latest || latest->timestamp != place.timestamp) return Effect(effect::HiddenRemoved{});
  AttributeUpdate update;
  update.ctime = ToTimespec(with.tree.clock.Now());
  update.version = place.timestamp;
  with.errors.Record("unlink", place, with.attributes.Update(place, update));
  return Effect(effect::NewestRemoved{});
}

// Of those cells that are puts; whether there were any.
OutcomeOr<bool> TakeBack(const FileUnlinking& with, ColumnChange& change, const Caller& caller,
                         const Place& place, const RowCells& cells) {
  Withdraw withdraw{place.row, {}};
  for (const Cell& cell : cells) {
    if (cell.type != CellType::kPut) continue;
    withdraw.cells.push_back({place.family, place.qualifier, cell.timestamp, cell.type});
  }
  if (withdraw.cells.empty()) return false;
  RowStep step = StepOf(with, place);
  step.withdrawal = std::move(withdraw);
  CELLFS_RETURN_IF_FAILED(change.SendWithdrawing(caller, std::move(step)).status());
  return true;
}

// The hidden versions are taken back, so that the next compaction frees them. Of very many in
// several steps: where one fails the older ones stay, until the file is removed again.
OutcomeOr<Effect> FreeDeleted(const FileUnlinking& with, ColumnChange& change, const Caller& caller,
                              const Place& place) {
  TimeRange times;
  bool any = false;
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece,
                            NewestRawCells(with.reading, caller, place, times));
    CELLFS_ASSIGN_OR_RETURN(const bool took_back, TakeBack(with, change, caller, place, piece));
    any |= took_back;
    if (piece.size() < kRawPiece) break;
    times.max = piece.back().timestamp + 1;  // of which there may be more
  }
  if (!any) return Outcome(ENOENT);
  return Effect(effect::HiddenRemoved{});
}

// From CREATE to its first put there is nothing in the store to remove. Under the lock: a put takes
// the claim away.
bool IsClaimed(const UnstoredEntries& unstored, const ResolvedEntry& found) {
  if (found.unstored == nullptr) return false;
  const UnstoredPtr entry = unstored.Find(found.place);
  return entry != nullptr && entry->reason == UnstoredReason::kClaimed;
}

OutcomeOr<Effect> RemoveOfColumn(const FileUnlinking& with, ColumnChange& change,
                                 const Caller& caller, const ResolvedEntry& found,
                                 std::string_view name) {
  const Place& place = found.place;
  if (IsClaimed(with.tree.unstored, found)) return Effect(effect::ClaimRemoved{});
  switch (place.kind) {
    case PlaceKind::kCell:
      return RemoveCell(with, change, caller, place, name);
    case PlaceKind::kCounter:
      return RemoveCell(with, change, caller, place.As(PlaceKind::kCell), name);
    case PlaceKind::kVersion:
    case PlaceKind::kVersionsFile:
      return RemoveVersion(with, change, caller, place);
    case PlaceKind::kDeletedCell:
      return FreeDeleted(with, change, caller, place);
    default:
      return Outcome(EPERM);
  }
}

Outcome RemoveOther(const FileUnlinking& with, const Place& place) {
  switch (place.kind) {
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

Outcome Unlink(const FileUnlinking& with, const Request& request, const Place& directory,
               std::string_view name) {
  const Caller& caller = *request.caller;
  const auto looked_up = with.resolver.LookUp(caller, directory, name);
  if (!looked_up.ok()) return looked_up.status();
  const ResolvedEntry& found = *looked_up;
  const Place& place = found.place;
  if (place.IsDirectory()) return EISDIR;
  if (place.IsReadOnly() || with.options.read_only) return EROFS;
  CELLFS_RETURN_IF_FAILED(CheckIsNoLater(with.reading, request.uid, place));
  // What is stored the store asks for itself, but a file that is not put yet goes without it.
  if (place.IsColumn()) CELLFS_RETURN_IF_FAILED(CheckMayChange(with.reading, caller, place));
  if (place.IsToml()) {
    CELLFS_RETURN_IF_FAILED(
        CheckMayReplaceToml(with.reading, request, place, IsTomlShown::kYes));
  }
  ColumnChange change(with.changing, place);
  if (place.IsColumn()) change.MayEmptyDirectories(caller);
  change.PrepareOrphan(place);
  if (place.IsColumn()) {
    CELLFS_ASSIGN_OR_RETURN(const Effect effect,
                            RemoveOfColumn(with, change, caller, found, name));
    change.Did(effect);
  } else {
    CELLFS_RETURN_IF_FAILED(RemoveOther(with, place));
    change.NameRemoved();
  }
  return change.AwaitDisk();
}

}  // namespace cellfs::fs
