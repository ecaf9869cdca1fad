// SPDX-License-Identifier: MIT
//
// WorkLimit: when one call of a read has to come back: after a time, between two rows; and in the
// midst of a row once that time is up and who asked has given up.
#ifndef CELLFS_ENGINE_WORK_LIMIT_H_
#define CELLFS_ENGINE_WORK_LIMIT_H_

#include <atomic>
#include <chrono>

#include "engine/read.h"

namespace cellfs {

// Used by one thread; the flag is set by any.
class WorkLimit {
 public:
  explicit WorkLimit(const Get& get) : cancelled_(get.cancelled) {}
  explicit WorkLimit(const ScanBatch& batch) : cancelled_(batch.cancelled) {
    if (batch.max_time != ScanBatch::Duration::max()) end_ = Clock::now() + batch.max_time;
  }

  bool IsUp() const { return end_ != Clock::time_point::max() && Clock::now() >= end_; }
  // A row that is broken off ends the scan, so one that takes no longer than a batch is finished.
  bool IsCancelled() const {
    if (cancelled_ == nullptr || !cancelled_->load(std::memory_order_relaxed)) return false;
    return end_ == Clock::time_point::max() || Clock::now() >= end_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::atomic<bool>* const cancelled_;
  Clock::time_point end_ = Clock::time_point::max();
};

inline Status Cancelled() { return {StatusCode::kCancelled, "who asked has given up waiting"}; }

}  // namespace cellfs

#endif  // CELLFS_ENGINE_WORK_LIMIT_H_
