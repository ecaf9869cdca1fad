// SPDX-License-Identifier: MIT
#include "fs/content/cell_writer.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <exception>
#include <utility>

#include "fs/files/file_bytes.h"
#include "fs/reading/reading.h"
#include "fs/requests/running_request.h"

namespace cellfs::fs {

namespace {

timespec Now(const LiveTree& tree) { return ToTimespec(tree.clock.Now()); }

}  // namespace

// Who makes a file by appending to it shares its beginning with all who append. With O_EXCL the
// first put is a condition on absence, which only a put of the whole can have.
CellWriter::CellWriter(const CellWriting& with, const Request& request, NodePtr node,
                       std::shared_ptr<SharedFile> file, const OpenMode& mode)
    : with_(with),
      caller_(*request.caller),
      node_(std::move(node)),
      file_(std::move(file)),
      append_(mode.append),
      truncates_(mode.truncate),
      holds_(mode.truncate || (mode.created && (!mode.append || mode.exclusive)) ? Holds::kWhole
                                                                                 : Holds::kShared),
      unput_(mode.truncate || mode.created ? Unput::kStart : Unput::kNothing),
      making_(mode.created ? Making::kJoins : Making::kNo),
      exclusive_(mode.exclusive && mode.created),
      share_(with.tree.open_file_memory, request.uid),
      unput_bytes_(with.tree.unput_bytes) {
  user = request.uid;
  written_ = Now(with_.tree);
  known_generation_ = node_->generation();
  if (unput_ != Unput::kNothing) unput_bytes_.Set(UnputBytes::kBlock);  // who opened it has asked
  file_->AddWriter();
  CountAsReplacer();
}

CellWriter::~CellWriter() {
  if (is_replacer_) file_->RemoveReplacer(first_behind_);
  if (is_writer_) file_->RemoveWriter();
}

void CellWriter::CountAsReplacer() {
  if (unput_ == Unput::kNothing) unput_bytes_.Set(0);
  const bool is_replacer = holds_ == Holds::kWhole && unput_ != Unput::kNothing;
  if (is_replacer == is_replacer_) return;
  is_replacer_ = is_replacer;
  is_replacer ? file_->AddReplacer(first_behind_) : file_->RemoveReplacer(first_behind_);
}

void CellWriter::FollowAppended() {
  assert(is_replacer_);
  file_->RemoveReplacer(first_behind_);
  first_behind_ = file_->CloseRuns();
  file_->AddReplacer(first_behind_);
}

void CellWriter::Renamed(Timestamp version) { last_put_ = version; }

// ---- What the program does --------------------------------------------------------------------

// Where memory runs out what was written is not put, not even in part, if it has not been already;
// nor is what others edited, over which it was written.
template <typename Act>
Outcome CellWriter::WithMemory(ColumnChange& change, Act&& act) {
  try {
    Outcome acted = act();
    static_cast<void>(UpdateShare());
    static_cast<void>(file_->HoldEdits(with_.tree.open_file_memory, user));
    CountAsReplacer();
    return acted;
  } catch (const std::exception&) {  // also for the thread that puts later
    return FailAll(change, Outcome::Unknown(ENOMEM, "no memory"));
  }
}

Outcome CellWriter::PutNow(ColumnChange& change, What what, Durability durability) {
  return WithMemory(change, [&] { return PutPending(change, what, durability); });
}

// Whatever has to be put for it waits for room without the lock, as what is put by a close.
template <typename Act>
Outcome CellWriter::AwaitingRoom(const Act& act) {
  RoomToAwait room;
  while (true) {
    Outcome done = [&]() -> Outcome {
      ColumnChange change(with_.changing, node_, &room);
      return failed_ ? *failed_ : WithMemory(change, [&] { return act(change); });
    }();
    if (!room.Await()) return done;
  }
}

Outcome CellWriter::Write(std::string_view bytes, uint64_t offset, WriteFrom from) {
  const bool appends = append_ && from == WriteFrom::kProgram;
  bool is_held = false;  // it is not to be written twice
  return AwaitingRoom([&](ColumnChange& change) {
    if (bytes.empty()) return Outcome();
    if (is_held) return KeepOrPutWritten(change);
    const uint64_t before = writes_;
    const Outcome written = Edit(change, bytes, offset, appends);
    is_held = writes_ != before;
    if (is_held && MayLack(offset + bytes.size())) node_->PagesAreStale();
    return written;
  });
}

// Whether the kernel's pages may lack what was just written up to there.
bool CellWriter::MayLack(uint64_t end) {
  const bool may_be_cut = node_->kernel_size().IsWritten(static_cast<int64_t>(end));
  const pid_t asker = RunningRequest::AskerOfThisThread();
  return file_->dropped_pages().MayLackWritten(asker) || may_be_cut;
}

Outcome CellWriter::KeepOrPutWritten(ColumnChange& change) {
  if (holds_ == Holds::kOrphan) return {};
  if (holds_ == Holds::kWhole) return KeepOrPut(change);
  return file_->edits().empty() ? PutTail(change, with_.options.durability, nullptr)
                                : KeepOrPutEdits(change);
}

Outcome CellWriter::Edit(ColumnChange& change, std::string_view bytes, uint64_t offset,
                         bool appends) {
  if (holds_ == Holds::kOrphan) return EditOrphan(change.place(), bytes, offset, appends);
  if (!truncates_ && OthersWereFirst()) CELLFS_RETURN_IF_FAILED(JoinOthers(change));
  return holds_ == Holds::kWhole ? EditWhole(change, bytes, offset, appends)
                                 : EditShared(change, bytes, offset, appends);
}

Outcome CellWriter::EditWhole(ColumnChange& change, std::string_view bytes, uint64_t offset,
                              bool appends) {
  const uint64_t begin = appends ? whole_.size() : offset;
  file_->AppendsAreWhole();
  const Outcome fits = CheckSize(change.column().cell(), begin + bytes.size());
  if (!fits.ok()) return Fail(change, fits);
  WriteInto(whole_, bytes, begin);
  Wrote(Unput::kBytes);
  return KeepOrPut(change);
}

Outcome CellWriter::EditShared(ColumnChange& change, std::string_view bytes, uint64_t offset,
                               bool appends) {
  if (appends && file_->edits().empty()) return AppendToTail(change, bytes, offset);
  const uint64_t before = BlocksOfEdits();
  CELLFS_RETURN_IF_FAILED(BeginEdits(change));
  const uint64_t end = (appends ? file_->edits().size() : offset) + bytes.size();
  if (Outcome fits = CheckSize(change.place(), end); !fits.ok()) return Fail(change, fits);
  const uint64_t now = UnputBytes::InBlocks(std::max(end, file_->edits().size()));
  if (Outcome room = CheckRoom(change.place(), before, now); !room.ok()) return Fail(change, room);
  if (appends && offset != file_->edits().size()) node_->PagesAreStale();
  appends ? file_->AppendToEdits(this, bytes) : file_->Edit(this, bytes, offset);
  Wrote(unput_);
  return KeepOrPutEdits(change);
}

// Edits go over what others have appended or edited before.
Outcome CellWriter::BeginEdits(ColumnChange& change) {
  const bool has_others = !file_->edits().empty();
  if (has_others && MayShareEdits()) return {};
  if (has_others) CELLFS_RETURN_IF_FAILED(PutEdits(change, with_.options.durability));
  CELLFS_ASSIGN_OR_RETURN(const uint64_t stored, StoredSize(change.place()));
  file_->BeginEdits(stored + file_->tail().size(), node_->generation());
  return {};
}

Outcome CellWriter::KeepOrPutEdits(ColumnChange& change) {
  file_->WrittenAt(written_);
  const bool has_memory = file_->HoldEdits(with_.tree.open_file_memory, user);
  if (has_memory && !file_->edits().edits().is_scattered()) return {};
  return PutEdits(change, with_.options.durability);
}

// False: there is no room for what is held.
bool CellWriter::UpdateShare() { return share_.Resize(whole_.size()); }

// Where there is no room to keep what was written it is put now; but a file that replaces another
// is put as a whole or not at all.
Outcome CellWriter::KeepOrPut(ColumnChange& change) {
  const uint64_t before = unput_bytes_.bytes();
  unput_bytes_.Set(UnputBytes::InBlocks(whole_.size()));
  const Outcome room = CheckRoom(change.column().cell(), before, unput_bytes_.bytes());
  if (!room.ok()) return Fail(change, room);
  if (UpdateShare()) return {};
  if (truncates_) return Fail(change, with_.tree.open_file_memory.Full(ENOSPC));
  return PutNow(change, What::kBytes, with_.options.durability);
}

uint64_t CellWriter::BlocksOfEdits() const {
  return file_->edits().empty() ? 0 : UnputBytes::InBlocks(file_->edits().size());
}

// Whether the store has room for what is put when the file is closed: programs hear of a write that
// fails, and many of them not of a close. Asked at the first write, if not when the file was made or
// emptied, and with each block more.
Outcome CellWriter::CheckRoom(const Place& place, uint64_t before, uint64_t now) const {
  if (now <= before) return {};
  const uint64_t held = with_.tree.unput_bytes.total() - unput_bytes_.bytes() + now;
  return with_.reading.CheckRoom(place.table, held);
}

Outcome CellWriter::EditOrphan(const Place& place, std::string_view bytes, uint64_t offset,
                               bool appends) {
  OrphanFile& orphan = *file_->orphan();
  const uint64_t begin = appends ? orphan.shown().size : offset;
  const uint64_t end = begin + bytes.size();
  CELLFS_RETURN_IF_FAILED(CheckSize(place, end));
  return orphan.Change(
      end, [&](std::string& file) { WriteInto(file, bytes, begin); }, Now(with_.tree));
}

Outcome CellWriter::AppendToTail(ColumnChange& change, std::string_view bytes, uint64_t offset) {
  CELLFS_ASSIGN_OR_RETURN(const uint64_t stored, StoredSize(change.place()));
  const uint64_t end = stored + file_->tail().size() + bytes.size();
  const Place& cell = change.column().cell();
  if (Outcome fits = CheckSize(cell, end); !fits.ok()) return Fail(change, fits);
  const uint64_t before =
      file_->tail().empty() ? 0 : UnputBytes::InBlocks(end - bytes.size());
  const Outcome room = CheckRoom(cell, before, UnputBytes::InBlocks(end));
  if (!room.ok()) return Fail(change, room);
  if (!file_->Append(this, bytes, offset, stored, MayShareRun())) node_->PagesAreStale();
  Wrote(unput_);
  file_->WrittenAt(written_);
  const bool has_memory = file_->HoldTail(with_.tree.open_file_memory, user);
  if (has_memory && !file_->tail().is_scattered()) return {};
  return PutTail(change, with_.options.durability, nullptr);
}

// One who may write must not do so in the name of another.
bool CellWriter::MayShareRun() const {
  const CellWriter* last = file_->tail().last_writer();
  return last != nullptr && last->caller_.user == caller_.user;
}

// Nor are its times, or what ends it, those of another's bytes.
bool CellWriter::MayShareEdits() const {
  const auto& writers = file_->edits().writers();
  if (writers.size() == 1 && writers.front() == this) return true;
  return time_to_live_ == kNoCellTtl &&
         std::all_of(writers.begin(), writers.end(), [&](const CellWriter* writer) {
           return writer->caller_.user == caller_.user && !writer->requested_time_ &&
                  writer->time_to_live_ == kNoCellTtl;
         });
}

Outcome CellWriter::CheckSize(const Place& place, uint64_t end) const {
  if (end > with_.options.max_value_size) {
    return {EFBIG, "a value may have " + std::to_string(with_.options.max_value_size) +
                       " bytes; this one would have " + std::to_string(end)};
  }
  return with_.reading.CheckValueSize(place, end);
}

// Of the file as this handle shows it.
OutcomeOr<uint64_t> CellWriter::PresentSize(const Place& place) {
  if (holds_ == Holds::kOrphan) return file_->orphan()->shown().size;
  if (holds_ == Holds::kWhole) return whole_.size();
  if (!file_->edits().empty()) return file_->edits().size();
  CELLFS_ASSIGN_OR_RETURN(const uint64_t stored, StoredSize(place));
  return stored + file_->tail().size();
}

OutcomeOr<uint64_t> CellWriter::StoredSize(const Place& place) {
  if (const auto size = file_->stored_size(node_->generation())) return *size;
  const auto known = node_->cached_cell();
  uint64_t size = 0;
  if (known && !known->expires) {
    size = known->size;
  } else {
    CELLFS_ASSIGN_OR_RETURN(const auto cell,
                            ReadColumn(with_.reading, caller_, place, ReadDetail::kLengths));
    if (cell) size = cell->value_length;
  }
  file_->KeepStoredSize(size, node_->generation());
  return size;
}

void CellWriter::Wrote(Unput unput) {
  unput_ = unput;
  written_ = Now(with_.tree);
  ++writes_;
  requested_time_.reset();
  if (!truncates_) PutLater();
}

// A program that writes on without closing is put for within a second of its first write.
void CellWriter::PutLater() {
  if (put_is_due_) return;
  put_is_due_ = true;
  with_.delayed.Add(user, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    {
      const auto lock = ColumnLock::Of(*self->node_);
      self->put_is_due_ = false;
    }
    static_cast<void>(self->PutHeld(What::kBytes, self->with_.options.durability));
  });
}

