// SPDX-License-Identifier: MIT
#include "fs/cell_writer.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "fs/after_change.h"
#include "fs/column_traces.h"
#include "fs/reading.h"

namespace cellfs::fs {

namespace {

// Somebody else was faster each time; then HBase would have let us wait as well.
constexpr int kMaxAttempts = 1000;

timespec Now(const MountContext& mount) { return ToTimespec(mount.clock->Now()); }

// The value of a column at its place: the latest, or that of one timestamp.
TimeRange RangeOf(const Place& place) {
  return place.kind == PlaceKind::kCell ? TimeRange() : AtTimestamp(place.timestamp);
}

// The bytes of the put that the step began with.
std::string TakeValue(RowStep& step) {
  return std::move(std::get<Put>(step.mutations.mutations.front()).cells.front().value);
}

}  // namespace

CellWriter::CellWriter(MountContext& mount, const Caller& caller, NodePtr node,
                       const OpenMode& mode)
    : mount_(mount),
      caller_(caller),
      node_(std::move(node)),
      append_(mode.append),
      truncates_(mode.truncate),
      claimed_(mode.created),
      exclusive_(mode.exclusive && mode.created),
      whole_(mode.truncate || mode.created),
      start_unput_(mode.truncate || mode.created) {
  if (whole_) view_.emplace();
  written_ = Now(mount_);
  known_generation_ = node_->generation();
}

// What is held here goes to the file without a name, if it is one by now, and so does what comes.
Outcome CellWriter::GoNameless() {
  if (is_nameless_ || !node_->unlinked()) return {};
  is_nameless_ = true;
  // Who did not have it open when the name went has it for himself.
  if (nameless_.file() == nullptr)
    nameless_.Keep(std::make_shared<NamelessFile>(std::string(), Now(mount_)), Outcome());
  if (claimed_ && !truncated_) JoinOthers();
  Outcome gone;
  if (whole_) gone = ChangeNameless([&](std::string& bytes) { bytes = *view_; });
  if (!edits_.empty()) gone = ChangeNameless([&](std::string& bytes) { edits_.ApplyTo(bytes); });
  claimed_ = whole_ = bytes_unput_ = start_unput_ = false;
  view_.reset();
  edits_.clear();
  return gone;
}

Outcome CellWriter::ChangeNameless(const std::function<void(std::string&)>& change) {
  return nameless_.file()->Change(change, Now(mount_));
}

void CellWriter::Renamed(Timestamp version) {
  std::lock_guard lock(mutex_);
  last_put_ = version;
}

// ---- What the program does --------------------------------------------------------------------

uint64_t CellWriter::Size() const {
  if (view_ && whole_) return view_->size();
  const auto file = node_->unlinked() ? nameless_.file() : nullptr;
  return edits_.SizeAfter(file == nullptr ? base_size_ : file->shown().size);
}

// Nothing that was written here is put any more, for it might be put twice. `lock` is the column's,
// where it is held.
Outcome CellWriter::Fail(Outcome outcome, ColumnLocks::Lock lock) {
  failed_ = outcome;
  bytes_unput_ = start_unput_ = false;
  edits_.clear();
  node_->PagesAreStale();
  const std::shared_ptr<const Place> place = node_->place();
  const bool is_withdrawn = std::exchange(claimed_, false);
  if (is_withdrawn) mount_.unstored.Remove(*place);
  if (outcome.is_unknown()) ForgetColumn(mount_, *place);
  lock.unlock();
  if (is_withdrawn || outcome.is_unknown()) mount_.kernel.Doubtful(*place);
  return outcome;
}

// Where memory runs out, what was written is not put, not even in part.
template <typename Act>
Outcome CellWriter::WithMemory(Act&& act) {
  try {
    return act();
  } catch (const std::exception&) {  // also for the thread that puts later
    return Fail({ENOMEM, "no memory"});
  }
}

void CellWriter::Wrote() {
  bytes_unput_ = true;
  written_ = Now(mount_);
  wish_.reset();
  if (!truncates_) PutLater();
}

// A program that writes on without closing is put for within a second of its first write.
void CellWriter::PutLater() {
  if (put_is_due_) return;
  put_is_due_ = true;
  mount_.delayed.Add([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self) return;
    std::lock_guard lock(self->mutex_);
    self->put_is_due_ = false;
    if (self->HasBytes()) static_cast<void>(self->PutNow(self->mount_.options.durability));
  });
}

