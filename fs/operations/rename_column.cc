// SPDX-License-Identifier: MIT
#include "fs/operations/rename_column.h"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fs/base/owner_and_mode.h"
#include "fs/content/cell_writer.h"
#include "fs/content/column_traces.h"
#include "fs/reading/mode_rights.h"

namespace cellfs::fs {
namespace {

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

// A source that leaves no trace is a temporary file: the time it was given is its bytes' timestamp.
std::optional<Timestamp> ExplicitTime(const ShownAttributes& shown, Timestamp version) {
  if (shown.mtime) return ToMilliseconds(*shown.mtime);
  if (shown.ctime && ToMilliseconds(*shown.ctime) != version) return version;
  return std::nullopt;
}

// Of a file that has just been written the bytes are at hand.
OutcomeOr<std::optional<Cell>> ReadSource(const Renaming& with, const Caller& caller,
                                          const Place& from) {
  const bool may_be_known = from.kind == PlaceKind::kCell && caller.is_superuser();
  if (const ColumnPtr column = may_be_known ? with.tree.columns.Find(from) : nullptr) {
    if (auto cell = with.tree.columns.TakePut(*column)) return cell;
  }
  return ReadColumn(with.reading, caller, from, ReadDetail::kValues);
}

// Takes the value out of the cell.
Source SourceOf(Cell& cell, const ShownAttributes& shown, bool temporary) {
  Source source{std::move(cell.value), shown.uid, shown.gid, shown.mode,
                shown.mtime.value_or(ToTimespec(cell.timestamp))};
  source.time_to_live = cell.time_to_live;
  auto time = temporary ? ExplicitTime(shown, cell.timestamp) : std::nullopt;
  if (time && *time >= 0) source.proposed = *time;
  return source;
}

// A time that is not that of the last write was set.
Source SourceOf(MemoryFile& file) {
  std::lock_guard lock(file.mutex);
  Source source{file.bytes(), file.uid, file.gid, file.mode, file.mtime};
  const bool is_set = file.mtime.tv_sec != file.ctime.tv_sec ||
                      file.mtime.tv_nsec != file.ctime.tv_nsec;
  if (const Timestamp time = ToMilliseconds(file.mtime); is_set && time >= 0)
    source.proposed = time;
  return source;
}

void IsPut(MemoryFile& file) {
  std::lock_guard lock(file.mutex);
  file.is_put = true;
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
  } else if (IsCellOrVersion(from)) {
    mutations.push_back(DeleteVersion(from));
  }  // .deleted/q: the tombstone that is there stays
}

// With the tombstone that an earlier rename left at the target, where the source may have what lies
// beneath it.
void WithdrawTombstoneAt(const Column& target, const Place& to, const Source& source,
                         RowStep& step) {
  const auto tombstone = target.renamed_away();
  if (!tombstone || to.kind != PlaceKind::kCell) return;
  if (!MayInherit({source.uid, source.gid, source.mode}, target.renamed_from())) return;
  Withdraw withdrawal = WithdrawTombstone(to, *tombstone);
  if (!step.withdrawal) {
    step.withdrawal = std::move(withdrawal);
  } else {
    step.withdrawal->cells.push_back(std::move(withdrawal.cells.front()));
  }
}

// The target's put and the source's removal in one step. Timestamps: of the put, of the tombstone
// that it left, if any.
OutcomeOr<std::vector<Timestamp>> Move(ColumnChange& change, const Caller& caller, const Place& to,
                                       RowStep step, bool must_be_absent) {
  if (!must_be_absent) {
    CELLFS_ASSIGN_OR_RETURN(auto done, change.Send(caller, step));
    return std::move(done.result.timestamps);
  }
  IfValueIs nothing{to.family, to.qualifier, "", {}};
  if (to.kind != PlaceKind::kCell) nothing.time_range = AtTimestamp(to.timestamp);
  CELLFS_ASSIGN_OR_RETURN(auto done, change.SendIf(caller, std::move(nothing), step));
  if (!done) return Outcome(EEXIST);
  return std::move(done->result.timestamps);
}

// What the target allows to nobody whom the source forbids it, and the reverse.
mode_t Narrower(const OwnerAndMode& target, const Source& source) {
  if (target.uid == source.uid && target.gid == source.gid) return target.mode & source.mode;
  const auto of_everyone = [](mode_t mode) { return mode & mode >> 3 & mode >> 6 & 07; };
  return (of_everyone(target.mode) & of_everyone(source.mode)) * 0111;
}

// The target is another's file, or closed to whom the source is open: what there was of it stays
// his, and closed (fs/attributes/version_owners.h).
bool IsOpened(const Place& to, const OwnerAndMode& target, const Source& source) {
  const bool is_opened = target.uid != source.uid || target.gid != source.gid ||
                         (source.mode & ~target.mode & (S_IRWXG | S_IRWXO)) != 0;
  return is_opened && to.kind == PlaceKind::kCell;
}

Status SetMode(AttributeStore& attributes, const Place& place, mode_t mode) {
  AttributeUpdate update;
  update.mode = mode;
  return attributes.Update(place, update);
}

// The mode that the target had, and what EndNarrowing takes.
struct Narrowing {
  mode_t before = 0;
  std::string begun;
};

// Before the bytes come: the target's own rights would give them to those whom the source forbids
// them, and that would stay so if its rights cannot be stored afterwards. Nullopt: nothing to be
// done.
OutcomeOr<std::optional<Narrowing>> Narrow(const Renaming& with, const Place& to,
                                           const ShownAttributes& target, const Source& source) {
  const mode_t narrower = Narrower(target, source);
  if (narrower == target.mode) return std::optional<Narrowing>();
  CELLFS_ASSIGN_OR_RETURN(
      const auto shown, ReadColumn(with.reading, Caller::Superuser(), to, ReadDetail::kLengths));
  NarrowedMode narrowed{to, shown ? shown->timestamp : -1, target.mode, narrower,
                        {source.uid, source.gid, source.mode}};
  CELLFS_ASSIGN_OR_RETURN(std::string begun, with.attributes.Narrow(narrowed));
  return std::optional(Narrowing{target.mode, std::move(begun)});
}

// Such a file goes as by rm. The tombstone lies just before what is put, so that every moment before
// shows his; where there is no time between that and his newest version, at that version, which
// cannot be read any more then.
Outcome RemoveClosed(const Renaming& with, const Place& to, const ShownAttributes& target,
                       const Source& source, RowStep& step) {
  if (!IsOpened(to, target, source)) return {};
  CELLFS_ASSIGN_OR_RETURN(
      const auto his, ReadColumn(with.reading, Caller::Superuser(), to, ReadDetail::kLengths));
  if (!his) return {};
  const Timestamp newest = his->timestamp;
  const Timestamp clocks_apart =
      with.reading.freshness().is_exact() ? 0 : kLongestClockDifference.count();
  const Timestamp removed_at = std::max(newest, with.tree.clock.Now() - clocks_apart - 1);
  Timestamp& put_at = std::get<Put>(step.mutations.mutations.front()).cells.front().timestamp;
  if (put_at <= removed_at) put_at = kLatestTimestamp;  // it would lie beneath the tombstone
  Delete removal{to.row, {}};
  removal.markers.push_back({CellType::kDeleteColumn, to.family, to.qualifier, removed_at});
  step.mutations.mutations.push_back(std::move(removal));
  return {};
}

// Of a rename whose outcome is unknown the mode stays narrow until the next mount.
Status TakeBack(const Renaming& with, const Place& to, const Narrowing& narrowing) {
  CELLFS_RETURN_IF_ERROR(SetMode(with.attributes, to, narrowing.before));
  return with.attributes.EndNarrowing(narrowing.begun);
}

// The target shows the source's owner, mode and mtime; of a source that leaves no trace, these go.
Status CarryAttributes(const Renaming& with, const Place& to, const Source& source,
                       bool is_another, Timestamp version, const TracelessFile* gone) {
  AttributeUpdate update;
  if (is_another) update.another_from = version;
  update.uid = source.uid;
  update.gid = source.gid;
  update.mode = source.mode;
  update.version = version;
  update.mtime = source.mtime;
  if (version != with.tree.clock.Now()) update.ctime = ToTimespec(with.tree.clock.Now());
  return with.attributes.Update(to, update, gone);
}

// Move, with the attributes. `from` is null where nothing stored is renamed; `gone`: the same,
// where it may leave no trace.
OutcomeOr<std::vector<Timestamp>> MoveAll(const Renaming& with, ColumnChange& change,
                                          const Caller& caller, const Place& to,
                                          const Source& source, const Place* from,
                                          bool must_be_absent,
                                          const std::optional<TracelessFile>& gone) {
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes target, with.attributes.Find(to, -1));
  CELLFS_ASSIGN_OR_RETURN(const auto narrowing, Narrow(with, to, target, source));
  RowStep step{{to.row, {}, with.options.durability}, {}, {}};
  step.mutations.mutations.reserve(RowStep::kMostMutations);
  step.mutations.mutations.push_back(PutAt(to, source));
  CELLFS_RETURN_IF_FAILED(RemoveClosed(with, to, target, source, step));
  const bool removes_anothers = step.mutations.mutations.size() > 1;
  if (from != nullptr)
    RemoveSource(*from, gone ? std::optional(gone->version) : std::nullopt, step);
  WithdrawTombstoneAt(change.target(), to, source, step);
  auto timestamps = Move(change, caller, to, std::move(step), must_be_absent);
  if (!timestamps.ok()) {
    const bool is_undone = narrowing && !timestamps.status().is_unknown();
    if (is_undone) with.errors.Record("rename", to, TakeBack(with, to, *narrowing));
    return timestamps;
  }
  if (removes_anothers) timestamps->erase(timestamps->begin() + 1);
  const bool left_tombstone = timestamps->size() > 1;  // it could not be withdrawn
  const bool is_another = target.has_record && IsOpened(to, target, source);
  Status carried = CarryAttributes(with, to, source, is_another, timestamps->front(),
                                   gone && !left_tombstone ? &*gone : nullptr);
  if (carried.ok() && narrowing) carried = with.attributes.EndNarrowing(narrowing->begun);
  with.errors.Record("rename", to, carried);
  return timestamps;
}

