// SPDX-License-Identifier: MIT
//
// PoolWatch: the thread that looks after a pool which serves requests. It alone knows a time: the
// pool sees to it, at each look, that somebody is there to take what comes where nothing has moved
// since the last one. It sleeps where there is nothing to watch for long.
//
//     PoolWatch watch(mutex, {.interval = 2ms, .look = [this] { ...; return is_quiet; }});
#ifndef CELLFS_FS_REQUESTS_POOL_WATCH_H_
#define CELLFS_FS_REQUESTS_POOL_WATCH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace cellfs::fs {

// Guarded by the pool's mutex, but for what says otherwise.
class PoolWatch {
 public:
  struct Options {
    std::chrono::milliseconds interval{2};  // how often it looks
    // With the mutex held. Whether nothing happens in the pool, and somebody waits for what comes.
    std::function<bool()> look;
  };

  PoolWatch(std::mutex& mutex, Options options);
  ~PoolWatch();  // it has been joined, if it was started
  PoolWatch(const PoolWatch&) = delete;
  PoolWatch& operator=(const PoolWatch&) = delete;

  // False where no thread can be made.
  [[nodiscard]] bool Start();
  // Without the mutex: whether Wake is due, for something has come.
  bool sleeps() const { return sleeps_.load(std::memory_order_relaxed); }
  void Wake();
  // It does not look any more.
  void End();
  // After End, without the mutex.
  void Join();

 private:
  void Run();

  std::mutex& mutex_;
  const Options options_;
  std::atomic<bool> sleeps_{false};
  bool has_ended_ = false;
  std::condition_variable wakes_;
  std::thread thread_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_POOL_WATCH_H_
