// SPDX-License-Identifier: MIT
//
// What is held is put: by a close, an fsync, or a second after the write.
#include <algorithm>
#include <exception>
#include <utility>

#include "fs/content/cell_writer.h"

namespace cellfs::fs {

Outcome CellWriter::Flush() { return PutHeld(What::kBytes, with_.options.durability); }

Outcome CellWriter::PutAll() { return PutHeld(What::kAll, with_.options.durability); }

void CellWriter::PutClosedStart(bool made_too) {
  if (!truncates_ && !made_too) return;
  RoomToAwait room;
  do {
    ColumnChange change(with_.changing, node_, &room);
    const bool is_meant = making_ == Making::kNo ? truncates_ : made_too;
    const bool is_alone = is_meant && unput_ == Unput::kStart && !HasBytes() &&
                          !OthersWereFirst() && !node_->unlinked();
    if (failed_ || !is_flushed_ || !is_alone) return;
    static_cast<void>(PutAndWait(change, What::kAll, with_.options.durability));
  } while (room.Await());
}

Outcome CellWriter::Sync() { return PutHeld(What::kFile, Durability::kFsyncWal); }

// Nobody waits for the lock while what is held waits for room.
Outcome CellWriter::PutHeld(What what, Durability durability) {
  RoomToAwait room;
  while (true) {
    Outcome put = TryPutHeld(room, what, durability);
    if (!room.Await()) return put;
  }
}

Outcome CellWriter::TryPutHeld(RoomToAwait& room, What what, Durability durability) {
  ColumnChange change(with_.changing, node_, &room);
  if (what == What::kBytes) is_flushed_ = true;
  if (failed_) return *failed_;
  return PutAndWait(change, what, durability);
}

void CellWriter::Release() {
  PutRest();
  StopsWriting();
}

// The kernel has nothing more of what was written here.
void CellWriter::StopsWriting() noexcept {
  is_writer_ = false;
  file_->RemoveWriter();
  try {
    with_.tree.kernel.DropStalePagesLater(node_);
  } catch (const std::exception&) {
    with_.tree.kernel.ForgetAllLater();
  }
}

void CellWriter::PutRest() {
  {
    const auto lock = ColumnLock::Of(*node_);
    if (failed_) return;
    if (!HasAnything()) return LeaveBytes(lock.column());
  }
  // Nobody is left to be told.
  const Outcome put = PutHeld(What::kAll, with_.options.durability);
  const Snapshot<Place> place = node_->place();
  with_.errors.Record("release", *place, put, user);
}

// What a file holds so far is put where it would have been within the second; one that replaces
// another, or begins, is not half there: its writer is told that it failed.
void CellWriter::Abandon() {
  {
    const auto lock = ColumnLock::Of(*node_);
    if (truncates_ || !HasBytes()) {
      file_->RemoveRuns(this);
      return file_->RemoveEdits(this);  // the destructor takes the writer away
    }
  }
  Release();
}

bool CellWriter::SeemsClosed() const {
  const auto lock = ColumnLock::Of(*node_);
  return is_flushed_ && !HasBytes();
}

// Where they are what was put last, and nobody has changed that.
void CellWriter::LeaveBytes(Column& column) {
  const uint64_t generation = node_->generation();
  if (!last_put_) return;
  if (auto bytes = file_->TakePut(generation, ColumnTable::kMaxBytesPut))
    with_.tree.columns.KeepPut(column.shared_from_this(), generation, *std::move(bytes));
  static_cast<void>(file_->HoldEdits(with_.tree.open_file_memory, user));
}

// The put is made under the lock, the wait for the disk comes after it: who reads the file does not
// wait for its writer's sync. Where another has put what was written here, that is waited for.
Outcome CellWriter::PutAndWait(ColumnChange& change, What what, Durability wanted) {
  const bool shares = !file_->tail().empty() || !file_->edits().empty();
  const bool puts = what == What::kBytes ? HasBytes()
                                         : HasAnything() || (what == What::kFile && shares);
  if (puts) {
    Outcome put = PutNow(change, what, wanted);
    if (!put.ok() || !with_.disk.syncs_apart()) return put;
  }
  const bool is_ours = disk_position_ != 0;
  const DiskPosition awaited =
      wanted == Durability::kFsyncWal ? with_.disk.Issue() : disk_position_;
  if (awaited == 0) return {};
  change.Finish();
  const Status synced = with_.disk.Await(awaited);
  if (synced.ok() || !(puts || is_ours)) return synced;
  ColumnChange failed(with_.changing, node_);
  return Fail(failed, Status(StatusCode::kOutcomeUnknown, synced.message()));
}

// To a file that this one made others may put first, here too: what it holds goes over that then.
Outcome CellWriter::PutPending(ColumnChange& change, What what, Durability durability) {
  if (what == What::kFile) CELLFS_RETURN_IF_FAILED(PutEdits(change, durability));
  if (OthersWereFirst()) CELLFS_RETURN_IF_FAILED(JoinOthers(change));
  CELLFS_RETURN_IF_FAILED(file_->edits().Has(this) ? PutEdits(change, durability)
                                                   : PutTail(change, durability, this));
  if (OthersWereFirst()) return JoinOthers(change);
  return unput_ == Unput::kNothing ? Outcome() : PutOwn(change, durability);
}

Outcome CellWriter::PutOwn(ColumnChange& change, Durability durability) {
  while (file_->tail().has_below(first_behind_)) {
    const Outcome put = PutFrontRun(change, with_.options.durability);
    if (change.LacksRoom()) return put;
  }
  holds_ = Holds::kWhole;  // also where it was made to append nothing
  // Others wrote at the same time: the kernel's pages may have what came later of each.
  const bool is_merged = node_->generation() != known_generation_ || !file_->tail().empty() ||
                         !file_->edits().empty();
  const bool must_be_first = exclusive_ && !last_put_;
  const auto put = PutWhole(change, caller_, put_as(), whole_, must_be_first, durability);
  if (change.LacksRoom()) return put.status();
  if (!put.ok()) return Fail(change, put.status());
  change.Did(*put);
  AfterPut(change, *put);
  holds_ = Holds::kShared;
  unput_ = Unput::kNothing;
  file_->ShowPut(std::exchange(whole_, {}), known_generation_);
  if (is_merged) node_->PagesAreStale();
  return {};
}

// All that was appended and edited, the latter in one step: who edited together shares the version.
Outcome CellWriter::PutEdits(ColumnChange& change, Durability durability) {
  CELLFS_RETURN_IF_FAILED(PutTail(change, durability, nullptr));
  if (file_->edits().empty()) return {};
  const auto& writers = file_->edits().writers();
  const auto decides = [](const CellWriter* writer) {
    return writer->requested_time_ || writer->time_to_live_ != kNoCellTtl;
  };
  const auto by = std::find_if(writers.begin(), writers.end(), decides);
  const Outcome put =
      (by != writers.end() ? *by : writers.front())->PutEditsNow(change, durability);
  if (put.ok() || change.LacksRoom()) return put;
  while (!file_->edits().empty())
    static_cast<void>(file_->edits().writers().front()->Fail(change, put));
  return failed_.value_or(Outcome());
}

Outcome CellWriter::PutEditsNow(ColumnChange& change, Durability durability) {
  const uint64_t before = node_->generation();
  // Somebody else changed what they go over, so the kernel's pages are not as the file is.
  const bool is_merged = before != file_->edits().generation();
  const std::vector<CellWriter*> writers = file_->edits().writers();
  const Over over = HasBeenThere(change.place()) ? Over::kValue : Over::kAnything;
  auto put = PutEdited(change, with_.reading, caller_, put_as(), file_->edits().edits(), over,
                       durability);
  if (!put.ok()) return put.status();
  change.Did(put->effect);
  file_->NoteSharedPut(before, node_->generation());
  file_->DropEdits();
  AfterPut(change, put->effect);
  for (CellWriter* writer : writers) writer->IsPutAs(change, *put->effect.stamp);
  file_->ShowPut(std::move(put->value), known_generation_);
  if (is_merged) node_->PagesAreStale();
  return {};
}

// The runs up to the last one of `through` (null: all of them), each as its own writer would.
Outcome CellWriter::PutTail(ColumnChange& change, Durability durability,
                            const CellWriter* through) {
  const AppendedTail& tail = file_->tail();
  while (through != nullptr ? tail.Has(through) : !tail.empty()) {
    const std::vector<CellWriter*>& writers = tail.front().writers;
    const bool is_own = writers.size() == 1 && writers.front() == this;
    // What others appended is promised to them by their close.
    const Durability promised =
        is_own || through == nullptr ? durability : with_.options.durability;
    const Outcome put = PutFrontRun(change, promised);
    if (change.LacksRoom()) return put;
  }
  return failed_.value_or(Outcome());
}

// Its writers are told where it is not put.
Outcome CellWriter::PutFrontRun(ColumnChange& change, Durability promised) {
  const std::vector<CellWriter*> writers = file_->tail().front().writers;
  Outcome put = writers.front()->PutRun(change, file_->tail().front().bytes, promised);
  if (change.LacksRoom()) return put;
  for (CellWriter* writer : writers) {
    if (put.ok()) {
      writer->IsPutAt(change.position());
    } else {
      static_cast<void>(writer->Fail(change, put));
    }
  }
  return put;
}

Outcome CellWriter::PutRun(ColumnChange& change, const std::string& bytes, Durability durability) {
  const uint64_t before = node_->generation();
  effect::Put put;
  if (IsPlain(change)) {
    const auto size = file_->stored_size(before);
    CELLFS_ASSIGN_OR_RETURN(put, PutAppended(change, caller_, bytes, durability));
    if (size) put.size = *size + bytes.size();
  } else {
    PendingEdits edits;
    edits.Append(bytes);
    CELLFS_ASSIGN_OR_RETURN(
        const EditedPut edited,
        PutEdited(change, with_.reading, caller_, put_as(), edits, Over::kAnything, durability));
    put = edited.effect;
  }
  change.Did(put);
  file_->NoteSharedPut(before, node_->generation());
  file_->PopRun();
  AfterPut(change, put);
  return {};
}

// Whether HBase's Append does it: nothing but the bytes is to be stored.
bool CellWriter::IsPlain(ColumnChange& change) const {
  return !IsVersion(change.place()) && !last_put_ && !requested_time_ &&
         time_to_live_ == kNoCellTtl && !change.column().renamed_away();
}

// What follows a put: it cannot fail, and nothing here touches the disk in the common case.
void CellWriter::AfterPut(ColumnChange& change, const effect::Put& put) {
  const Place& place = change.place();
  known_generation_ = node_->generation();
  if (put.size) file_->KeepStoredSize(*put.size, known_generation_);
  const bool is_rewritten = last_put_ == put.stamp;
  if (requested_time_ || is_rewritten || IsVersion(place)) RememberTime(place, *put.stamp);
  IsPutAs(change, *put.stamp);
}

// What this handle puts from here on is that version again.
void CellWriter::IsPutAs(const ColumnChange& change, Timestamp stamp) {
  last_put_ = stamp;
  IsPutAt(change.position());
  known_generation_ = node_->generation();
  requested_time_.reset();
  exclusive_ = false;
  making_ = Making::kNo;
  if (holds_ == Holds::kWhole) return;
  unput_ = Unput::kNothing;
  CountAsReplacer();
}

// The time that the program set, where the version itself does not say it.
void CellWriter::RememberTime(const Place& place, Timestamp stamp) {
  AttributeUpdate update;
  update.version = stamp;
  update.mtime = requested_time_;
  update.forget_mtime = !requested_time_ && (IsVersion(place) || time_is_remembered_);
  if (stamp != with_.tree.clock.Now()) update.ctime = ToTimespec(with_.tree.clock.Now());
  const Status remembered = with_.attributes.Update(place, update);
  with_.errors.Record("close", place, remembered);
  time_is_remembered_ =
      requested_time_.has_value() || (time_is_remembered_ && !remembered.ok());
}

}  // namespace cellfs::fs
