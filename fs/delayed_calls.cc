// SPDX-License-Identifier: MIT
#include "fs/delayed_calls.h"

namespace cellfs::fs {

void DelayedCalls::After(std::chrono::milliseconds delay, std::function<void()> call) {
  std::lock_guard lock(mutex_);
  calls_.emplace(std::chrono::steady_clock::now() + delay, std::move(call));
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }
  wake_.notify_one();
}

void DelayedCalls::Run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (calls_.empty()) {
      wake_.wait(lock, stop, [&] { return !calls_.empty(); });
      continue;
    }
    TimePoint due = calls_.begin()->first;
    if (std::chrono::steady_clock::now() < due) {
      wake_.wait_until(lock, stop, due, [&] { return calls_.begin()->first < due; });
      continue;
    }
    auto call = std::move(calls_.begin()->second);
    calls_.erase(calls_.begin());
    lock.unlock();
    call();
    lock.lock();
  }
}

}  // namespace cellfs::fs
