// SPDX-License-Identifier: MIT
#include "fs/content/cell_writer.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "fs/content/column_traces.h"
#include "fs/reading/reading.h"

namespace cellfs::fs {

namespace {

// Somebody else was faster each time; then HBase would have let us wait as well.
constexpr int kMaxAttempts = 1000;

timespec Now(const LiveTree& tree) { return ToTimespec(tree.clock.Now()); }

// The bytes of the put that the step began with.
std::string TakeValue(RowStep& step) {
  return std::move(std::get<Put>(step.mutations.mutations.front()).cells.front().value);
}

}  // namespace

// Who makes a file by appending to it shares its beginning with all who append. With O_EXCL the
// first put is a condition on absence, which only a put of the whole can have.
CellWriter::CellWriter(const CellWriting& with, const Request& request, NodePtr node,
                       const OpenMode& mode)
    : with_(with),
      caller_(*request.caller),
      node_(std::move(node)),
      column_(node_->OpenColumn()),
      append_(mode.append),
      truncates_(mode.truncate),
      holds_(mode.truncate || (mode.created && (!mode.append || mode.exclusive)) ? Holds::kWhole
                                                                                 : Holds::kEdits),
      unput_(mode.truncate || mode.created ? Unput::kStart : Unput::kNothing),
      making_(mode.created ? Making::kJoins : Making::kNo),
      exclusive_(mode.exclusive && mode.created),
      share_(with.tree.open_file_memory, request.uid) {
  user = request.uid;
  if (holds_ == Holds::kWhole) view_.emplace();
  written_ = Now(with_.tree);
  known_generation_ = node_->generation();
  column_->AddWriter();
  CountAsEditor();
}

CellWriter::~CellWriter() {
  if (is_editor_) column_->RemoveEditor();
  column_->RemoveWriter();
}

void CellWriter::CountAsEditor() {
  const bool is_editor = unput_ != Unput::kNothing;
  if (is_editor == is_editor_) return;
  is_editor_ = is_editor;
  is_editor ? column_->AddEditor() : column_->RemoveEditor();
}

void CellWriter::Renamed(Timestamp version) { last_put_ = version; }

// ---- What the program does --------------------------------------------------------------------

// Where memory runs out what was written is not put, not even in part, if it has not been already.
template <typename Act>
Outcome CellWriter::WithMemory(ColumnChange& change, Act&& act) {
  try {
    Outcome acted = act();
    KeepViewIfRoom();
    CountAsEditor();
    return acted;
  } catch (const std::exception&) {  // also for the thread that puts later
    return Fail(change, Outcome::Unknown(ENOMEM, "no memory"));
  }
}

Outcome CellWriter::Write(std::string_view bytes, uint64_t offset, WriteFrom from) {
  ColumnChange change(with_.tree, with_.contents, node_);
  if (failed_) return *failed_;
  if (bytes.empty()) return {};
  const bool appends = append_ && from == WriteFrom::kProgram;
  return WithMemory(change, [&] { return Edit(change, bytes, offset, appends); });
}

Outcome CellWriter::Edit(ColumnChange& change, std::string_view bytes, uint64_t offset,
                         bool appends) {
  if (holds_ == Holds::kOrphan) return EditOrphan(bytes, offset, appends);
  if (!truncates_ && OthersWereFirst()) JoinOthers();
  const bool begins = holds_ == Holds::kEdits && edits_.empty();
  if (begins && appends) return AppendToTail(change, bytes, offset);
  if (begins) {
    // An offset lies in what is put, so nothing that others appended may come behind the edit.
    CELLFS_RETURN_IF_FAILED(PutTail(change, with_.options.durability, nullptr));
    CELLFS_ASSIGN_OR_RETURN(base_size_, StoredSize(change.column()));
  }
  const uint64_t begin = appends ? Size() : offset;
  if (Outcome fits = CheckSize(begin + bytes.size()); !fits.ok()) return Fail(change, fits);
  if (view_) WriteInto(*view_, bytes, begin);
  if (holds_ == Holds::kEdits && appends) edits_.Append(bytes);
  if (holds_ == Holds::kEdits && !appends) edits_.Write(bytes, offset);
  Wrote(Unput::kBytes);
  return KeepOrPut(change);
}

// False: there is no room for what is held.
bool CellWriter::UpdateShare() {
  return share_.Resize((view_ ? view_->size() : 0) + edits_.bytes());
}

// What can be read again is not kept where there is no room for it.
void CellWriter::KeepViewIfRoom() {
  if (UpdateShare() || holds_ == Holds::kWhole) return;
  view_.reset();
  static_cast<void>(UpdateShare());
}

// Where there is no room to keep what was written it is put now; but a file that replaces another
// is put as a whole or not at all.
Outcome CellWriter::KeepOrPut(ColumnChange& change) {
  const bool has_memory = UpdateShare();
  if (has_memory && !edits_.is_scattered()) return {};
  if (!has_memory && truncates_ && holds_ == Holds::kWhole)
    return Fail(change, with_.tree.open_file_memory.Full(ENOSPC));
  return PutNow(change, with_.options.durability);
}

Outcome CellWriter::EditOrphan(std::string_view bytes, uint64_t offset, bool appends) {
  OrphanFile& orphan = *column_->orphan();
  const uint64_t begin = appends ? orphan.shown().size : offset;
  const uint64_t end = begin + bytes.size();
  CELLFS_RETURN_IF_FAILED(CheckSize(end));
  return orphan.Change(
      end, [&](std::string& file) { WriteInto(file, bytes, begin); }, Now(with_.tree));
}

Outcome CellWriter::AppendToTail(ColumnChange& change, std::string_view bytes, uint64_t offset) {
  CELLFS_ASSIGN_OR_RETURN(const uint64_t stored, StoredSize(change.column()));
  const uint64_t end = stored + column_->tail().size() + bytes.size();
  if (Outcome fits = CheckSize(end); !fits.ok()) return Fail(change, fits);
  column_->Append(this, bytes, offset, stored, MayShareRun());
  view_.reset();
  Wrote(unput_);
  column_->AppendedAt(written_);
  const bool has_memory = column_->HoldTail(with_.tree.open_file_memory, user);
  if (has_memory && !column_->tail().is_scattered()) return {};
  return PutTail(change, with_.options.durability, nullptr);
}

// One who may write must not do so in the name of another.
bool CellWriter::MayShareRun() const {
  const CellWriter* last = column_->tail().last_writer();
  return last != nullptr && last->caller_.user == caller_.user;
}

Outcome CellWriter::CheckSize(uint64_t end) const {
  if (end <= with_.options.max_value_size) return {};
  return {EFBIG, "a value may have " + std::to_string(with_.options.max_value_size) +
                     " bytes; this write ends at " + std::to_string(end)};
}

uint64_t CellWriter::Size() const {
  return holds_ == Holds::kWhole ? view_->size() : edits_.SizeAfter(base_size_);
}

// Of the file as this handle shows it.
OutcomeOr<uint64_t> CellWriter::PresentSize(const Place& place) {
  if (holds_ == Holds::kOrphan) return column_->orphan()->shown().size;
  if (holds_ == Holds::kWhole || !edits_.empty()) return Size();
  CELLFS_ASSIGN_OR_RETURN(const uint64_t stored, StoredSize(place));
  return stored + column_->tail().size();
}

OutcomeOr<uint64_t> CellWriter::StoredSize(const Place& place) {
  if (const auto size = column_->stored_size(node_->generation())) return *size;
  const auto known = node_->cached_cell();
  uint64_t size = 0;
  if (known && !known->expires) {
    size = known->size;
  } else {
    CELLFS_ASSIGN_OR_RETURN(const auto cell,
                            ReadColumn(with_.reading, caller_, place, ReadDetail::kLengths));
    if (cell) size = cell->value_length;
  }
  column_->KeepStoredSize(size, node_->generation());
  return size;
}

void CellWriter::Wrote(Unput unput) {
  unput_ = unput;
  written_ = Now(with_.tree);
  requested_time_.reset();
  if (!truncates_) PutLater();
}

// A program that writes on without closing is put for within a second of its first write.
void CellWriter::PutLater() {
  if (put_is_due_) return;
  put_is_due_ = true;
  with_.delayed.Add([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    {
      const auto lock = self->with_.tree.column_locks.Take(*self->node_);
      self->put_is_due_ = false;
    }
    static_cast<void>(self->PutHeld(What::kBytes, self->with_.options.durability));
  });
}

Outcome CellWriter::Truncate(uint64_t size) {
  ColumnChange change(with_.tree, with_.contents, node_);
  if (failed_) return *failed_;
  return WithMemory(change, [&] { return EditLength(change, size); });
}

Outcome CellWriter::Allocate(uint64_t size) {
  ColumnChange change(with_.tree, with_.contents, node_);
  if (failed_) return *failed_;
  CELLFS_RETURN_IF_FAILED(CheckSize(size));
  return WithMemory(change, [&]() -> Outcome {
    CELLFS_ASSIGN_OR_RETURN(const uint64_t present, PresentSize(change.column()));
    return size <= present ? Outcome() : EditLength(change, size);
  });
}

Outcome CellWriter::EditLength(ColumnChange& change, uint64_t size) {
  if (size > with_.options.max_value_size) return {EFBIG, "a file cannot be made that long"};
  if (holds_ == Holds::kOrphan) {
    return column_->orphan()->Change(
        size, [&](std::string& file) { file.resize(size); }, Now(with_.tree));
  }
  CELLFS_RETURN_IF_FAILED(PutTail(change, with_.options.durability, nullptr));
  if (OthersWereFirst()) JoinOthers();
  if (size == 0) {
    holds_ = Holds::kWhole;
    view_.emplace();
    edits_.clear();
  }
  if (view_) view_->resize(size);
  if (holds_ == Holds::kEdits) edits_.Truncate(size);
  if (making_ == Making::kJoins) making_ = Making::kErases;
  Wrote(Unput::kBytes);
  return KeepOrPut(change);
}

std::optional<Outcome> CellWriter::SetTime(timespec mtime) {
  const auto lock = with_.tree.column_locks.Take(*node_);
  if (!HasAnything() || failed_) return std::nullopt;
  requested_time_ = mtime;
  return Outcome();
}

void CellWriter::SetTimeToLive(int64_t milliseconds) {
  const auto lock = with_.tree.column_locks.Take(*node_);
  time_to_live_ = milliseconds;
}

std::optional<PendingWrite> CellWriter::pending() const {
  const auto lock = with_.tree.column_locks.Take(*node_);
  if (column_->orphan() != nullptr) return column_->orphan()->shown();
  if (column_->tail().Has(this)) {
    return PendingWrite{column_->tail().size(), true, requested_time_, column_->appended()};
  }
  if (unput_ == Unput::kNothing && !node_->unlinked()) return std::nullopt;
  if (unput_ != Unput::kBytes && OthersWereFirst()) return std::nullopt;
  return PendingWrite{Size(), false, requested_time_, written_};
}

// ---- Reading through the handle ---------------------------------------------------------------

StatusOr<std::string> CellWriter::LatestValue(const Place& place) {
  Get get = GetOf(place, ReadDetail::kValues);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, with_.reading.Read(caller_, place.table, get));
  return cells.empty() ? std::string() : std::move(cells.front().value);
}