// What handles put again at the new name stays the version that the rename made.
void TellRenamed(const Node& node, Timestamp version) {
  for (const auto& handle : node.handles()) {
    if (auto* writer = dynamic_cast<CellWriter*>(handle.get())) writer->Renamed(version);
  }
}

// vim and `rsync --backup` put a file aside under a temporary's name before they write it anew: what
// goes aside is no temporary, and its history comes back with the next put. Under any other name it
// is away from then on, and every moment until the next put shows that.
bool GoesAside(const MountOptions& options, const Place& from, const Place& to) {
  return to.kind == PlaceKind::kCell && IsTemporaryName(options, to.qualifier) &&
         !IsTemporaryName(options, from.qualifier);
}

bool IsSameCell(const Place& a, const Cell& cell, const Place& b) {
  return a.family == b.family && a.qualifier == b.qualifier && b.kind != PlaceKind::kCell &&
         b.timestamp == cell.timestamp;
}

// rsync brings q before its history: a time that was only remembered beside the newest version has
// become a timestamp then. That version comes now, with this time and these bytes, and takes its
// place.
Outcome TakePlaceOfCopy(const Renaming& with, ColumnChange& change, const Caller& caller,
                        const Place& version, const Source& source) {
  const Place column = version.As(PlaceKind::kCell);
  const auto copy = change.target().created();
  if (!copy) return {};
  if (*copy == version.timestamp) change.target().ForgetStamps();
  if (*copy >= version.timestamp) return {};
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown, with.attributes.Find(column, *copy));
  const timespec time = shown.mtime.value_or(ToTimespec(*copy));
  if (time.tv_sec != source.mtime.tv_sec || time.tv_nsec != source.mtime.tv_nsec) return {};
  CELLFS_ASSIGN_OR_RETURN(
      auto cell,
      ReadColumn(with.reading, caller, column.As(PlaceKind::kVersion, *copy), ReadDetail::kValues));
  if (!cell || cell->value != source.bytes) return {};
  change.target().ForgetStamps();
  // Where it cannot be withdrawn, there is one version too many.
  RowStep step{{column.row, {}, with.options.durability}, WithdrawVersion(column, *copy), {}};
  return change.Send(caller, step).status();
}

