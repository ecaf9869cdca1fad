// SPDX-License-Identifier: MIT
//
// RequestPool: the threads that serve a mount's requests: leader and followers. Which thread does
// what is decided in fs/requests/pool_roles.h, under the one mutex there is; a thread that is called
// has its role from that moment on, so no wake-up can come too late or reach the wrong one.
//
//     RequestPool pool(source, {.threads = 10});
//     if (!pool.Start()) ...
//     pool.Stop();
//
// Whatever a request waits for is entered by a Waiting (engine/waiting.h): the thread does not count
// as one that serves while it lasts, and where the wait is long another reads at once. Where nobody
// reads and nothing has come for a moment, as a request takes long otherwise, a watch calls another
// thread: it alone knows a time, and sleeps where there is nothing to watch.
#ifndef CELLFS_FS_REQUESTS_REQUEST_POOL_H_
#define CELLFS_FS_REQUESTS_REQUEST_POOL_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/waiting.h"
#include "fs/requests/pool_roles.h"
#include "fs/requests/pool_watch.h"

namespace cellfs::fs {

// Where requests come from, and what serves them.
class RequestSource {
 public:
  // A request as it came, in memory that is used again for the next.
  class RawRequest {
   public:
    virtual ~RawRequest() = default;
  };
  enum class Received {
    kRequest,
    kNothing,  // it was interrupted, or nothing could be received now
    kEnd,      // nothing will come any more
  };

  virtual ~RequestSource() = default;

  // These two may throw std::bad_alloc.
  virtual std::unique_ptr<RawRequest> MakeEmpty() = 0;
  virtual std::unique_ptr<RawRequest> CopyOf(const RawRequest& request) = 0;

  // Waits for the next request. Called by one thread at a time.
  virtual Received Receive(RawRequest& request) = 0;
  // Whether others may wait for what it does: it is served whatever else is.
  virtual bool IsUrgent(const RawRequest& request) = 0;
  virtual void Serve(RawRequest& request) = 0;
  // The thread, which is in Receive or just before or behind it, shall come back: an interruption
  // that it does not notice is repeated. Called with the pool's mutex held.
  virtual void Interrupt(std::thread::native_handle_type reader) = 0;
};

// Thread-safe.
class RequestPool {
 public:
  struct Options {
    int threads = 10;  // that serve, at least 1; see PoolRoles
    // How often the watch looks.
    std::chrono::milliseconds watch_interval{2};
    // How long a thread beyond those that there is work for as a rule rests before it ends.
    std::chrono::milliseconds longest_rest{60000};
  };

  RequestPool(RequestSource& source, const Options& options);
  ~RequestPool();  // stops
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  // False where no thread can be made.
  [[nodiscard]] bool Start();
  // What was read is served, and nothing is read any more. Returns once all threads are gone. Not
  // from a thread of the pool.
  void Stop();

  // As they are now.
  PoolRoles roles() const;

 private:
  struct Worker;
  using Lock = std::unique_lock<std::mutex>;

  void Run(Worker& self);
  void Read(Worker& self);
  void ReadNothing(Worker& self, RequestSource::Received received);
  bool PutAside(const RequestSource::RawRequest& request);
  void ServeFromAside(Worker& self);
  void HasServed(Worker& self);
  void Rest(Worker& self);
  void Leave(Worker& self);

  void CallOthers(bool reader);
  bool AddWorker(PoolRoles::Role role);
  void Assign(Worker& worker, PoolRoles::Role role);
  void End();
  void JoinThoseThatLeft();

  bool Look();

  RequestSource& source_;
  const Options options_;
  mutable std::mutex mutex_;  // guards the rest
  PoolRoles roles_;
  std::list<Worker> workers_;
  std::list<Worker> left_;        // are at their end, and to be joined
  std::vector<Worker*> resting_;  // who rests for the shortest time is woken first
  Worker* reader_ = nullptr;      // who is in Receive
  std::deque<std::unique_ptr<RequestSource::RawRequest>> put_aside_;
  std::condition_variable worker_left_;
  uint64_t received_ = 0;
  uint64_t seen_ = 0;  // of these, by the watch
  PoolWatch watch_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_REQUEST_POOL_H_
