// SPDX-License-Identifier: MIT
//
// DelayedCalls: makes calls about a second after they were asked for: the puts of files held open
// for long. Those of one user come one after the other, in the order in which they were asked for;
// one that takes long, or many, keep nobody else's waiting while there are threads.
#ifndef CELLFS_FS_BASE_DELAYED_CALLS_H_
#define CELLFS_FS_BASE_DELAYED_CALLS_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace cellfs::fs {

// In whose name the daemon calls for itself: uid_t's "nobody is meant".
inline constexpr uid_t kDaemonItself = static_cast<uid_t>(-1);

// Thread-safe. The destructor waits for the calls under way and drops the others.
class DelayedCalls {
 public:
  ~DelayedCalls();

  // The call may block, and is made again if it throws, for want of memory. A thread starts with
  // the first one.
  void Add(uid_t user, std::function<void()> call);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Call {
    TimePoint due{};
    std::function<void()> make;
  };
  struct OfUser {
    std::deque<Call> calls;  // by time, as all wait as long
    bool is_running = false;
  };
  using Users = std::map<uid_t, OfUser>;

  void Run(const std::stop_token& stop);
  Users::iterator AwaitDue(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  Users::iterator NextLocked();
  void PassLeadLocked();
  void StartThreadLocked();

  std::mutex mutex_;
  std::condition_variable_any wake_;  // who leads: another call may be the next
  std::condition_variable_any lead_;  // the others: nobody leads
  Users users_;                       // with calls; guarded by mutex_
  size_t idle_ = 0;                   // threads that wait for the lead; guarded by mutex_
  bool is_led_ = false;               // a thread waits for the next call; guarded by mutex_
  std::vector<std::jthread> threads_;  // last: they stop before the rest goes; guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_DELAYED_CALLS_H_