Outcome CellWriter::Truncate(uint64_t size) {
  return AwaitingRoom([&](ColumnChange& change) { return EditLength(change, size); });
}

Outcome CellWriter::Allocate(uint64_t size) {
  return AwaitingRoom([&](ColumnChange& change) -> Outcome {
    CELLFS_RETURN_IF_FAILED(CheckSize(change.place(), size));
    CELLFS_ASSIGN_OR_RETURN(const uint64_t present, PresentSize(change.place()));
    node_->kernel_size().IsAtLeast(static_cast<int64_t>(size));
    return size <= present ? Outcome() : EditLength(change, size);
  });
}

Outcome CellWriter::EditLength(ColumnChange& change, uint64_t size) {
  CELLFS_RETURN_IF_FAILED(CheckSize(change.place(), size));
  if (holds_ == Holds::kOrphan) {
    return file_->orphan()->Change(
        size, [&](std::string& file) { SetLength(file, size); }, Now(with_.tree));
  }
  if (holds_ == Holds::kWhole)
    CELLFS_RETURN_IF_FAILED(PutTail(change, with_.options.durability, nullptr));
  if (OthersWereFirst()) CELLFS_RETURN_IF_FAILED(JoinOthers(change));
  CELLFS_RETURN_IF_FAILED(HoldLength(change.place(), size));
  if (making_ == Making::kJoins) making_ = Making::kErases;
  if (holds_ == Holds::kWhole) {
    SetLength(whole_, size);
    Wrote(Unput::kBytes);
    return KeepOrPut(change);
  }
  CELLFS_RETURN_IF_FAILED(BeginEdits(change));
  file_->TruncateEdits(this, size);
  Wrote(unput_);
  return KeepOrPutEdits(change);
}