Outcome CellWriter::LoadView(const Place& place) {
  if (OthersWereFirst()) JoinOthers();
  if (holds_ == Holds::kWhole) return {};
  const bool has_tail = column_->has_tail();
  if (view_ && view_generation_ == node_->generation() && !has_tail) return {};
  CELLFS_ASSIGN_OR_RETURN(std::string value, LatestValue(place));
  column_->tail().CopyTo(value, 0, column_->tail().size());
  edits_.ApplyTo(value);
  view_ = std::move(value);
  // Who appends does not tell this handle, so with a tail the view is for this call alone.
  view_generation_ = has_tail ? 0 : node_->generation();
  return {};
}

OutcomeOr<SharedBytes> CellWriter::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  const auto lock = with_.tree.column_locks.Take(*node_);
  if (holds_ == Holds::kOrphan) return ReadOrphan(offset, size);
  if (column_->is_edited() && node_->handle_count() > 1) node_->PagesAreStale();
  const Snapshot<Place> place = node_->place();
  CELLFS_RETURN_IF_FAILED(LoadView(*place));
  SharedBytes bytes = SharedBytes::Copy(*view_, offset, size);
  KeepViewIfRoom();
  return bytes;
}

OutcomeOr<SharedBytes> CellWriter::ReadOrphan(uint64_t offset, size_t size) const {
  CELLFS_RETURN_IF_FAILED(may_read_orphan_);
  return column_->orphan()->Read(offset, size);
}

