// SPDX-License-Identifier: MIT
//
// The flush of a table, and how writers wait for one.
#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "engine/local/dropped_columns.h"
#include "engine/local/local_storage.h"
#include "engine/local/rewrite.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

// Flush sizes that a table's memstores may reach before writers wait or are refused.
constexpr double kRoomFactor = 4;
// What deletes may have beyond that: they make room where a disk is full.
constexpr double kExtraOfDeletes = 1.25;
// Writers are slowed from so much on, the more the fuller it is, so that nobody waits for long.
constexpr double kSlowFrom = 0.75;
constexpr std::chrono::microseconds kLongestDelay{20000};

uint64_t UnflushedBytes(const TableState& state) {
  return state.active->memstore().bytes() +
         (state.frozen == nullptr ? 0 : state.frozen->memstore().bytes());
}

}  // namespace

bool LocalStorage::WantsFlush() const {
  const TableStatePtr state = State();
  return !dropped_ &&
         (state->frozen != nullptr ||
          static_cast<int64_t>(state->active->memstore().bytes()) >= FlushSizeOf(*state));
}

bool LocalStorage::HasUnflushed() const {
  const TableStatePtr state = State();
  return state->frozen != nullptr || state->active->memstore().cells() > 0;
}

uint64_t LocalStorage::memstore_bytes() const {
  const Snapshot<TableState> state = State();
  return UnflushedBytes(*state);
}

double LocalStorage::Fullness(bool only_deletes) const {
  const TableStatePtr state = State();
  const auto own = static_cast<double>(UnflushedBytes(*state));
  const double of_table = own / (static_cast<double>(FlushSizeOf(*state)) * kRoomFactor);
  const double of_all = static_cast<double>(context_->memory->bytes()) /
                        static_cast<double>(context_->options.memstore_limit);
  return std::max(of_table, of_all) / (only_deletes ? kExtraOfDeletes : 1);
}

// Writers wait for flushes that are making room. Where these fail they are refused, or memory would
// grow until the process ends. While nobody flushes they go on.
Status LocalStorage::WaitForRoom(bool only_deletes) {
  double fullness = Fullness(only_deletes);
  if (fullness < kSlowFrom) return {};
  const auto can_wait = [&] {
    return context_->maintained && context_->failing_tables == 0 && !dropped_;
  };
  if (fullness < 1) {
    if (can_wait()) {
      const Waiting waiting(Wait::kMayBeShort);
      std::this_thread::sleep_for(kLongestDelay * (fullness - kSlowFrom) / (1 - kSlowFrom));
    }
    return {};
  }
  for (; fullness >= 1 && can_wait(); fullness = Fullness(only_deletes)) {
    context_->wake_maintenance();
    const Waiting waiting(Wait::kIsLong);
    std::unique_lock lock(context_->room_mutex);
    context_->room_made.wait_for(lock, std::chrono::milliseconds(100));
  }
  return CheckFlushes(fullness);
}

Status LocalStorage::CheckTakesPuts() const { return CheckFlushes(Fullness(false)); }

Status LocalStorage::CheckFlushes(double fullness) const {
  if (fullness < 1 || context_->failing_tables == 0 || dropped_) return {};
  const std::lock_guard lock(context_->room_mutex);
  return {context_->flush_error.code(),
          "no memory is left for writes until the store can be flushed: " +
              context_->flush_error.message()};
}

int64_t LocalStorage::FlushSizeOf(const TableState& state) const {
  return state.schema->memstore_flush_size().value_or(context_->options.site.memstore_flush_size);
}

Rewrite LocalStorage::RewriteNow(RewriteKind kind) const {
  return {.kind = kind,
          .now = context_->options.clock->Now(),
          .time_to_purge_deletes = context_->options.site.time_to_purge_deletes};
}

Status LocalStorage::Flush() {
  CELLFS_RETURN_IF_ERROR(context_->CheckMayChange());
  const std::lock_guard flush_lock(flush_mutex_);
  return FlushLocked();
}