// A length that is refused costs nothing of what was written.
Outcome CellWriter::HoldLength(const Place& place, uint64_t size) {
  const bool is_whole = holds_ == Holds::kWhole;
  const uint64_t before = is_whole ? unput_bytes_.bytes() : BlocksOfEdits();
  const uint64_t now = UnputBytes::InBlocks(size);
  CELLFS_RETURN_IF_FAILED(CheckRoom(place, before, now));
  if (!is_whole) return {};
  if (truncates_ && !share_.Resize(size)) return with_.tree.open_file_memory.Full(ENOSPC);
  unput_bytes_.Set(now);
  return {};
}

std::optional<Outcome> CellWriter::SetTime(timespec mtime) {
  const auto lock = ColumnLock::Of(*node_);
  if (!HasAnything() || failed_) return std::nullopt;
  requested_time_ = mtime;
  return Outcome();
}

bool CellWriter::SetTimeToLive(int64_t milliseconds) {
  const auto lock = ColumnLock::Of(*node_);
  if (!HasAnything() || failed_) return false;
  time_to_live_ = milliseconds;
  return true;
}

std::optional<PendingWrite> CellWriter::pending() const {
  const auto lock = ColumnLock::Of(*node_);
  if (file_->orphan() != nullptr) return file_->orphan()->shown();
  const bool has_edits = !file_->edits().empty();
  const bool has_shared = file_->tail().Has(this) || (has_edits && file_->edits().Has(this));
  if (has_shared) {
    return PendingWrite{has_edits ? file_->edits().size() : file_->tail().size(), !has_edits,
                        requested_time_, file_->written()};
  }
  if (unput_ == Unput::kNothing && !node_->unlinked()) return std::nullopt;
  if (unput_ != Unput::kBytes && OthersWereFirst()) return std::nullopt;
  return PendingWrite{whole_.size(), false, requested_time_, written_};
}

