// SPDX-License-Identifier: MIT
//
// ReleaseOrder: a file is released when close(2) has returned, and only then a truncation by
// O_TRUNC alone is put. What comes after that shall find it: a request about a file waits while
// one that was received earlier releases it. Without this a busy machine may serve both the other
// way round.
#ifndef CELLFS_FS_KERNEL_RELEASE_ORDER_H_
#define CELLFS_FS_KERNEL_RELEASE_ORDER_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "engine/waiting.h"

namespace cellfs::fs {

// Thread-safe. Files are named by the kernel's node ids.
class ReleaseOrder {
 public:
  // A RELEASE was received. Called in the order in which requests are. Where memory runs out the
  // order is not kept.
  void Begin(uint64_t file) {
    const std::lock_guard lock(mutex_);
    try {
      files_.push_back(file);
      any_ = true;
    } catch (const std::bad_alloc&) {
    }
  }
  void End(uint64_t file) {
    const std::lock_guard lock(mutex_);
    const auto begun = std::find(files_.begin(), files_.end(), file);
    if (begun != files_.end()) files_.erase(begun);
    any_ = !files_.empty();
    if (waiting_ > 0) ended_.notify_all();
  }
  void WaitFor(uint64_t file) {
    if (any_) WaitForReleases(file);
  }

 private:
  void WaitForReleases(uint64_t file) {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] {
      return std::find(files_.begin(), files_.end(), file) == files_.end();
    };
    if (is_over()) return;
    const Waiting waiting(Wait::kMayBeShort);
    ++waiting_;
    ended_.wait(lock, is_over);
    --waiting_;
  }

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  int waiting_ = 0;              // threads; guarded by mutex_
  std::vector<uint64_t> files_;  // few; guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_RELEASE_ORDER_H_
