// SPDX-License-Identifier: MIT
//
// TableServices: what the tables of one directory share (HBase: RegionServerServices): the log, the
// cache, memory, the disk's room, moments.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_SERVICES_H_
#define CELLFS_ENGINE_LOCAL_TABLE_SERVICES_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/disk/disk_reserve.h"
#include "engine/disk/file_layer.h"
#include "engine/durations.h"
#include "engine/file/store_file.h"
#include "engine/local/compaction_pace.h"
#include "engine/local/jobs_under_way.h"
#include "engine/local/leftovers.h"
#include "engine/local/moment_registry.h"
#include "engine/log/wal.h"
#include "engine/memstore/large_writes.h"
#include "engine/memstore/memory_account.h"
#include "engine/options.h"
#include "engine/rewrite_observer.h"
#include "engine/visibility/compaction_matcher.h"

namespace cellfs {

// Connections to store files that are kept open while nobody reads.
inline constexpr size_t kMostIdleReaders = 128;

struct TableServices {
  TableServices(const std::string& directory, std::shared_ptr<FileLayer> files_in,
                const StoreOptions& options_in)
      : own_files(std::move(files_in)),
        files(*own_files),
        options(options_in),
        cache(options.cache_bytes, kMostIdleReaders),
        pace(options.compaction_rate),
        leftovers(files),
        reserve(files, directory, static_cast<uint64_t>(options.disk_reserve)) {}

  const std::shared_ptr<FileLayer> own_files;
  FileLayer& files;  // these
  const StoreOptions options;
  FileCache cache;
  CompactionPace pace;
  Leftovers leftovers;
  DiskReserve reserve;
  const std::shared_ptr<MomentRegistry> moments = std::make_shared<MomentRegistry>();
  std::unique_ptr<Wal> wal;  // set once, before the first write
  Durations file_sync_times;  // of store files

  LargeWrites large_writes;
  // Held while mutations are numbered, logged and put into memstores: one order for all three.
  std::mutex write_mutex;
  std::atomic<SequenceId> read_point{
      0};  // mutations up to it are visible; written under write_mutex
  std::atomic<uint64_t> mutations{0};

  // Of the memstores of all tables, what is being flushed too.
  const std::shared_ptr<MemoryAccount> memory = std::make_shared<MemoryAccount>();
  std::atomic<uint64_t> stuck_bytes{0};  // of tables whose last flush has failed
  // Of the tables that can be flushed: what their memstores have, and what they may have; a quarter
  // of the limit at least, however much is stuck. 1: all of it is taken.
  uint64_t MemoryOfFlushable() const;
  uint64_t LimitOfFlushable() const;
  double FullnessOfMemory() const;
  JobsUnderWay jobs;
  std::atomic<bool> maintained{false};  // a background thread flushes, and is not paused
  std::function<void()> wake_maintenance = [] {};

  // kReadOnly where the store was opened so.
  Status CheckMayChange() const;

  // The rules of a rewrite that begins now.
  Rewrite RewriteNow(RewriteKind kind) const;

  // What the flush of all memstores may take of the disk.
  uint64_t BytesOfFlush() const { return memory->file_bytes() + kBytesOfNames; }
  // Claims room for a put: for its record, and for its part of a flush, so that what is
  // acknowledged can be flushed. Where the disk has no room, waits for flushes that make some: the
  // log gives back what store files have. kStoreFull: they would make none, or nobody flushes.
  // TryClaimDiskRoom does it at once; false: the disk has none.
  struct BytesOfPut {
    uint64_t in_log = 0;
    uint64_t in_files = 0;
  };
  bool TryClaimDiskRoom(const BytesOfPut& put, DiskReserve::Claim& claim);
  Status ClaimDiskRoom(const BytesOfPut& put, DiskReserve::Claim& claim);
  // Puts that wait there.
  std::atomic<int> waiting_puts{0};
  // What compactions under way have claimed: with their end room comes back, so puts wait for it.
  std::atomic<uint64_t> claimed_by_compactions{0};
  // What the disk lacked at most for those that found no room, until somebody asks.
  std::atomic<uint64_t> lacked_by_compactions{0};
  void NoteLackedByCompaction(uint64_t bytes);
  void TellRoomMade();
  // Whether puts find room on the disk as it is now. kStoreFull: why not.
  Status CheckDiskRoom();
  // What the disk lacked for the put that was refused last.
  uint64_t lacked_bytes() const { return lacked_bytes_; }
  std::atomic<int> flushes_under_way{0};
  // Somebody waits for the flush of whatever is not flushed.
  std::atomic<bool> must_flush{false};

  std::mutex room_mutex;
  std::condition_variable room_made;  // by a flush, maybe
  uint64_t times_room_was_made = 0;   // guarded by room_mutex

  std::mutex observer_mutex;            // held while it is called
  RewriteObserver* observer = nullptr;  // guarded by observer_mutex

 private:
  uint64_t Claim(const BytesOfPut& put, DiskReserve::Claim& claim);
  bool MayFlushMakeRoom(uint64_t missing) const;
  void WaitForRoom();

  std::atomic<uint64_t> refused_bytes_{0};  // that the last put needed which has found no room
  std::atomic<uint64_t> lacked_bytes_{0};   // of these
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_SERVICES_H_