// ---- Without a name ---------------------------------------------------------------------------

void CellWriter::NameGoes() {
  const Snapshot<Place> place = node_->place();
  may_read_orphan_ = with_.contents.CheckMayRead(caller_, *place);
}

// What is held here goes to the file that all share from now on.
void CellWriter::NameWent() {
  if (making_ == Making::kJoins && holds_ == Holds::kWhole) JoinOthers();
  OrphanFile& orphan = *column_->orphan();
  const auto change = [&](std::string& bytes) {
    if (holds_ == Holds::kWhole) bytes = *view_;
    edits_.ApplyTo(bytes);
  };
  const uint64_t size =
      holds_ == Holds::kWhole ? view_->size() : edits_.SizeAfter(orphan.shown().size);
  try {
    if (holds_ == Holds::kWhole || !edits_.empty()) {
      const Outcome changed = orphan.Change(size, change, Now(with_.tree));
      if (changed.error() == ENOSPC) orphan.Lose(with_.tree.open_file_memory.Full(ENOMEM));
    }
  } catch (const std::exception&) {
    failed_ = Outcome(ENOMEM, "no memory");
  }
  holds_ = Holds::kOrphan;
  making_ = Making::kNo;
  unput_ = Unput::kNothing;
  view_.reset();
  edits_.clear();
  static_cast<void>(UpdateShare());
  CountAsEditor();
}