Outcome CellWriter::Write(std::string_view bytes, uint64_t offset, WriteFrom from) {
  std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  if (bytes.empty()) return {};
  const bool appends = append_ && from == WriteFrom::kProgram;
  return WithMemory([&] { return Edit(bytes, offset, appends); });
}

Outcome CellWriter::Edit(std::string_view bytes, uint64_t offset, bool appends) {
  CELLFS_RETURN_IF_FAILED(GoNameless());
  if (OthersWereFirst()) JoinOthers();
  if (!is_nameless_ && !whole_ && edits_.empty()) {
    const auto named = mount_.column_locks.Take(*node_);
    CELLFS_ASSIGN_OR_RETURN(const auto cell,
                            ReadColumn(mount_, caller_, *named.place, ReadDetail::kLengths));
    base_size_ = cell ? cell->value_length : 0;
  }
  if (appends && offset != Size()) misplaced_ = true;
  uint64_t end = (appends ? Size() : offset) + bytes.size();
  if (end > mount_.options.max_value_size) {
    return Fail({EFBIG, "a value may have " + std::to_string(mount_.options.max_value_size) +
                            " bytes; this write ends at " + std::to_string(end)});
  }
  if (is_nameless_) {
    return ChangeNameless(
        [&](std::string& file) { WriteInto(file, bytes, appends ? file.size() : offset); });
  }
  if (view_) WriteInto(*view_, bytes, appends ? view_->size() : offset);
  if (!whole_ && appends) edits_.Append(bytes);
  if (!whole_ && !appends) edits_.Write(bytes, offset);
  Wrote();
  return edits_.is_scattered() ? PutNow(mount_.options.durability) : Outcome();
}

Outcome CellWriter::Truncate(uint64_t size) {
  std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  return WithMemory([&] { return EditLength(size); });
}

Outcome CellWriter::EditLength(uint64_t size) {
  CELLFS_RETURN_IF_FAILED(GoNameless());
  if (size > mount_.options.max_value_size) return {EFBIG, "a file cannot be made that long"};
  if (is_nameless_) return ChangeNameless([&](std::string& file) { file.resize(size); });
  if (OthersWereFirst()) JoinOthers();
  if (size == 0 && !whole_) {
    whole_ = true;
    view_.emplace();
    edits_.clear();
  }
  if (view_) view_->resize(size);
  if (!whole_) edits_.Truncate(size);
  truncated_ = true;
  Wrote();
  return {};
}

std::optional<Outcome> CellWriter::SetTime(timespec mtime) {
  std::lock_guard lock(mutex_);
  if (!HasAnything() || failed_) return std::nullopt;
  wish_ = mtime;
  return Outcome();
}

void CellWriter::SetTimeToLive(int64_t milliseconds) {
  std::lock_guard lock(mutex_);
  time_to_live_ = milliseconds;
}

std::optional<PendingWrite> CellWriter::pending() const {
  std::lock_guard lock(mutex_);
  if (is_nameless_) return nameless_.file()->shown();
  if (!HasAnything() && !node_->unlinked()) return std::nullopt;
  if (!bytes_unput_ && OthersWereFirst()) return std::nullopt;
  return PendingWrite{Size(), wish_, written_};
}

// ---- Reading through the handle ---------------------------------------------------------------

