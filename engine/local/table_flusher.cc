// SPDX-License-Identifier: MIT
#include "engine/local/table_flusher.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "engine/local/compaction_picker.h"
#include "engine/local/flush_job.h"
#include "engine/local/rewrite_notice.h"
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

// ---- Flushes ------------------------------------------------------------------------------------

Status TableFlusher::Flush() { return Flush(HoldOff()); }

Status TableFlusher::Flush(const Held& /*held*/) {
  for (;;) {
    if (versions_.is_dropped()) return Status();
    TableVersionPtr version = versions_.Current();
    if (version->frozen == nullptr) {
      versions_.Freeze();
      version = versions_.Current();
    }
    if (version->frozen == nullptr) return Status();
    const bool again = failed_;
    CELLFS_RETURN_IF_ERROR(FlushFrozen(version));
    if (!again) return Status();
  }
}

Status TableFlusher::FlushFrozen(const TableVersionPtr& version) {
  Status status;
  try {
    const UnderWay under_way(context_.flushes_under_way);
    const uint64_t bytes = version->frozen->file_bytes() + kBytesOfNames;
    const auto flush = [&] {
      context_.reserve.MakeRoom(bytes);
      return context_.reserve.Spend(bytes, [&] { return RunJob(version); });
    };
    status = flush();
    // Readers may have the descriptors, and not need them.
    if (status.code() == StatusCode::kIoError && context_.cache.readers.CloseIdle())
      status = flush();
  } catch (const std::bad_alloc&) {
    Ended({StatusCode::kIoError, "out of memory"});
    throw;
  }
  // What is in force has freed its memory.
  Ended(IsInForce(status) ? Status() : status);
  return status;
}

Status TableFlusher::RunJob(const TableVersionPtr& version) {
  // Without a new segment the log only keeps more than it must; it says itself what is wrong with
  // it.
  static_cast<void>(
      context_.reserve.Spend(kBytesOfNames, [this] { return context_.wal->Roll(); }));
  FlushJob job(context_, versions_, version);
  CELLFS_ASSIGN_OR_RETURN(const VersionEdit edit, job.Run());
  const Status applied = versions_.Apply(edit);
  if (!IsInForce(applied)) return applied;
  TellOfRewrite(context_, job.TakeDropped(), version);
  ++flushes_;
  return applied;
}

void TableFlusher::Ended(const Status& status) {
  attempts_.Ended(status, context_.options.clock->Elapsed());
  {
    const std::lock_guard lock(context_.room_mutex);
    if (failed_ != !status.ok()) context_.failing_tables += status.ok() ? -1 : 1;
    failed_ = !status.ok();
    if (!status.ok()) {
      context_.flush_error = {status.code(), "table '" + versions_.Schema()->name().ToString() +
                                                 "': " + status.message()};
    }
  }
  context_.reserve.Fill();
  context_.TellRoomMade();
}

bool TableFlusher::WantsFlush() const {
  if (versions_.is_dropped()) return false;
  const TableVersionPtr version = versions_.Current();
  return version->frozen != nullptr ||
         static_cast<int64_t>(version->active->memstore().bytes()) >=
             FlushSizeOf(*version->schema, context_.options.site);
}

// ---- Writers ------------------------------------------------------------------------------------

// How much of what memstores may have is taken, of this table's or of all: 1 is all.
double TableFlusher::Fullness(bool only_deletes) const {
  const TableVersionPtr version = versions_.Current();
  const auto flush_size =
      static_cast<double>(FlushSizeOf(*version->schema, context_.options.site));
  const double of_table =
      static_cast<double>(version->UnflushedBytes()) / (flush_size * kRoomFactor);
  const double of_all = static_cast<double>(context_.memory->bytes()) /
                        static_cast<double>(context_.options.memstore_limit);
  return std::max(of_table, of_all) / (only_deletes ? kExtraOfDeletes : 1);
}

bool TableFlusher::CanWait() const {
  return context_.maintained && context_.failing_tables == 0 && !versions_.is_dropped();
}

Status TableFlusher::WaitForRoom(bool only_deletes) {
  double fullness = Fullness(only_deletes);
  if (fullness < kSlowFrom) return {};
  if (fullness < 1) {
    if (CanWait()) {
      const Waiting waiting(Wait::kMayBeShort);
      std::this_thread::sleep_for(kLongestDelay * (fullness - kSlowFrom) / (1 - kSlowFrom));
    }
    return {};
  }
  for (; fullness >= 1 && CanWait(); fullness = Fullness(only_deletes)) {
    context_.wake_maintenance();
    const Waiting waiting(Wait::kIsLong);
    std::unique_lock lock(context_.room_mutex);
    context_.room_made.wait_for(lock, std::chrono::milliseconds(100));
  }
  return CheckFlushes(fullness);
}

Status TableFlusher::CheckFlushes(double fullness) const {
  if (fullness < 1 || context_.failing_tables == 0 || versions_.is_dropped()) return {};
  const std::lock_guard lock(context_.room_mutex);
  return {context_.flush_error.code(),
          "no memory is left for writes until the store can be flushed: " +
              context_.flush_error.message()};
}

}  // namespace cellfs