// ---- Others who write at the same time --------------------------------------------------------

// Whether another handle put first to the file that this one made: its unstored entry went then.
bool CellWriter::OthersWereFirst() const {
  if (making_ != Making::kJoins || (truncates_ && unput_ == Unput::kBytes)) return false;
  if (node_->generation() == known_generation_) return false;
  const Snapshot<Place> place = node_->place();
  return !with_.tree.unstored.Find(*place);
}

// Making is not truncating: what was written here goes over what the others put.
void CellWriter::JoinOthers() {
  making_ = Making::kNo;
  exclusive_ = false;
  if (unput_ == Unput::kStart) unput_ = Unput::kNothing;
  if (holds_ == Holds::kWhole) {
    holds_ = Holds::kEdits;
    if (append_ && !view_->empty()) edits_.Append(*view_);
    if (!append_ && !view_->empty()) edits_.Write(*view_, 0);
    view_.reset();
  }
  CountAsEditor();
}

// Nothing that was written here is put any more, for it might be put twice; nor is it kept.
Outcome CellWriter::Fail(ColumnChange& change, Outcome outcome) {
  failed_ = outcome;
  unput_ = Unput::kNothing;
  if (holds_ == Holds::kWhole) holds_ = Holds::kEdits;
  edits_.clear();
  view_.reset();
  static_cast<void>(UpdateShare());
  column_->RemoveRuns(this);
  node_->PagesAreStale();
  CountAsEditor();
  change.Ended(outcome);
  if (std::exchange(making_, Making::kNo) == Making::kNo) return outcome;
  if (with_.tree.unstored.Remove(change.column())) change.Revalidate();
  return outcome;
}

// ---- Putting ----------------------------------------------------------------------------------

Outcome CellWriter::Flush() { return PutHeld(What::kBytes, with_.options.durability); }

Outcome CellWriter::PutAll() { return PutHeld(What::kAll, with_.options.durability); }

Outcome CellWriter::Sync() { return PutHeld(What::kAll, Durability::kFsyncWal); }

Outcome CellWriter::PutHeld(What what, Durability durability) {
  ColumnChange change(with_.tree, with_.contents, node_);
  if (failed_) return *failed_;
  return PutAndWait(change, what, durability);
}

void CellWriter::Release() {
  {
    const auto lock = with_.tree.column_locks.Take(*node_);
    if (failed_) return;
    if (!HasAnything()) return LeaveBytes();
  }
  ColumnChange change(with_.tree, with_.contents, node_);
  if (failed_) return;
  // Nobody is left to be told.
  const Outcome put = PutAndWait(change, What::kAll, with_.options.durability);
  const Snapshot<Place> place = node_->place();
  with_.errors.Record("release", *place, put);
}

// What a file holds so far is put where it would have been within the second; one that replaces
// another, or begins, is not half there: its writer is told that it failed.
void CellWriter::Abandon() {
  {
    const auto lock = with_.tree.column_locks.Take(*node_);
    if (truncates_ || !HasBytes()) return column_->RemoveRuns(this);
  }
  Release();
}

// Where they are what was put last, and nobody has changed that.
void CellWriter::LeaveBytes() {
  if (!last_put_ || !view_ || view_->size() > LastPut::kMaxBytes) return;
  if (view_generation_ != node_->generation()) return;
  with_.tree.last_put.Keep(node_, view_generation_, *std::move(view_));
  view_.reset();
}

