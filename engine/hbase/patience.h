// SPDX-License-Identifier: MIT
#ifndef CELLFS_ENGINE_HBASE_PATIENCE_H_
#define CELLFS_ENGINE_HBASE_PATIENCE_H_

#include <algorithm>
#include <atomic>
#include <chrono>

#include "engine/giving_up.h"

namespace cellfs::hbase {

using Clock = std::chrono::steady_clock;

// Until when somebody waits, and what tells him to give up before: either of two, where there is
// one. Who waits looks at them ten times a second.
struct Patience {
  Clock::time_point deadline;
  const std::atomic<bool>* cancelled = nullptr;
  const GivingUp* asker = nullptr;

  // Of a call that this thread makes.
  static Patience For(Clock::duration time, const std::atomic<bool>* cancelled = nullptr) {
    return {Clock::now() + time, cancelled, GivingUp::OfThisThread()};
  }
  bool IsCancelled() const {
    return (cancelled != nullptr && *cancelled) || (asker != nullptr && asker->HasGivenUp());
  }
  bool IsOver() const { return IsCancelled() || Clock::now() >= deadline; }
  // When to look again at the latest.
  Clock::time_point NextLook() const {
    if (cancelled == nullptr && asker == nullptr) return deadline;
    return std::min(deadline, Clock::now() + std::chrono::milliseconds(100));
  }
  // Not negative.
  std::chrono::milliseconds Left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  }
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_PATIENCE_H_
