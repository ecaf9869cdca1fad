// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_REMOTE_PATIENCE_H_
#define CELLFS_ENGINE_REMOTE_PATIENCE_H_

#include <algorithm>
#include <atomic>
#include <chrono>

#include "engine/giving_up.h"

namespace cellfs {

using SteadyClock = std::chrono::steady_clock;

// Until when somebody waits, and what tells him to give up before: either of two, where there is
// one. Who waits looks at them ten times a second.
struct Patience {
  SteadyClock::time_point deadline;
  const std::atomic<bool>* cancelled = nullptr;
  const GivingUp* asker = nullptr;

  // Of a call that this thread makes.
  static Patience For(SteadyClock::duration time, const std::atomic<bool>* cancelled = nullptr) {
    return {SteadyClock::now() + time, cancelled, GivingUp::OfThisThread()};
  }
  bool IsCancelled() const {
    return (cancelled != nullptr && *cancelled) || (asker != nullptr && asker->HasGivenUp());
  }
  bool IsOver() const { return IsCancelled() || SteadyClock::now() >= deadline; }
  // When to look again at the latest.
  SteadyClock::time_point NextLook() const {
    if (cancelled == nullptr && asker == nullptr) return deadline;
    return std::min(deadline, SteadyClock::now() + std::chrono::milliseconds(100));
  }
  // Not negative.
  std::chrono::milliseconds Left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REMOTE_PATIENCE_H_