// The put is made under the lock, the wait for the disk comes after it: who reads the file does not
// wait for its writer's sync.
Outcome CellWriter::PutAndWait(ColumnChange& change, What what, Durability wanted) {
  const bool puts = what == What::kAll ? HasAnything() : HasBytes();
  if (!puts && wanted != Durability::kFsyncWal) return {};
  const Durability promised = with_.puts.Resolve(change.column(), wanted);
  const bool waits = promised == Durability::kFsyncWal && with_.puts.syncs_apart();
  if (puts) {
    Outcome put = PutNow(change, waits ? Durability::kSyncWal : promised);
    if (!put.ok() || !waits) return put;
  }
  change.Finish();
  const Status synced = with_.puts.Sync();
  if (synced.ok() || !puts) return synced;
  ColumnChange failed(with_.tree, with_.contents, node_);
  return Fail(failed, Status(StatusCode::kOutcomeUnknown, synced.message()));
}

Outcome CellWriter::PutNow(ColumnChange& change, Durability durability) {
  return WithMemory(change, [&] { return PutPending(change, durability); });
}

Outcome CellWriter::PutPending(ColumnChange& change, Durability durability) {
  if (OthersWereFirst()) JoinOthers();
  CELLFS_RETURN_IF_FAILED(PutTail(change, durability, this));
  if (unput_ == Unput::kNothing) return {};
  if (unput_ == Unput::kStart && holds_ == Holds::kEdits) {  // it was made to append nothing
    holds_ = Holds::kWhole;
    view_.emplace();
  }
  const Place& place = change.column();
  // Others wrote at the same time: the kernel's pages may have what came later of each.
  const bool is_merged = node_->generation() != known_generation_ || !column_->tail().empty() ||
                         (holds_ == Holds::kEdits && node_->handle_count() > 1);
  const auto stored =
      holds_ == Holds::kWhole ? PutWhole(place, durability) : PutEdited(place, edits_, durability);
  if (!stored.ok()) return Fail(change, stored.status());
  change.Ended({});
  AfterPut(change, *stored, view_->size());
  holds_ = Holds::kEdits;
  unput_ = Unput::kNothing;
  edits_.clear();
  base_size_ = view_->size();
  if (is_merged) node_->PagesAreStale();
  column_->StoredChanged();
  return {};
}

// The runs up to the last one of `through` (null: all of them), each as its own writer would.
Outcome CellWriter::PutTail(ColumnChange& change, Durability durability,
                            const CellWriter* through) {
  const AppendedTail& tail = column_->tail();
  while (through != nullptr ? tail.Has(through) : !tail.empty()) {
    const std::vector<CellWriter*> writers = tail.front().writers;
    const bool is_own = writers.size() == 1 && writers.front() == this;
    // What others appended is promised to them by their close.
    const Durability promised = is_own ? durability : with_.options.durability;
    const Outcome put = writers.front()->PutRun(change, tail.front().bytes, promised);
    if (put.ok()) continue;
    for (CellWriter* writer : writers) static_cast<void>(writer->Fail(change, put));
  }
  return failed_.value_or(Outcome());
}

Outcome CellWriter::PutRun(ColumnChange& change, const std::string& bytes, Durability durability) {
  const Place& place = change.column();
  const uint64_t before = node_->generation();
  auto size = column_->stored_size(before);
  if (size) *size += bytes.size();
  const bool is_plain = IsPlain(place);
  PendingEdits edits;
  if (!is_plain) edits.Append(bytes);
  const auto stored =
      is_plain ? PutAppended(place, bytes, durability) : PutEdited(place, edits, durability);
  if (!stored.ok()) return stored.status();
  change.Ended({});
  column_->NoteAppendPut(before, node_->generation());
  column_->PopRun();
  AfterPut(change, *stored, is_plain ? size : view_->size());
  if (unput_ == Unput::kStart) unput_ = Unput::kNothing;
  if (column_->TakeMisplaced()) node_->PagesAreStale();
  KeepViewIfRoom();
  CountAsEditor();
  return {};
}

// Whether HBase's Append does it: nothing but the bytes is to be stored.
bool CellWriter::IsPlain(const Place& place) const {
  return !IsVersion(place) && !last_put_ && !requested_time_ && time_to_live_ == kNoCellTtl &&
         !with_.tree.recent.RenamedAwayTombstone(place);
}

