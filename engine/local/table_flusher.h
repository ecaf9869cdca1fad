// SPDX-License-Identifier: MIT
//
// TableFlusher: the flushes of one table, one at a time, and how those who write to it wait for
// them (HBase: MemStoreFlusher).
#ifndef CELLFS_ENGINE_LOCAL_TABLE_FLUSHER_H_
#define CELLFS_ENGINE_LOCAL_TABLE_FLUSHER_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "engine/local/attempts.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"

namespace cellfs {

// Deletes make room where a disk is full, and small writes are to pass by large ones: these have
// more of the memory than others.
enum class WriteKind { kLarge, kSmall, kDeletes };

// Thread-safe. Its mutex comes before the compactor's and those of VersionSet.
class TableFlusher {
 public:
  // Both outlive it.
  TableFlusher(TableServices& services, VersionSet& versions)
      : services_(services), versions_(versions) {}
  TableFlusher(const TableFlusher&) = delete;
  TableFlusher& operator=(const TableFlusher&) = delete;

  // What has been written so far. What a failed flush has left comes first, for it is older.
  Status Flush();

  // Who changes the table as a whole: no flush comes between.
  using Held = std::unique_lock<std::mutex>;
  Held HoldOff() { return Held(mutex_); }
  Status Flush(const Held& held);
  // Nothing is left to be flushed: an error that was is over.
  void Settle() { Ended({}); }

  // Whether the background is to flush it, and whether it may now: it pauses after an error.
  bool WantsFlush() const;
  bool MayFlush() const { return attempts_.MayTry(services_.options.clock->Elapsed()); }
  const Attempts& attempts() const { return attempts_; }
  uint64_t flushes() const { return flushes_; }

  // How much of what memstores may have is taken, of this table's or of all. From 1 on there is no
  // room for a write.
  double Fullness(WriteKind kind) const;
  // Where there is none, waits for flushes that make some. An error: those of this table fail, and
  // memory would grow until the process ends. While the background does not flush (it is off, or
  // paused), the writer does.
  Status WaitForRoom(WriteKind kind);
  // Whether the background makes room.
  bool CanWait() const;
  bool MustWait(WriteKind kind) const { return Fullness(kind) >= 1 && CanWait(); }
  Status CheckTakesPuts() const { return CheckFlushes(Fullness(WriteKind::kLarge)); }

 private:
  Status FlushFrozen(const TableVersionPtr& version);
  Status RunJob(const TableVersionPtr& version);
  void Ended(const Status& status);
  Status CheckFlushes(double fullness) const;
  bool IsWorthFlushing() const;

  TableServices& services_;
  VersionSet& versions_;
  std::mutex mutex_;                 // one flush at a time
  std::atomic<bool> failed_{false};  // the last one; written under the store's room_mutex
  uint64_t stuck_bytes_ = 0;         // its part of the store's; guarded by room_mutex
  Attempts attempts_;
  std::atomic<uint64_t> flushes_{0};
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_FLUSHER_H_
