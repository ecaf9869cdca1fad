// SPDX-License-Identifier: MIT
//
// DelayedCalls: one thread that makes calls after a while: the puts of files held open for long.
#ifndef CELLFS_FS_DELAYED_CALLS_H_
#define CELLFS_FS_DELAYED_CALLS_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace cellfs::fs {

// Thread-safe. The destructor waits for the call under way and drops the others.
class DelayedCalls {
 public:
  DelayedCalls() = default;
  ~DelayedCalls() = default;

  // The call must not fail and may block. The thread starts with the first one.
  void After(std::chrono::milliseconds delay, std::function<void()> call);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  void Run(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::multimap<TimePoint, std::function<void()>> calls_;  // guarded by mutex_
  std::jthread thread_;                                    // last: stops before the rest goes
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_DELAYED_CALLS_H_
