// SPDX-License-Identifier: MIT
//
// WritePace: how fast a table takes writes: as fast as they come, until memory is nearly full or
// compactions do not follow. From there on ever slower, so that nobody is stopped for long where
// there is no more room; and by bytes, so that who writes little hardly waits beside who writes much
// (HBase stops at hbase.hstore.blockingStoreFiles; RocksDB's delayed_write_rate is of this kind).
#ifndef CELLFS_ENGINE_LOCAL_WRITE_PACE_H_
#define CELLFS_ENGINE_LOCAL_WRITE_PACE_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace cellfs {

// What has been taken of a table and is not done yet.
struct WriteBacklog {
  double memory = 0;  // the part of what memstores may have that is taken
  double files = 0;   // store files beyond hbase.hstore.blockingStoreFiles, in flush sizes
};

// Thread-safe.
class WritePace {
 public:
  static constexpr double kSlowFrom = 0.75;  // of memory
  static constexpr std::chrono::milliseconds kLongestPause{80};
  // Below it nothing is slept, and left to the next writer: a timer is no more exact.
  static constexpr std::chrono::milliseconds kLeastPause{1};

  // How long who has written so many bytes is to pause.
  std::chrono::microseconds Take(uint64_t bytes, const WriteBacklog& backlog);

 private:
  std::atomic<int64_t> owed_{0};  // microseconds
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_WRITE_PACE_H_
