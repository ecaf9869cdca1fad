// SPDX-License-Identifier: MIT
#include "engine/hbase/attempts.h"

#include <algorithm>
#include <array>
#include <random>
#include <thread>

#include "engine/waiting.h"

namespace cellfs::hbase {
namespace {

// HConstants.RETRY_BACKOFF, in pauses.
constexpr std::array kPauses = {1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200};

// Up to a hundredth more.
Clock::duration WithChance(Clock::duration pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  return pause + pause * static_cast<int>(random() % 100) / 10'000;
}

}  // namespace

bool Attempts::WaitForNext(std::optional<std::chrono::milliseconds> pause) {
  if (made_ >= options_.retries) return false;
  const auto at = std::min(static_cast<size_t>(made_), kPauses.size() - 1);
  ++made_;
  const Clock::duration wait =
      pause ? Clock::duration(*pause) : WithChance(options_.pause * kPauses[at]);
  const auto until = Clock::now() + wait;
  if (until >= patience_.deadline) return false;
  const Waiting waiting(Wait::kIsLong);
  while (Clock::now() < until) {
    if (patience_.IsCancelled()) return false;
    std::this_thread::sleep_until(std::min(until, patience_.NextLook()));
  }
  return !patience_.IsOver();
}

}  // namespace cellfs::hbase