// ---- Reading through the handle ---------------------------------------------------------------

OutcomeOr<SharedBytes> CellWriter::Read(uint64_t offset, size_t size, ReadFor what) {
  if (what == ReadFor::kPages) file_->dropped_pages().AreRead(RunningRequest::AskerOfThisThread());
  const auto lock = ColumnLock::Of(*node_);
  if (holds_ == Holds::kOrphan) return ReadOrphan(offset, size);
  if (file_->is_replaced() && node_->handle_count() > 1) node_->PagesAreStale();
  if (holds_ == Holds::kWhole && !OthersWereFirst())
    return SharedBytes::Copy(whole_, offset, size);
  return ReadShared(offset, size);
}

// The file as all see it who share it, and over it what only this handle has.
OutcomeOr<SharedBytes> CellWriter::ReadShared(uint64_t offset, size_t size) {
  const uint64_t generation = node_->generation();
  const std::string* shown = file_->shown(generation);
  if (shown == nullptr) {
    const Snapshot<Place> place = node_->place();
    CELLFS_ASSIGN_OR_RETURN(auto stored, LatestValue(with_.reading, caller_, *place));
    if (!stored && HasBeenThere(*place)) return Outcome(ESTALE);
    shown = &file_->Show(std::move(stored).value_or(std::string()), generation);
  }
  SharedBytes bytes;
  if (whole_.empty()) {
    bytes = SharedBytes::Copy(*shown, offset, size);
  } else {
    auto own = std::make_shared<std::string>(*shown);
    HeldEdits().ApplyTo(*own);
    bytes = SharedBytes::Slice(std::move(own), offset, size);
  }
  static_cast<void>(file_->HoldEdits(with_.tree.open_file_memory, user));
  return bytes;
}

