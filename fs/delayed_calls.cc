// SPDX-License-Identifier: MIT
#include "fs/delayed_calls.h"

namespace cellfs::fs {

namespace {
// So that a put that waited is there within the second.
constexpr std::chrono::milliseconds kDelay{900};
}  // namespace

void DelayedCalls::Add(std::function<void()> call) {
  std::lock_guard lock(mutex_);
  calls_.push_back({std::chrono::steady_clock::now() + kDelay, std::move(call)});
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token stop) { Run(stop); });
  }
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
    if (std::chrono::steady_clock::now() < due) {
      wake_.wait_until(lock, stop, due, [] { return false; });
      continue;
    }
    auto make = std::move(calls_.front().make);
    calls_.pop_front();
    lock.unlock();
    make();
    lock.lock();
  }
}

}  // namespace cellfs::fs
