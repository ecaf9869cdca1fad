// SPDX-License-Identifier: MIT
//
// DelayedCalls: one thread that makes calls about a second after they were asked for: the puts of
// files held open for long.
#ifndef CELLFS_FS_BASE_DELAYED_CALLS_H_
#define CELLFS_FS_BASE_DELAYED_CALLS_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cellfs::fs {

// Thread-safe. The destructor waits for the call under way and drops the others.
class DelayedCalls {
 public:
  // The call may block, and is made again if it throws, for want of memory. The thread starts with
  // the first one.
  void Add(std::function<void()> call);

 private:
  struct Call {
    std::chrono::steady_clock::time_point due{};
    std::function<void()> make;
  };
  void Run(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Call> calls_;  // guarded by mutex_; by time, as all wait as long
  std::jthread thread_;     // last: stops before the rest goes
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_DELAYED_CALLS_H_