OutcomeOr<SharedBytes> CellWriter::ReadOrphan(uint64_t offset, size_t size) const {
  CELLFS_RETURN_IF_FAILED(may_read_orphan_);
  return file_->orphan()->Read(offset, size);
}

// ---- Without a name ---------------------------------------------------------------------------

void CellWriter::NameGoes() {
  const Snapshot<Place> place = node_->place();
  may_read_orphan_ = with_.contents.CheckMayRead(caller_, *place);
}

// What is held here goes to the file that all share from now on.
void CellWriter::NameWent() {
  OrphanFile& orphan = *file_->orphan();
  static_cast<void>(share_.Resize(0));  // its bytes are that file's now
  try {
    if (holds_ == Holds::kWhole) {
      const PendingEdits edits = HeldEdits();
      const Outcome changed = orphan.Change(
          edits.SizeAfter(orphan.shown().size),
          [&](std::string& bytes) { edits.ApplyTo(bytes); }, Now(with_.tree));
      if (changed.error() == ENOSPC) orphan.LetGo();
    }
  } catch (const std::exception&) {
    failed_ = Outcome(ENOMEM, "no memory");
  }
  // What was written is kept nowhere: a close that succeeded would say that it is. What the limit of
  // open files has let go was somebody's to remove; who reads it is told.
  if (!orphan.bytes().ok() && !orphan.is_let_go()) failed_ = orphan.bytes().status();
  holds_ = Holds::kOrphan;
  making_ = Making::kNo;
  unput_ = Unput::kNothing;
  LetGo(whole_);
  CountAsReplacer();
}