namespace {

class UnderWay {
 public:
  explicit UnderWay(std::atomic<int>& count) : count_(count) { ++count_; }
  ~UnderWay() { --count_; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

// What a failed flush has left comes first, for its cells are older.
Status LocalStorage::FlushLocked() {
  for (;;) {
    if (dropped_) return Status();
    TableStatePtr state = State();
    if (state->frozen == nullptr) {
      Freeze();
      state = State();
    }
    if (state->frozen == nullptr) return Status();
    const bool again = flush_failed_;
    Status status;
    try {
      const UnderWay under_way(context_->flushes_under_way);
      const uint64_t bytes = state->frozen->file_bytes() + kBytesOfNames;
      const auto flush = [&] {
        context_->reserve.MakeRoom(bytes);
        return context_->reserve.Spend(bytes, [&] { return FlushFrozen(state); });
      };
      status = flush();
      // Readers may have the descriptors, and not need them.
      if (status.code() == StatusCode::kIoError && context_->cache.readers.CloseIdle())
        status = flush();
    } catch (const std::bad_alloc&) {
      FlushEnded({StatusCode::kIoError, "out of memory"});
      throw;
    }
    // What is in force has freed its memory.
    FlushEnded(IsInForce(status) ? Status() : status);
    CELLFS_RETURN_IF_ERROR(status);
    if (!again) return Status();
  }
}

void LocalStorage::FlushEnded(const Status& status) {
  flush_attempts_.Ended(status, context_->options.clock->Elapsed());
  {
    const std::lock_guard lock(context_->room_mutex);
    if (flush_failed_ != !status.ok()) context_->failing_tables += status.ok() ? -1 : 1;
    flush_failed_ = !status.ok();
    if (!status.ok())
      context_->flush_error = {status.code(),
                               "table '" + name().ToString() + "': " + status.message()};
  }
  context_->reserve.Fill();
  context_->TellRoomMade();
}

// Nothing where the active memstore is empty.
void LocalStorage::Freeze() {
  const std::lock_guard write_lock(context_->write_mutex);  // no mutation is half in
  const TableStatePtr now = State();
  if (now->active->memstore().cells() == 0) return;
  auto next = std::make_shared<TableState>(*now);
  next->frozen = std::exchange(next->active, NewMemory(*now->schema));
  const std::lock_guard state_lock(state_mutex_);
  state_ = std::move(next);
}

// A moment that is pinned meanwhile goes on with the memstore.
Status LocalStorage::FlushFrozen(const TableStatePtr& state) {
  // Without a new segment the log only keeps more than it must; it says itself what is wrong with
  // it.
  static_cast<void>(
      context_->reserve.Spend(kBytesOfNames, [this] { return context_->wal->Roll(); }));
  const SequenceId keep_up_to = context_->moments->Newest();
  DroppedColumns dropped;
  FileChange change{.added = {},
                    .removed = {},
                    .flushed = state->frozen->memstore().highest_sequence_id(),
                    .complete_up_to = keep_up_to};
  CELLFS_ASSIGN_OR_RETURN(change.added, WriteFiles(state, keep_up_to, dropped));
  const Status committed = Commit(change, [](TableState& next) { next.frozen = nullptr; });
  if (!IsInForce(committed)) return committed;
  TellObserver(std::move(dropped), state);
  ++flushes_;
  if (durable_) context_->wal->Flushed(id(), flushed());
  return committed;
}

StatusOr<std::vector<FileFacts>> LocalStorage::WriteFiles(const TableStatePtr& state,
                                                          SequenceId keep_up_to,
                                                          DroppedColumns& dropped) {
  std::vector<FileFacts> written;
  for (const auto& [name, family] : state->schema->families) {
    if (state->frozen->memstore().CellsOfFamily(name) == 0) continue;
    StatusOr<std::optional<FileFacts>> facts = WriteFamily(state, family, keep_up_to, dropped);
    if (!facts.ok()) {
      Discard(written);
      return facts.status();
    }
    if (facts->has_value()) written.push_back(**std::move(facts));
  }
  return written;
}

StatusOr<std::optional<FileFacts>> LocalStorage::WriteFamily(const TableStatePtr& state,
                                                             const FamilySchema& family,
                                                             SequenceId keep_up_to,
                                                             DroppedColumns& dropped) {
  const Memstore& memstore = state->frozen->memstore();
  Rewrite rules = RewriteNow(RewriteKind::kMinor);
  rules.keep_up_to = keep_up_to;
  CELLFS_ASSIGN_OR_RETURN(
      std::unique_ptr<StoreFileBuilder> builder,
      StoreFileBuilder::Begin(
          context_->files, folder_, family,
          {.number = next_file_++,
           .inline_value_limit = context_->options.inline_value_limit,
           .cells_at_most = static_cast<int64_t>(memstore.CellsOfFamily(family.name())),
           .written = rules.now}));
  RewriteInput input;
  input.cells.push_back(OpenMemstoreCursor(
      std::shared_ptr<const Memstore>(state->frozen, &memstore), family.name(), kMaxSequenceId));
  input.is_withdrawn_in_memory = [&](const CellView& cell) {
    return state->active->MayWithdraw(family.name(), cell);
  };
  input.older_may_hold = [&](const CellView& withdrawal) {
    const StoreFiles& files = state->files->Of(family.name());
    return std::any_of(files.begin(), files.end(),
                       [&](const auto& file) { return MayHoldPlaceOf(file->facts(), withdrawal); });
  };
  input.stopped = [this] { return dropped_.load(); };
  CELLFS_RETURN_IF_ERROR(RewriteFamily(std::move(input), family, rules, Into(*builder), dropped));
  return builder->Finish(flushed() + 1, memstore.highest_sequence_id());
}

}  // namespace cellfs
