// SPDX-License-Identifier: MIT
//
// How far the clock of this machine and those of a cluster's servers are apart. Nothing in HBase's
// protocol tells the time; but the master knows when each server has reported last, by that
// server's clock, and they report every three seconds. Thread-safe.
#ifndef CELLFS_ENGINE_HBASE_SERVER_CLOCK_H_
#define CELLFS_ENGINE_HBASE_SERVER_CLOCK_H_

#include <chrono>
#include <mutex>
#include <optional>

#include "engine/hbase/master.h"

namespace cellfs::hbase {

class ServerClock {
 public:
  explicit ServerClock(Master& master) : master_(master) {}

  // How far apart they are at least; positive where this machine's is ahead. Asked for every ten
  // minutes, and every five seconds while it is more than `much`. Where no master says it within a
  // second what was measured before counts, or else: why; none is asked again for a minute then.
  StatusOr<std::chrono::milliseconds> Difference(std::chrono::milliseconds much);

 private:
  StatusOr<std::chrono::milliseconds> Measure();

  Master& master_;
  std::mutex mutex_;  // one measures, the others wait for it
  std::optional<StatusOr<std::chrono::milliseconds>> measured_;
  SteadyClock::time_point measure_again_{};
};

// Of the newest report of a server, given when it was sought and found by this machine's clock.
std::chrono::milliseconds DifferenceAtLeast(std::chrono::milliseconds sought,
                                            std::chrono::milliseconds found,
                                            std::chrono::milliseconds newest_report);

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_SERVER_CLOCK_H_
