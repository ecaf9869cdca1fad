// SPDX-License-Identifier: MIT
#include "fs/base/delayed_calls.h"

#include <exception>
#include <ratio>
#include <utility>

#include "fs/base/memory_retry.h"

namespace cellfs::fs {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kMostCallThreads = 8;

// A put that waited is there within the second. Calls are due at whole ticks: a thread wakes a few
// times a second, not once for each file that was written.
using Tick = std::chrono::duration<int64_t, std::deci>;
constexpr std::chrono::milliseconds kDelay{800};

SteadyClock::time_point NextDue() { return std::chrono::ceil<Tick>(SteadyClock::now() + kDelay); }

}  // namespace

DelayedCalls::~DelayedCalls() {
  std::vector<std::jthread> threads;
  {
    std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::jthread& thread : threads) thread.request_stop();
}

void DelayedCalls::Add(uid_t user, std::function<void()> call) {
  std::lock_guard lock(mutex_);
  if (threads_.empty()) StartThreadLocked();
  OfUser& of_user = users_[user];
  of_user.calls.push_back({NextDue(), std::move(call)});
  // Behind others nothing becomes due earlier: no need to wake a thread.
  if (of_user.calls.size() == 1) wake_.notify_one();
}

void DelayedCalls::StartThreadLocked() {
  threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
}

// One thread leads: it waits for the next call that is due. Before it makes it, it leaves the lead to
// another, so that no call keeps one of another user waiting.
void DelayedCalls::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    lead_.wait(lock, stop, [this] { return !is_led_; });
    --idle_;
    if (stop.stop_requested()) return;
    is_led_ = true;
    const auto user = AwaitDue(lock, stop);
    is_led_ = false;
    if (stop.stop_requested()) return;
    Call call = std::move(user->second.calls.front());
    user->second.calls.pop_front();
    user->second.is_running = true;
    PassLeadLocked();
    lock.unlock();
    RetryWithMemory(stop, call.make);
    call = {};  // what it holds goes without the lock, too
    lock.lock();
    user->second.is_running = false;
    if (user->second.calls.empty()) users_.erase(user);
    wake_.notify_one();
  }
}

void DelayedCalls::PassLeadLocked() {
  if (idle_ > 0 || threads_.size() >= kMostCallThreads) return lead_.notify_one();
  try {
    StartThreadLocked();
  } catch (const std::exception&) {
    // This one takes the lead again when its call is made.
  }
}

DelayedCalls::Users::iterator DelayedCalls::AwaitDue(std::unique_lock<std::mutex>& lock,
                                                     const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto next = NextLocked();
    if (next == users_.end()) {
      wake_.wait(lock, stop, [this] { return NextLocked() != users_.end(); });
      continue;
    }
    const auto due = next->second.calls.front().due;
    if (SteadyClock::now() >= due) return next;
    wake_.wait_until(lock, stop, due, [] { return false; });
  }
  return users_.end();
}

// The earliest of a user of whom no call is under way.
DelayedCalls::Users::iterator DelayedCalls::NextLocked() {
  auto earliest = users_.end();
  for (auto user = users_.begin(); user != users_.end(); ++user) {
    if (user->second.is_running || user->second.calls.empty()) continue;
    const bool is_earlier = earliest == users_.end() ||
                            user->second.calls.front().due < earliest->second.calls.front().due;
    if (is_earlier) earliest = user;
  }
  return earliest;
}

}  // namespace cellfs::fs
