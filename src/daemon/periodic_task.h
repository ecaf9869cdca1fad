// SPDX-License-Identifier: MIT
//
// Runs something every so often on a thread of its own, until it is destroyed.
#ifndef CELLFS_SRC_DAEMON_PERIODIC_TASK_H_
#define CELLFS_SRC_DAEMON_PERIODIC_TASK_H_

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace cellfs {

class PeriodicTask {
 public:
  PeriodicTask(std::chrono::microseconds interval, std::function<void()> task)
      : thread_([this, interval, task = std::move(task)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
            try {
              task();
            } catch (const std::exception&) {
              // For want of memory mostly, which there may be again the next time.
            }
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last, so that it ends first
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_PERIODIC_TASK_H_