// From one directory to another the kernel lets one rename go on at a time, of all users, and each
// asks to be let before it is told that it cannot be. So a large value is copied.
Outcome CheckIsQuick(const Renaming& with, const Caller& caller, const Place& from,
                     const Place& to) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 20;
  if (from.kind != PlaceKind::kCell || from.family == to.family) return {};
  CELLFS_ASSIGN_OR_RETURN(const auto cell,
                          ReadColumn(with.reading, caller, from, ReadDetail::kLengths));
  if (!cell || cell->value_length <= kMostBytes) return {};
  return {EXDEV, "a value of more than 1 MiB is not renamed to another family, so mv copies: nobody "
                 "else's file could go to another directory meanwhile"};
}

// What is deleted shows the mode that it had; who is neither its owner nor root opens nothing by it
// that was closed since.
OutcomeOr<ShownAttributes> FindCarried(const Renaming& with, const Request& request,
                                       const Place& from, Timestamp version) {
  CELLFS_ASSIGN_OR_RETURN(ShownAttributes shown, with.attributes.Find(from, version));
  const bool is_his = !IsBoundByModes(with.reading, request) || request.uid == shown.uid;
  if (from.kind != PlaceKind::kDeletedCell || is_his) return shown;
  CELLFS_ASSIGN_OR_RETURN(const auto asked, with.attributes.FindAskedToday(from, version));
  shown.mode = asked.present.mode;
  return shown;
}

}  // namespace

