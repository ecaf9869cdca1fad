// SPDX-License-Identifier: MIT
//
// CallerGone: that nobody is at the other end of a command's connection any more; for what looks at
// a flag, and for what waits.
#ifndef CELLFS_SRC_DAEMON_CALLER_GONE_H_
#define CELLFS_SRC_DAEMON_CALLER_GONE_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "fs/requests/running_request.h"

namespace cellfs {

// Thread-safe.
class CallerGone : public fs::Interruption {
 public:
  const std::atomic<bool>& flag() const { return flag_; }

  void Happened() {
    const std::lock_guard lock(mutex_);
    if (!flag_.exchange(true) && heard_ != nullptr) (*heard_)();
  }
  void Hear(const std::function<void()>* heard) override {
    const std::lock_guard lock(mutex_);
    heard_ = heard;
    if (flag_) (*heard_)();
  }
  void StopHearing() override {
    const std::lock_guard lock(mutex_);
    heard_ = nullptr;
  }
  bool HasHappened() const noexcept override { return flag_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> flag_ = false;
  const std::function<void()>* heard_ = nullptr;  // guarded by mutex_
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_CALLER_GONE_H_
