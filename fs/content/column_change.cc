// SPDX-License-Identifier: MIT
#include "fs/content/column_change.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <tuple>
#include <utility>

#include "fs/base/owner_and_mode.h"

namespace cellfs::fs {

namespace {

// Who holds the lock may wait for the room that this one keeps.
ColumnLock LockOf(const Node& file, RoomToAwait* room) {
  if (room != nullptr && room->is_held()) {
    if (ColumnLock lock = ColumnLock::TryOf(file); lock.owns_lock()) return lock;
    room->LetGo();
  }
  return ColumnLock::Of(file);
}

}  // namespace

ColumnChange::ColumnChange(const ColumnChanging& with, const NodePtr& file, RoomToAwait* room)
    : with_(with), room_(room), file_(file), by_(file.get()), lock_(LockOf(*file, room)) {
  sides_[0].column = &lock_.column();
}

ColumnChange::ColumnChange(const ColumnChanging& with, const Place& place)
    : with_(with), lock_(ColumnLock::Of(with.tree.columns, place)) {
  sides_[0] = {&lock_.column(), &place};
}

ColumnChange::ColumnChange(const ColumnChanging& with, const Place& from, const Place& to)
    : with_(with) {
  std::tie(lock_, second_lock_) = ColumnLock::Of(with.tree.columns, from, to);
  sides_[0] = {&lock_.column(), &from};
  sides_[1] = {&(second_lock_.owns_lock() ? second_lock_ : lock_).column(), &to};
}

// An exception, for want of memory: the step may have been made, and who was to be told may not
// have been.
ColumnChange::~ColumnChange() {
  if (std::uncaught_exceptions() > exceptions_) is_open_ = true;
  Finish();
}

void ColumnChange::TakePlace() {
  file_place_ = file_->place();
  sides_[0].place = file_place_.get();
}

void ColumnChange::Finish() noexcept {
  try {
    if (is_open_) Did(effect::Unknown{});
  } catch (const std::exception&) {
    with_.tree.kernel.ForgetAllLater();
  }
  emptying_.reset();
  LetRoomGo();
  second_lock_.unlock();
  lock_.unlock();
  try {
    Notify();
  } catch (const std::exception&) {
    with_.tree.kernel.ForgetAllLater();
  }
}

Outcome ColumnChange::AwaitDisk() {
  Finish();
  const Status synced = with_.disk.Await(position_);
  if (synced.ok()) return {};
  return Status(StatusCode::kOutcomeUnknown, synced.message());
}

// ---- Before the step ----------------------------------------------------------------------------

void ColumnChange::PrepareOrphan(const Place& place) {
  orphan_ = Orphaning::Prepare(with_.tree, with_.contents, place);
  if (place.kind == PlaceKind::kCounter)
    cell_orphan_ = Orphaning::Prepare(with_.tree, with_.contents, place.As(PlaceKind::kCell));
}

void ColumnChange::MayEmptyDirectories(const Caller& looker) {
  looker_ = &looker;
  emptying_.emplace(with_.tree.unstored, place(), ToTimespec(with_.tree.clock.Now()));
}

std::optional<Timestamp> ColumnChange::TombstoneToWithdraw() {
  const auto tombstone = column().renamed_away();
  if (!tombstone) return std::nullopt;
  const auto maker = with_.attributes.FindOwner(place());
  if (!maker.ok() || !MayInherit(*maker, column().renamed_from())) return std::nullopt;
  return tombstone;
}

// ---- The step -----------------------------------------------------------------------------------

void ColumnChange::DeferSync(RowStep& step) {
  Durability& durability = step.mutations.durability;
  if (durability == Durability::kUseDefault) {
    const auto schema = with_.reading.DescribeTable(place());
    if (schema.ok()) durability = (*schema)->durability();
  }
  waits_for_disk_ = durability == Durability::kFsyncWal && with_.disk.syncs_apart();
  if (waits_for_disk_) durability = Durability::kSyncWal;
}

void ColumnChange::WaitsForRoom() {
  LetRoomGo();
  room_ = nullptr;
}

// That nothing was written into.
void ColumnChange::LetRoomGo() noexcept {
  if (room_ != nullptr && room_->is_held()) room_->LetGo();
}

// An exception leaves it open.
template <typename Call, typename IsMade>
auto ColumnChange::Sending(RowStep& step, Call&& call, IsMade&& made) {
  using Sent = decltype(call());
  const Status stored = with_.attributes.StoreMade(place().table, step.mutations.row);
  if (!stored.ok()) return Sent(stored);
  DeferSync(step);
  has_put_ = true;
  const bool was_open = std::exchange(is_open_, true);
  const auto send = [&] {
    const RoomToAwait::Within within(room_);
    return call();
  };
  Sent sent = send();
  const bool is_made = sent.ok() && made(*sent);
  if (!is_made && !Outcome(sent.status()).is_unknown()) is_open_ = was_open;
  if (is_made && waits_for_disk_) position_ = with_.disk.Issue();
  return sent;
}

StatusOr<ColumnChange::Done> ColumnChange::Send(const Caller& caller, RowStep& step) {
  return Sending(
      step, [&] { return with_.mutations.Do(caller, place().table, step); },
      [](const Done&) { return true; });
}

StatusOr<std::optional<ColumnChange::Done>> ColumnChange::SendIf(const Caller& caller,
                                                                 IfValueIs value, RowStep& step) {
  return Sending(
      step, [&] { return with_.mutations.DoIf(caller, place().table, std::move(value), step); },
      [](const std::optional<Done>& done) { return done.has_value(); });
}

OutcomeOr<bool> ColumnChange::SendWithdrawing(const Caller& caller, RowStep step,
                                              std::optional<IfValueIs> value) {
  return Sending(
      step,
      [&] {
        return with_.mutations.DoWithdrawing(caller, place().table, std::move(step),
                                             std::move(value));
      },
      [](bool is_done) { return is_done; });
}

// ---- What it did --------------------------------------------------------------------------------

void ColumnChange::Apply(Side& side, const Effect& effect) {
  const Caller* const looker = &side == &sides_[0] ? looker_ : nullptr;
  const OtherTimes others = with_.effects.Apply({*side.column, *side.place, looker}, effect);
  side.other_times = std::max(side.other_times, others);
  side.notice = TellingOf(effect).notice;
  // The kernel has seen what was done by the plain name.
  if (side.notice == Notice::kOtherNames && side.place->kind == PlaceKind::kCell)
    side.notice = Notice::kNone;
}

void ColumnChange::Did(const Effect& effect) {
  place();
  const bool is_of_both = std::holds_alternative<effect::Unknown>(effect);
  for (Side& side : sides_) {
    if (IsColumn(side)) Apply(side, effect);
    if (!is_of_both) break;
  }
  if (TellingOf(effect).name == Name::kGoes) RemoveName();
  is_open_ = false;
}

NodePtr ColumnChange::DidMove(const effect::MovedAway& from, const effect::MovedHere& to) {
  NodePtr node = NameMoved();
  Apply(sides_[0], from);
  Apply(sides_[1], to);
  is_open_ = false;
  return node;
}

NodePtr ColumnChange::DidMove(const effect::Brought& to) {
  NodePtr node = NameMoved();
  Apply(sides_[1], to);
  is_open_ = false;
  return node;
}

void ColumnChange::Failed(const Outcome& outcome) {
  has_put_ = true;
  if (outcome.is_unknown()) Did(effect::Unknown{});
}

// ---- Names --------------------------------------------------------------------------------------

void ColumnChange::NameRemoved() {
  RemoveName();
  is_open_ = false;
}

void ColumnChange::RemoveName() {
  const Place& removed = place();
  const NodePtr node = with_.tree.inodes.Unlink(removed);
  by_ = node.get();
  if (orphan_) orphan_->Finish(with_.tree);
  if (removed.kind == PlaceKind::kCounter) RemoveCellOfCounter(removed.As(PlaceKind::kCell));
  TakeCounterAway(sides_[0]);
}

// Most columns are known by their plain name alone.
void ColumnChange::TakeCounterAway(const Side& side) {
  if (side.column->IsShownBeside(by_)) CounterWent(with_.tree, *side.place);
}

void ColumnChange::RemoveCellOfCounter(const Place& cell) {
  if (with_.tree.inodes.Unlink(cell) == nullptr) return;
  with_.tree.kernel.NameWent(cell);
  if (cell_orphan_) cell_orphan_->Finish(with_.tree);
}

NodePtr ColumnChange::NameMoved() {
  with_.tree.inodes.Move(*sides_[0].place, *sides_[1].place);
  renamed_ = with_.tree.inodes.Find(*sides_[1].place);
  by_ = renamed_.get();
  for (const Side& side : sides_) TakeCounterAway(side);
  if (orphan_) orphan_->Finish(with_.tree);
  return renamed_;
}

// ---- The kernel ---------------------------------------------------------------------------------

void ColumnChange::Notify() {
  if (sides_[0].place == nullptr && !has_put_) return;  // no more than the lock was needed
  KernelCache& kernel = with_.tree.kernel;
  if (std::exchange(has_put_, false) && file_ != nullptr) kernel.DropStalePagesLater(file_);
  for (Side& side : sides_) {
    const OtherTimes others = std::exchange(side.other_times, OtherTimes::kNone);
    if (others != OtherTimes::kNone)
      kernel.DirectoryTimeChanged(*side.place, PlaceKind::kFamily);
    if (others == OtherTimes::kOfFamilyAndRow)
      kernel.DirectoryTimeChanged(*side.place, PlaceKind::kRow);
    const Notice notice = std::exchange(side.notice, Notice::kNone);
    if (notice == Notice::kOtherNames) kernel.ColumnChanged(*side.place, by_);
    if (notice == Notice::kAskAgain) kernel.Revalidate(*side.place);
  }
  if (const NodePtr renamed = std::exchange(renamed_, nullptr)) kernel.Renamed(*renamed);
}

}  // namespace cellfs::fs