StatusOr<std::string> CellWriter::LatestValue(const Place& place) {
  Get get = GetOf(place, ReadDetail::kValues);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, mount_.store.Read(caller_, place.table, get));
  return cells.empty() ? std::string() : std::move(cells.front().value);
}

Outcome CellWriter::LoadView() {
  if (OthersWereFirst()) JoinOthers();
  if (whole_) return {};
  if (view_ && view_generation_ == node_->generation()) return {};
  const auto named = mount_.column_locks.Take(*node_);
  if (node_->unlinked()) return {};
  view_generation_ = node_->generation();
  auto value = LatestValue(*named.place);
  if (!value.ok()) return value.status();
  view_ = *std::move(value);
  base_size_ = view_->size();
  edits_.ApplyTo(*view_);
  return {};
}

OutcomeOr<SharedBytes> CellWriter::Read(uint64_t offset, size_t size) {
  std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_FAILED(LoadView());
  CELLFS_RETURN_IF_FAILED(GoNameless());
  if (is_nameless_) return nameless_.Read(offset, size);
  if (!view_ || offset >= view_->size()) return SharedBytes();
  auto bytes = std::make_shared<const std::string>(view_->substr(offset, size));
  return SharedBytes::Slice(std::move(bytes), 0, size);
}

void CellWriter::NameWent() {
  std::lock_guard lock(mutex_);
  static_cast<void>(WithMemory([&] { return GoNameless(); }));
}

void CellWriter::BeforeNameGoes(const std::shared_ptr<NamelessFile>& file) {
  nameless_.Keep(file, CheckMayRead(mount_, caller_, *node_->place()));
}

// ---- Putting ----------------------------------------------------------------------------------

Outcome CellWriter::Flush() {
  std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  return HasBytes() ? PutNow(mount_.options.durability) : Outcome();
}

Outcome CellWriter::PutAll() {
  std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  return HasAnything() ? PutNow(mount_.options.durability) : Outcome();
}

Outcome CellWriter::Sync() {
  std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  if (HasAnything()) return PutNow(Durability::kFsyncWal);
  return mount_.store.Sync();
}

void CellWriter::Release() {
  std::lock_guard lock(mutex_);
  if (failed_) return;
  if (!HasAnything()) return LeaveBytes();
  Outcome outcome = PutNow(mount_.options.durability);
  // Nobody is left to be told.
  if (!outcome.ok()) {
    mount_.errors.Record(mount_.clock->Now(), "release", *node_->place(), outcome);
  }
}

// Where they are what was put last, and nobody has changed that.
void CellWriter::LeaveBytes() {
  if (!last_put_ || !view_ || view_->size() > LastPut::kMaxBytes) return;
  if (view_generation_ != node_->generation()) return;
  mount_.last_put.Keep(node_, view_generation_, *std::move(view_));
  view_.reset();
}

// What a file holds so far is put where it would have been within the second; one that replaces
// another, or begins, is not half there: its writer is told that it failed.
void CellWriter::Abandon() {
  {
    std::lock_guard lock(mutex_);
    if (truncates_ || !HasBytes()) return;
  }
  Release();
}

// Whether another handle put first to the file that this one made: it took the claim away.
bool CellWriter::OthersWereFirst() const {
  if (!claimed_ || truncated_ || (truncates_ && bytes_unput_)) return false;
  return node_->generation() != known_generation_ && !mount_.unstored.Find(*node_->place());
}

// Making is not truncating: what was written here goes over what the others put.
void CellWriter::JoinOthers() {
  claimed_ = exclusive_ = whole_ = start_unput_ = false;
  if (append_ && !view_->empty()) edits_.Append(*view_);
  if (!append_ && !view_->empty()) edits_.Write(*view_, 0);
  view_.reset();
}

Outcome CellWriter::PutNow(Durability durability) {
  if (failed_) return *failed_;
  return WithMemory([&] { return PutPending(durability); });
}

