// SPDX-License-Identifier: MIT
#include "fs/base/delayed_calls.h"

#include <ratio>

#include "fs/base/memory_retry.h"

namespace cellfs::fs {
namespace {

using Clock = std::chrono::steady_clock;

// A put that waited is there within the second. Calls are due at whole ticks: the thread wakes a
// few times a second, not once for each file that was written.
using Tick = std::chrono::duration<int64_t, std::deci>;
constexpr std::chrono::milliseconds kDelay{800};

Clock::time_point NextDue() { return std::chrono::ceil<Tick>(Clock::now() + kDelay); }

}  // namespace

void DelayedCalls::Add(std::function<void()> call) {
  std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }
  calls_.push_back({NextDue(), std::move(call)});
  // Behind others nothing becomes due earlier: no need to wake the thread.
  if (calls_.size() == 1) wake_.notify_one();
}

void DelayedCalls::Run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (calls_.empty()) {
      wake_.wait(lock, stop, [&] { return !calls_.empty(); });
      continue;
    }
    const auto due = calls_.front().due;
    if (Clock::now() < due) {
      wake_.wait_until(lock, stop, due, [] { return false; });
      continue;
    }
    Call call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    RetryWithMemory(stop, call.make);
    call = {};  // what it holds goes without the lock, too
    lock.lock();
  }
}

}  // namespace cellfs::fs
