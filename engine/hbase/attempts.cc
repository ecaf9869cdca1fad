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
SteadyClock::duration WithChance(SteadyClock::duration pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  return pause + pause * static_cast<int>(random() % 100) / 10'000;
}

}  // namespace

bool Wait(SteadyClock::duration pause, const Patience& patience) {
  const auto until = SteadyClock::now() + pause;
  if (until >= patience.deadline) return false;
  const Waiting waiting(cellfs::Wait::kIsLong);
  while (SteadyClock::now() < until) {
    if (patience.IsCancelled()) return false;
    std::this_thread::sleep_until(std::min(until, patience.NextLook()));
  }
  return !patience.IsOver();
}

bool Attempts::WaitForNext(std::optional<std::chrono::milliseconds> pause) {
  if (made_ >= options_.retries) return false;
  const auto at = std::min(static_cast<size_t>(made_), kPauses.size() - 1);
  ++made_;
  is_out_of_time_ = !Wait(
      pause ? SteadyClock::duration(*pause) : WithChance(options_.pause * kPauses[at]), patience_);
  return !is_out_of_time_;
}

Status Attempts::End(Status last) const {
  if (!MayPass(last)) return last;
  if (patience_.IsCancelled()) return {StatusCode::kCancelled, "it was given up"};
  if (!is_out_of_time_ && !patience_.IsOver()) return last;
  return {StatusCode::kTimedOut, last.message() + "; there was no time for another attempt"};
}

}  // namespace cellfs::hbase