// ---- Others who write at the same time --------------------------------------------------------

// Whether another handle put first to the file that this one made: its unstored entry went then.
bool CellWriter::OthersWereFirst() const {
  if (making_ != Making::kJoins || (truncates_ && unput_ == Unput::kBytes)) return false;
  if (node_->generation() == known_generation_) return false;
  const Snapshot<Place> place = node_->place();
  return !with_.tree.unstored.Find(*place);
}

// Making is not truncating: what was written here goes over what others put.
PendingEdits CellWriter::HeldEdits() const {
  PendingEdits edits;
  if (making_ != Making::kJoins) edits.Truncate(0);
  append_ ? edits.Append(whole_) : edits.Write(whole_, 0);
  return edits;
}

// Whether a value was there for this handle: the file is not one that is just being made.
bool CellWriter::HasBeenThere(const Place& place) const {
  return making_ == Making::kNo && !with_.tree.unstored.Find(place);
}

Outcome CellWriter::JoinOthers(ColumnChange& change) {
  making_ = Making::kNo;
  exclusive_ = false;
  unput_ = Unput::kNothing;
  if (!whole_.empty()) node_->PagesAreStale();  // they have what others wrote over it
  return ShareBytes(change, false);
}

// Who truncated the file replaces what others write, unless they read it as well.
void CellWriter::Share(bool with_reader) {
  ColumnChange change(with_.changing, node_);
  const bool joins = making_ == Making::kJoins && !truncates_;
  if (holds_ != Holds::kWhole || !(joins || with_reader)) return;
  static_cast<void>(WithMemory(change, [&] { return ShareOwn(change); }));
}

// Until it is put nobody but those who share it sees it. A file that must be the first cannot be
// part of what others put.
Outcome CellWriter::ShareOwn(ColumnChange& change) {
  if (exclusive_ && !OthersWereFirst()) return PutOwn(change, with_.options.durability);
  CELLFS_RETURN_IF_FAILED(PutEdits(change, with_.options.durability));
  if (OthersWereFirst()) return JoinOthers(change);
  const bool replaces = making_ != Making::kJoins;
  unput_ = replaces ? Unput::kNothing : Unput::kStart;
  return ShareBytes(change, replaces);
}

Outcome CellWriter::ShareBytes(ColumnChange& change, bool replaces) {
  change.WaitsForRoom();
  holds_ = Holds::kShared;
  CountAsReplacer();
  const std::string bytes = std::exchange(whole_, {});
  if (bytes.empty() && !replaces) return {};
  if (Outcome begun = BeginEdits(change); !begun.ok()) return Fail(change, begun);
  if (replaces) file_->TruncateEdits(this, 0);
  append_ ? file_->AppendToEdits(this, bytes) : file_->Edit(this, bytes, 0);
  return KeepOrPutEdits(change);
}

// Nothing that was written here is put any more, for it might be put twice; nor is it kept.
Outcome CellWriter::Fail(ColumnChange& change, Outcome outcome) {
  failed_ = outcome;
  unput_ = Unput::kNothing;
  if (holds_ == Holds::kWhole) holds_ = Holds::kShared;
  LetGo(whole_);
  static_cast<void>(UpdateShare());
  file_->RemoveRuns(this);
  file_->RemoveEdits(this);
  node_->PagesAreStale();
  CountAsReplacer();
  change.Failed(outcome);
  const bool was_making = std::exchange(making_, Making::kNo) != Making::kNo;
  if (was_making && with_.tree.unstored.Find(change.place())) change.Did(effect::ClaimFailed{});
  return outcome;
}

// And all whose edits are put together with those of this one.
Outcome CellWriter::FailAll(ColumnChange& change, const Outcome& outcome) {
  while (!file_->edits().empty())
    static_cast<void>(file_->edits().writers().front()->Fail(change, outcome));
  return Fail(change, outcome);
}

}  // namespace cellfs::fs
