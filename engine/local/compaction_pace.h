// SPDX-License-Identifier: MIT
//
// CompactionPace: how fast the compactions of a store write, all together: as fast as they are let,
// and no faster than 50 MiB a second while others read what the cache does not have (HBase:
// PressureAwareCompactionThroughputController, whose lower bound that is).
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_PACE_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_PACE_H_

#include <chrono>
#include <cstdint>
#include <mutex>

namespace cellfs {

// Thread-safe.
class CompactionPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr int64_t kRateBesideReaders = int64_t{50} << 20;  // bytes a second
  static constexpr std::chrono::milliseconds kReadersStay{100};     // after their last read

  // `rate`: bytes a second; 0: any.
  explicit CompactionPace(int64_t rate) : rate_(rate) {}

  // How long who is about to write so many bytes is to pause before. `reads`: how often others have
  // read from the disk so far.
  std::chrono::nanoseconds Take(uint64_t bytes, uint64_t reads, Time now);

 private:
  int64_t RateAt(uint64_t reads, Time now);  // 0: any

  const int64_t rate_;
  std::mutex mutex_;  // a leaf; guards what follows
  uint64_t seen_reads_ = 0;
  Time readers_until_;
  Time free_from_;  // what was taken before has been written by then
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_PACE_H_