Outcome CellWriter::PutPending(Durability durability) {
  auto [place, lock] = mount_.column_locks.Take(*node_);
  if (node_->unlinked()) return GoNameless();
  if (OthersWereFirst()) {
    JoinOthers();
    if (!HasAnything()) return {};
  }
  const auto stored = whole_ ? PutWhole(*place, durability) : PutEdited(*place, durability);
  if (!stored.ok()) return Fail(stored.status(), std::move(lock));
  const bool others_changed_it = node_->generation() != known_generation_;
  TellNode(*place, *stored);  // first: who finds no claim any more must see that something was put
  HasPut(*place, stored->stamp, others_changed_it);
  lock.unlock();  // the kernel may have to finish another request before it lets pages go
  mount_.kernel.ColumnChanged(*place, node_.get());
  return {};
}

// REQUIRES: the column's lock.
void CellWriter::TellNode(const Place& place, const Stored& stored) {
  node_->ContentChanged();
  view_generation_ = known_generation_ = node_->generation();
  if (IsVersion(place)) return;
  if (!mount_.freshness.is_exact()) {
    node_->SeeVersion(stored.stamp);
    return;
  }
  if (!view_) return;
  const auto schema = mount_.store.DescribeTable(place.table);
  if (!schema.ok()) return;
  Cell cell;
  cell.timestamp = stored.stamp;
  cell.value_length = view_->size();
  cell.time_to_live = time_to_live_;
  KnownCell known = KnownOf(cell, (*schema)->FindFamily(place.family));
  known.alone = stored.alone;
  node_->Know(known, known_generation_);
}

RowStep CellWriter::StepFor(const Place& place, std::string value, Durability durability) const {
  RowStep step{{place.row, {}, durability}, {}, {}};
  PutCell cell{place.family, place.qualifier, kLatestTimestamp, std::move(value), last_put_};
  Put put{place.row, {}, time_to_live_, Stamping::kAboveColumn};
  if (IsVersion(place)) {
    cell.timestamp = place.timestamp;
    put.stamping = Stamping::kReadable;
  } else {
    if (wish_ && ToMilliseconds(*wish_) >= 0) cell.timestamp = ToMilliseconds(*wish_);
    if (auto tombstone = mount_.recent.RenamedAwayTombstone(place)) {
      step.withdrawal = WithdrawTombstone(place, *tombstone);
    }
  }
  put.cells.push_back(std::move(cell));
  step.mutations.mutations.push_back(std::move(put));
  return step;
}

// Does the step where the value is `present` (empty: also where there is none). Nullopt: it is
// another.
StatusOr<std::optional<CellWriter::Stored>> CellWriter::PutIf(const Place& place, RowStep& step,
                                                              std::string present) {
  IfValueIs value{place.family, place.qualifier, std::move(present), RangeOf(place)};
  CELLFS_ASSIGN_OR_RETURN(const auto done,
                          mount_.mutations.DoIf(caller_, place.table, std::move(value), step));
  if (!done) return std::optional<Stored>();
  return std::optional(Stored(done->result));
}

StatusOr<CellWriter::Stored> CellWriter::PutWhole(const Place& place, Durability durability) {
  RowStep step = StepFor(place, std::move(*view_), durability);
  // The bytes come back whatever happens: the handle may read on.
  auto take_back = [&] { view_ = TakeValue(step); };
  if (exclusive_ && !last_put_) {
    auto stored = PutIf(place, step, {});
    take_back();
    if (!stored.ok()) return stored.status();
    if (!*stored) return Status(StatusCode::kTableExists, "somebody else made the file first");
    return **stored;
  }
  auto done = mount_.mutations.Do(caller_, place.table, step);
  take_back();
  if (!done.ok()) return done.status();
  return Stored(done->result);
}

