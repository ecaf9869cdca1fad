// SPDX-License-Identifier: MIT
//
// ColumnChange: one change of a column, or of the two of a rename, from its locks to the kernel's
// notice. Everything that changes what a column shows goes through here, so that the others learn
// of it in one order:
//
//   1. The locks are taken. Readers of the file take them as well.
//   2. Send: the change sends the step to the store; before it, in a row that was only made so far,
//      what its directories are to have. Where there is no room for it, who can begin anew lets the
//      locks go and waits (LacksRoom); others wait with the locks.
//   3. Did: the caller says what that did (fs/content/effect.h), and everybody who has to know is
//      told; a file that lost its name becomes an orphan. What was sent and is not told of, for
//      nobody knows whether it was made, or because an exception came between, is effect::Unknown:
//      what was known of the column is dropped. What the store refused has no effect.
//   4. What else is to be remembered (owners, times) may fail; that is logged (ErrorLog), and the
//      change stays done.
//   5. Finish: the locks are let go, and only then the kernel is notified: it may first have to
//      finish a request that needs them.
//   6. AwaitDisk, where the caller promises that.
#ifndef CELLFS_FS_CONTENT_COLUMN_CHANGE_H_
#define CELLFS_FS_CONTENT_COLUMN_CHANGE_H_

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "engine/write_room.h"
#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/content/column_effects.h"
#include "fs/content/contents.h"
#include "fs/content/disk_positions.h"
#include "fs/content/effect.h"
#include "fs/content/orphaning.h"
#include "fs/nodes/column_lock.h"
#include "fs/nodes/live_tree.h"
#include "fs/nodes/node.h"
#include "fs/reading/reading.h"
#include "fs/store/column_mutations.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// What all changes work with; it outlives them.
struct ColumnChanging {
  LiveTree& tree;
  const Reading& reading;
  const Contents& contents;
  const ColumnMutations& mutations;
  const ColumnEffects& effects;
  DiskPositions& disk;
  AttributeStore& attributes;
};

// Of one thread, which takes no other lock of a column meanwhile.
class ColumnChange {
 public:
  using Done = ColumnMutations::Done;

  // Of the column in which the file is now, through that file: the kernel has seen what it did.
  // `room`: where its steps are to hand back what they lack; the change is then to be made anew. It
  // outlives the change; null: they wait.
  ColumnChange(const ColumnChanging& with, const NodePtr& file, RoomToAwait* room = nullptr);
  // Of a column by its name. The place must outlive the change, as those of a rename.
  ColumnChange(const ColumnChanging& with, const Place& place);
  ColumnChange(const ColumnChanging& with, const Place& from, const Place& to);
  ColumnChange(const ColumnChange&) = delete;
  ColumnChange& operator=(const ColumnChange&) = delete;
  ~ColumnChange();

  // Where the file is, or as it was named; of a rename, from where. Most changes through a file are
  // only kept by its handle, and need no more than the lock.
  const Place& place() {
    if (sides_[0].place == nullptr) TakePlace();
    return *sides_[0].place;
  }
  // Guarded by the lock that is held.
  Column& column() const { return *sides_[0].column; }
  Column& target() const { return *sides_[1].column; }  // of a rename

  // ---- Before the step ------------------------------------------------------------------------
  // The file at the place is about to lose its name. What it holds is read for those who have it
  // open. With a counter its column goes, and so the cell's file.
  void PrepareOrphan(const Place& place);
  // The column's value may be the last in its row or family, which then stay, for `looker`, who
  // outlives the change.
  void MayEmptyDirectories(const Caller& looker);
  // That of a rename which put the file aside (Column::renamed_away), where whose the name is now
  // may have what lies beneath it.
  std::optional<Timestamp> TombstoneToWithdraw();

  // ---- The step -------------------------------------------------------------------------------
  // As ColumnMutations, but that FSYNC_WAL, of the step or of the table, is left to AwaitDisk where
  // the store can do it apart.
  StatusOr<Done> Send(const Caller& caller, RowStep& step);
  StatusOr<std::optional<Done>> SendIf(const Caller& caller, IfValueIs value, RowStep& step);
  OutcomeOr<bool> SendWithdrawing(const Caller& caller, RowStep step,
                                  std::optional<IfValueIs> value = {});
  // The step that failed last has done nothing, for lack of room: the change is to be finished, and
  // made anew once that has been awaited.
  bool LacksRoom() const { return room_ != nullptr && room_->is_lacking(); }
  // What is half done cannot be made anew: from here on steps wait.
  void WaitsForRoom();
  // Of all that was sent; 0: nothing is to be waited for.
  DiskPosition position() const { return position_; }

  // ---- What it did ----------------------------------------------------------------------------
  void Did(const Effect& effect);
  // Of a rename. The node at the new name; null where the kernel does not know the file.
  NodePtr DidMove(const effect::MovedAway& from, const effect::MovedHere& to);
  // The same of a file in memory, which is in no column before.
  NodePtr DidMove(const effect::Brought& to);
  // Of files that are in no column.
  void NameRemoved();
  NodePtr NameMoved();
  // What a handle held is not put: the store refused it, or nobody knows.
  void Failed(const Outcome& outcome);

  // Lets the locks go and notifies the kernel, before the change itself goes: for who waits then.
  void Finish() noexcept;
  // Finishes, and waits for what was sent.
  Outcome AwaitDisk();

 private:
  struct Side {
    Column* column = nullptr;
    const Place* place = nullptr;
    Notice notice = Notice::kNone;
    OtherTimes other_times = OtherTimes::kNone;
  };

  // Whether bytes of a column are there.
  static bool IsColumn(const Side& side) { return side.place != nullptr && side.place->IsColumn(); }
  template <typename Call, typename IsMade>
  auto Sending(RowStep& step, Call&& call, IsMade&& made);
  void DeferSync(RowStep& step);
  void LetRoomGo() noexcept;
  void TakePlace();
  void Apply(Side& side, const Effect& effect);
  void RemoveName();
  void TakeCounterAway(const Side& side);
  void RemoveCellOfCounter(const Place& cell);
  void Notify();

  const ColumnChanging& with_;
  RoomToAwait* room_ = nullptr;
  const NodePtr file_;  // null: the change is not made through a file's handle
  std::shared_ptr<const Place> file_place_;
  const Node* by_ = nullptr;  // the file that the kernel knows to be changed
  std::array<Side, 2> sides_;
  bool is_open_ = false;         // something was sent, and nobody has said what it did
  bool has_put_ = false;         // or failed to
  bool waits_for_disk_ = false;  // of what is being sent
  DiskPosition position_ = 0;
  const int exceptions_ = std::uncaught_exceptions();
  ColumnLock lock_;
  ColumnLock second_lock_;
  const Caller* looker_ = nullptr;
  std::optional<UnstoredEntries::Emptying> emptying_;
  std::optional<Orphaning> orphan_;       // whose name goes, if the step is made
  std::optional<Orphaning> cell_orphan_;  // likewise, with its counter
  NodePtr renamed_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_COLUMN_CHANGE_H_
