// SPDX-License-Identifier: MIT
#include "fs/store/present_time.h"

#include <chrono>
#include <thread>

#include "engine/waiting.h"

namespace cellfs::fs {

Timestamp AwaitPresent(const Clock& clock, const ColumnMutations& mutations) {
  using Steady = std::chrono::steady_clock;
  const Timestamp now = clock.Now();
  const Timestamp stamp = mutations.newest_stamp();
  const bool is_ahead = stamp > now && stamp <= now + ColumnMutations::kMostAhead;
  const Timestamp present = is_ahead ? stamp : now;
  const Waiting waiting(Wait::kMayBeShort);
  // A clock that is set back would have it wait for long.
  const auto until = Steady::now() + std::chrono::milliseconds(present - now + 2);
  while (clock.Now() <= present && Steady::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  return present;
}

}  // namespace cellfs::fs