RowStep CellWriter::StepFor(const Place& place, std::string value, Durability durability) const {
  RowStep step{{place.row, {}, durability}, {}, {}};
  PutCell cell{place.family, place.qualifier, kLatestTimestamp, std::move(value), last_put_};
  Put put{place.row, {}, time_to_live_, Stamping::kAboveColumn};
  if (IsVersion(place)) {
    cell.timestamp = place.timestamp;
    put.stamping = Stamping::kReadable;
  } else {
    if (requested_time_ && ToMilliseconds(*requested_time_) >= 0)
      cell.timestamp = ToMilliseconds(*requested_time_);
    if (auto tombstone = with_.tree.recent.RenamedAwayTombstone(place)) {
      step.withdrawal = WithdrawTombstone(place, *tombstone);
    }
  }
  put.cells.push_back(std::move(cell));
  step.mutations.mutations.push_back(std::move(put));
  return step;
}

StatusOr<StoredPut> CellWriter::PutWhole(const Place& place, Durability durability) {
  RowStep step = StepFor(place, std::move(*view_), durability);
  // The bytes come back whatever happens: the handle may read on.
  auto take_back = [&] { view_ = TakeValue(step); };
  if (exclusive_ && !last_put_) {
    auto stored = with_.puts.PutIf(caller_, place, step, {});
    take_back();
    if (!stored.ok()) return stored.status();
    if (!*stored) return Status(StatusCode::kTableExists, "somebody else made the file first");
    return **stored;
  }
  auto stored = with_.puts.Put(caller_, place, step);
  take_back();
  return stored;
}

StatusOr<StoredPut> CellWriter::PutEdited(const Place& place, const PendingEdits& edits,
                                          Durability durability) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    CELLFS_ASSIGN_OR_RETURN(std::string present, LatestValue(place));
    std::string value = present;
    edits.ApplyTo(value);
    RowStep step = StepFor(place, std::move(value), durability);
    CELLFS_ASSIGN_OR_RETURN(std::optional<StoredPut> stored,
                            with_.puts.PutIf(caller_, place, step, std::move(present)));
    if (!stored) continue;
    view_ = TakeValue(step);
    return *stored;
  }
  return Status(StatusCode::kUnavailable, place.ToString() + " is written too often by others");
}

StatusOr<StoredPut> CellWriter::PutAppended(const Place& place, const std::string& bytes,
                                            Durability durability) {
  Append append{place.row, {{place.family, place.qualifier, bytes}}};
  append.return_results = false;
  append.stamping = Stamping::kAboveColumn;
  RowStep step{RowMutations::Of(std::move(append), durability), {}, {}};
  CELLFS_ASSIGN_OR_RETURN(const StoredPut stored, with_.puts.Put(caller_, place, step));
  view_.reset();
  return stored;
}

// What follows a put: it cannot fail, and nothing here touches the disk in the common case.
void CellWriter::AfterPut(ColumnChange& change, const StoredPut& stored,
                          std::optional<uint64_t> size) {
  const Place& place = change.column();
  known_generation_ = view_generation_ = node_->generation();
  if (size) column_->KeepStoredSize(*size, known_generation_);
  if (!IsVersion(place))
    with_.puts.Cache(place, stored, size, time_to_live_, *node_, known_generation_);
  const bool is_rewritten = last_put_ == stored.stamp;
  if (requested_time_ || is_rewritten || IsVersion(place)) RememberTime(place, stored.stamp);
  last_put_ = stored.stamp;
  requested_time_.reset();
  exclusive_ = false;
  making_ = Making::kNo;
  static_cast<void>(UpdateShare());
  if (with_.puts.Settle(place, stored.stamp)) change.DirectoryTimesChanged();
}

// The time that the program set, where the version itself does not say it.
void CellWriter::RememberTime(const Place& place, Timestamp stamp) {
  AttributeUpdate update;
  update.version = stamp;
  update.mtime = requested_time_;
  update.forget_mtime = !requested_time_ && (IsVersion(place) || time_is_remembered_);
  if (stamp != with_.tree.clock.Now()) update.ctime = Now(with_.tree);
  const bool is_remembered = with_.puts.RememberTime(place, update);
  time_is_remembered_ = requested_time_.has_value() || (time_is_remembered_ && !is_remembered);
}

}  // namespace cellfs::fs