StatusOr<CellWriter::Stored> CellWriter::PutEdited(const Place& place, Durability durability) {
  const std::string* appended = edits_.OnlyAppended();
  bool plain = !IsVersion(place) && !last_put_ && !wish_ && time_to_live_ == kNoCellTtl &&
               !mount_.recent.RenamedAwayTombstone(place);
  if (appended != nullptr && plain) return PutAppended(place, *appended, durability);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    CELLFS_ASSIGN_OR_RETURN(std::string present, LatestValue(place));
    std::string value = present;
    edits_.ApplyTo(value);
    RowStep step = StepFor(place, std::move(value), durability);
    CELLFS_ASSIGN_OR_RETURN(std::optional<Stored> stored, PutIf(place, step, std::move(present)));
    if (!stored) continue;
    view_ = TakeValue(step);
    return *stored;
  }
  return Status(StatusCode::kUnavailable, place.ToString() + " is written too often by others");
}

StatusOr<CellWriter::Stored> CellWriter::PutAppended(const Place& place, const std::string& bytes,
                                                     Durability durability) {
  Append append{place.row, {{place.family, place.qualifier, bytes}}};
  append.return_results = false;
  append.stamping = Stamping::kAboveColumn;
  RowStep step{RowMutations::Of(std::move(append), durability), {}, {}};
  CELLFS_ASSIGN_OR_RETURN(const auto done, mount_.mutations.Do(caller_, place.table, step));
  view_.reset();
  return Stored(done.result);
}

// A row or family that mkdir made holds a cell now, which tells its time as well.
void CellWriter::SettleDirectories(const Place& place, Timestamp stamp) {
  const Place row = RowPlace(place.table, place.row);
  mount_.directory_times.Settle(place.Parent(), stamp);
  if (!mount_.unstored.Find(row)) {
    mount_.unstored.Remove(place.Parent());
    return;
  }
  mount_.directory_times.Settle(row, stamp);
  const auto settled = mount_.recent.NoteFilled(row);
  if (!settled) return;
  for (const UnstoredPtr& family : mount_.unstored.ChildrenAfter(*settled, {}, SIZE_MAX)) {
    mount_.unstored.Remove(family->place);
  }
  mount_.unstored.Remove(*settled);
}

// The time that the program set, where the version itself does not say it.
void CellWriter::RememberTime(const Place& place, Timestamp stamp) {
  AttributeUpdate update;
  update.version = stamp;
  update.mtime = wish_;
  update.forget_mtime = !wish_ && (IsVersion(place) || wish_was_kept_);
  if (stamp != mount_.clock->Now()) update.ctime = Now(mount_);
  const Status remembered = mount_.attributes.Update(place, update);
  NoteAfterwards(mount_, "close", place, remembered);
  wish_was_kept_ = wish_.has_value() || (wish_was_kept_ && !remembered.ok());
}

// What follows a put: it cannot fail, and nothing here touches the disk in the common case.
void CellWriter::HasPut(const Place& place, Timestamp stamp, bool others_changed_it) {
  const bool rewritten = last_put_ == stamp;
  // Others wrote at the same time: the kernel's pages may have what came later of each.
  const bool merged = (!whole_ && node_->handles().size() > 1) || misplaced_ || others_changed_it;
  if (wish_ || rewritten || IsVersion(place)) RememberTime(place, stamp);
  base_size_ = view_ ? view_->size() : edits_.SizeAfter(base_size_);
  last_put_ = stamp;
  whole_ = bytes_unput_ = start_unput_ = exclusive_ = false;
  edits_.clear();
  wish_.reset();
  claimed_ = false;
  const bool made_it = mount_.unstored.Remove(place);  // also where another handle claimed it
  if (made_it) SettleDirectories(place, stamp);
  if (!IsVersion(place)) {
    if (made_it || mount_.recent.RenamedAwayTombstone(place)) mount_.recent.Forget(place);
    if (made_it) mount_.recent.NoteCreated(place, stamp);
  }
  if (merged) node_->PagesAreStale();
  misplaced_ = false;
}

}  // namespace cellfs::fs
