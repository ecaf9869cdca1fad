// SPDX-License-Identifier: MIT
//
// RingPool: the threads that serve the requests which come through io_uring, each with an entry of
// its own (fs/kernel/ring_entry.h). The kernel itself gives a request to a thread that is free, so
// nobody hands anything over.
//
//     RingPool pool(server, {.threads = 10});
//     if (pool.Prepare(device, payload_size).ok()) ...   // before INIT's reply asks for io_uring
//     pool.Start();                                      // after it
//     pool.Stop();
//
// Each processor has a queue of requests, and at first one thread, which stays on that processor:
// the answer comes from where the question was, with no other one to wake (fs/kernel/scheduling.h).
// Where a queue has no thread left to take the next request it gets another: at once where the one
// waits (engine/waiting.h), and else when nothing has moved there for a moment, which a watch sees;
// what takes so long may go on on any processor. The watch also calls forward who has stepped back
// and does not get on; such a queue's threads do not step back for a while. Threads are never taken
// back, for their entries cannot be.
//
// What came while no thread was free the kernel gives to the next one that replies, not to one that
// is new. So where all others of the queue may take long a thread of the pool asks the mount
// something on that processor: the new one replies to that, and goes on with what lay there.
#ifndef CELLFS_FS_KERNEL_RING_POOL_H_
#define CELLFS_FS_KERNEL_RING_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/status.h"
#include "engine/waiting.h"
#include "fs/kernel/ring_entry.h"
#include "fs/kernel/scheduling.h"
#include "fs/kernel/stepping_back.h"
#include "fs/requests/pool_watch.h"

namespace cellfs::fs {

// Serves what has come.
class RequestServer {
 public:
  virtual ~RequestServer() = default;
  virtual void Serve(FuseRequest& request) = 0;
  virtual RequestCounts::Set& CountsForThread() = 0;
  // Asks the mount something that takes no time.
  virtual void AskMount() = 0;
  // Ends the wait of a thread in the kernel, if it is there.
  virtual void Interrupt(std::thread::native_handle_type thread) = 0;
};

// Thread-safe, but for Prepare and Start, which one thread calls in that order.
class RingPool {
 public:
  struct Options {
    // That serve at a time, at most, beside one for each processor; those that wait do not count.
    int threads = 10;
    std::chrono::milliseconds watch_interval{2};  // how often the watch looks
  };

  RingPool(RequestServer& server, const Options& options);
  // Stops. The mount has ended, or nobody asks it any more.
  ~RingPool();
  RingPool(const RingPool&) = delete;
  RingPool& operator=(const RingPool&) = delete;

  // Makes two entries for each processor's queue: a thread that waits for what another request does
  // finds one also where descriptors have run out since. kUnavailable where that cannot be: nothing
  // is left.
  Status Prepare(int device, size_t payload_size);
  bool is_prepared() const { return !queues_.empty(); }
  // kUnavailable where no thread can be made.
  Status Start();
  // What was received is served, and nothing is received any more. Not from a thread of the pool.
  void Stop();

  // Whether each queue has a thread that waits for the next request.
  bool IsIdle() const;
  // How many requests have come.
  uint64_t received() const;

 private:
  struct Queue;
  struct Worker;
  using Lock = std::unique_lock<std::mutex>;

  bool MayAddWorker(const Queue& queue) const;
  void AddWorker(Queue& queue) noexcept;
  bool AddWorker(Queue& queue, std::unique_ptr<RingEntry> entry);

  void Run(Worker& self);
  void ServeOne(Worker& self);
  void Commit(Worker& self);
  void KeepOnProcessor(Worker& self) const;

  bool Look();
  bool LookAt(Queue& queue);
  void LookAt(Worker& worker);
  void AskForNewThreads();

  RequestServer& server_;
  const Options options_;
  RingEntry::Place place_;
  std::optional<Processors> processors_;  // from Prepare on, as the next
  bool may_step_back_ = false;
  std::optional<SteppingBack> stepping_back_;
  std::deque<Queue> queues_;  // by the number of its processor

  std::mutex mutex_;  // guards the rest
  std::list<Worker> workers_;
  size_t running_ = 0;
  std::condition_variable worker_left_;
  PoolWatch watch_;
  std::condition_variable asks_;
  std::thread asker_;

  std::atomic<bool> stopping_{false};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_RING_POOL_H_