Outcome RenameColumn(const Renaming& with, ColumnChange& change, const Request& request,
                     const Place& from, const Place& to, bool must_be_absent) {
  const Caller& caller = *request.caller;
  CELLFS_RETURN_IF_FAILED(CheckIsQuick(with, caller, from, to));
  CELLFS_ASSIGN_OR_RETURN(auto schema, with.reading.DescribeTable(to));
  const FamilySchema* family = schema->FindFamily(to.family);
  if (family == nullptr) return ENOENT;
  CELLFS_ASSIGN_OR_RETURN(auto cell, ReadSource(with, caller, from));
  if (!cell) return ENOENT;
  if (IsSameCell(from, *cell, to)) {
    change.NameMoved();
    return {};
  }
  CELLFS_ASSIGN_OR_RETURN(auto only_version,
                          OnlyVersionMadeHere(change.column(), with.reading, caller, from));
  CELLFS_ASSIGN_OR_RETURN(const ShownAttributes shown,
                          FindCarried(with, request, from, cell->timestamp));
  const Source source = SourceOf(*cell, shown, only_version.has_value());
  const bool goes_aside = GoesAside(with.options, from, to);
  if (goes_aside) only_version.reset();
  std::optional<TracelessFile> gone;
  if (only_version) gone = {from, *only_version};
  if (from.family != to.family) change.MayEmptyDirectories(caller);
  CELLFS_ASSIGN_OR_RETURN(const std::vector<Timestamp> timestamps,
                          MoveAll(with, change, caller, to, source, &from, must_be_absent, gone));
  cell->timestamp = timestamps[0];
  effect::MovedAway away;
  if (goes_aside && timestamps.size() > 1) away.tombstone = timestamps[1];
  away.owner = shown;
  const NodePtr node = change.DidMove(away, effect::MovedHere{CachedCellOf(*cell, family)});
  if (node != nullptr) TellRenamed(*node, cell->timestamp);
  return {};
}

Outcome PutMemory(const Renaming& with, ColumnChange& change, const Caller& caller,
                  const ResolvedEntry& from, const Place& to, bool must_be_absent) {
  CELLFS_ASSIGN_OR_RETURN(const auto schema, with.reading.DescribeTable(to));
  const FamilySchema* const family = schema->FindFamily(to.family);
  if (family == nullptr) return ENOENT;
  Source source = SourceOf(*from.unstored->file);
  CELLFS_ASSIGN_OR_RETURN(
      const std::vector<Timestamp> timestamps,
      MoveAll(with, change, caller, to, source, nullptr, must_be_absent, std::nullopt));
  // Else there is one version too many.
  if (to.kind != PlaceKind::kCell)
    with.errors.Record("rename", to, TakePlaceOfCopy(with, change, caller, to, source));
  Cell cell;
  cell.timestamp = timestamps[0];
  cell.value_length = source.bytes.size();
  change.DidMove(effect::Brought{CachedCellOf(cell, family)});
  IsPut(*from.unstored->file);
  with.tree.unstored.Remove(from.place);
  return {};
}

}  // namespace cellfs::fs
