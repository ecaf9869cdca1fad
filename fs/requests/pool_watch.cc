// SPDX-License-Identifier: MIT
#include "fs/requests/pool_watch.h"

#include <cassert>
#include <exception>
#include <utility>

namespace cellfs::fs {
namespace {

constexpr int kQuietLooks = 500;  // until it sleeps

}  // namespace

PoolWatch::PoolWatch(std::mutex& mutex, Options options)
    : mutex_(mutex), options_(std::move(options)) {}

PoolWatch::~PoolWatch() { assert(!thread_.joinable()); }

bool PoolWatch::Start() try {
  thread_ = std::thread([this] { Run(); });
  return true;
} catch (const std::exception&) {
  return false;
}

void PoolWatch::Wake() {
  sleeps_ = false;
  wakes_.notify_one();
}

void PoolWatch::End() {
  has_ended_ = true;
  wakes_.notify_one();
}

void PoolWatch::Join() {
  if (thread_.joinable()) thread_.join();
}

void PoolWatch::Run() {
  int quiet_looks = 0;
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, options_.interval, [this] { return has_ended_; })) {
    quiet_looks = options_.look() ? quiet_looks + 1 : 0;
    if (quiet_looks < kQuietLooks) continue;
    sleeps_ = true;
    wakes_.wait(lock, [this] { return !sleeps_ || has_ended_; });
    quiet_looks = 0;
  }
}

}  // namespace cellfs::fs
