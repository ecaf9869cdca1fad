// SPDX-License-Identifier: MIT
#include "engine/local/table_flusher.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "engine/local/compaction_picker.h"
#include "engine/local/flush_job.h"
#include "engine/local/rewrite_notice.h"
#include "engine/waiting.h"

namespace cellfs {
namespace {

// Flush sizes that a table's memstores may reach before writers wait.
constexpr double kRoomFactor = 4;
// And before they are refused, where its flushes fail: what is stuck is taken from the others.
constexpr double kRoomFactorOfFailing = 2;
// What others may have of that.
constexpr double PartOf(WriteKind kind) {
  switch (kind) {
    case WriteKind::kLarge:
      return 1;
    case WriteKind::kSmall:
      return 1.1;
    case WriteKind::kDeletes:
      break;
  }
  return 1.25;
}
// One of so many parts of its flush size is the least that a writer flushes himself.
constexpr int64_t kLeastPart = 4;

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
    const UnderWay under_way(services_.flushes_under_way);
    const uint64_t bytes = version->frozen->file_bytes() + kBytesOfNames;
    const auto flush = [&] {
      services_.reserve.MakeRoom(bytes);
      return services_.reserve.Spend(bytes, [&] { return RunJob(version); });
    };
    status = flush();
    // Readers may have the descriptors, and not need them.
    if (status.code() == StatusCode::kIoError && services_.cache.readers.CloseIdle())
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
      services_.reserve.Spend(kBytesOfNames, [this] { return services_.wal->Roll(); }));
  const JobsUnderWay::Job told(services_.jobs, "flush " + versions_.Schema()->name().ToString());
  FlushJob job(services_, versions_, version);
  CELLFS_ASSIGN_OR_RETURN(const VersionEdit edit, job.Run());
  const Status applied = versions_.Apply(edit);
  if (!IsInForce(applied)) return applied;
  TellOfRewrite(services_, job.TakeDropped(), version);
  ++flushes_;
  return applied;
}

// The flush of a table that is dropped meanwhile ends early, which is no failure.
void TableFlusher::Ended(const Status& status) {
  const bool has_failed = !status.ok() && !versions_.is_dropped();
  attempts_.Ended(has_failed ? status : Status(), services_.options.clock->Elapsed());
  const TableVersionPtr version = versions_.Current();
  {
    const std::lock_guard lock(services_.room_mutex);
    failed_ = has_failed;
    services_.stuck_bytes -=
        std::exchange(stuck_bytes_, has_failed ? version->UnflushedBytes() : 0);
    services_.stuck_bytes += stuck_bytes_;
  }
  services_.reserve.Fill();
  services_.TellRoomMade();
}

bool TableFlusher::WantsFlush() const {
  if (versions_.is_dropped()) return false;
  const TableVersionPtr version = versions_.Current();
  return version->frozen != nullptr ||
         static_cast<int64_t>(version->active->memstore().bytes()) >=
             FlushSizeOf(*version->schema, services_.options.site);
}

// ---- Writers ------------------------------------------------------------------------------------

double TableFlusher::Fullness(WriteKind kind) const {
  const double factor = failed_ ? kRoomFactorOfFailing : kRoomFactor;
  const double of_table = versions_.AtCurrent([&](const TableVersion& version) {
    const int64_t flush_size = FlushSizeOf(*version.schema, services_.options.site);
    return static_cast<double>(version.UnflushedBytes()) /
           (static_cast<double>(flush_size) * factor);
  });
  return std::max(of_table, services_.FullnessOfMemory()) / PartOf(kind);
}

bool TableFlusher::CanWait() const {
  return services_.maintained && !failed_ && !versions_.is_dropped();
}

Status TableFlusher::WaitForRoom(WriteKind kind) {
  while (MustWait(kind)) {
    services_.wake_maintenance();
    const Waiting waiting(Wait::kIsLong);
    std::unique_lock lock(services_.room_mutex);
    services_.room_made.wait_for(lock, std::chrono::milliseconds(100));
  }
  const double fullness = Fullness(kind);
  if (fullness >= 1 && !services_.maintained && !failed_ && IsWorthFlushing()) return Flush();
  return CheckFlushes(fullness);
}

// While others hold the memory a table is not flushed for each write.
bool TableFlusher::IsWorthFlushing() const {
  const TableVersionPtr version = versions_.Current();
  const int64_t flush_size = FlushSizeOf(*version->schema, services_.options.site);
  return static_cast<int64_t>(version->UnflushedBytes()) >= flush_size / kLeastPart;
}

Status TableFlusher::CheckFlushes(double fullness) const {
  if (fullness < 1 || !failed_ || versions_.is_dropped()) return {};
  const Status error = attempts_.last();
  if (error.ok()) return {};  // it was flushed meanwhile
  return {error.code(), "no memory is left for writes until table '" +
                            versions_.Schema()->name().ToString() +
                            "' can be flushed: " + error.message()};
}

}  // namespace cellfs
