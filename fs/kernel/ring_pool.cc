// SPDX-License-Identifier: MIT
#include "fs/kernel/ring_pool.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "fs/requests/pool_roles.h"

namespace cellfs::fs {
namespace {

// Looks for which a queue's threads do not step back where one did not get on, and again.
constexpr int kFirstPenalty = 16;
constexpr int kLongestPenalty = 256;
constexpr std::chrono::milliseconds kInterruptAgain{2};

}  // namespace

// Of one processor, and so in a cache line of its own. A thread counts in its role from the moment
// it is made, not from the moment it runs.
struct alignas(128) RingPool::Queue {
  explicit Queue(uint16_t its_number) : number(its_number) {}

  int Serving() const { return threads - idle - waiting; }

  const uint16_t number;
  std::atomic<int> threads{0};
  std::atomic<int> idle{0};     // wait for the next request
  std::atomic<int> waiting{0};  // serve, and wait within
  std::atomic<uint64_t> received{0};
  std::atomic<bool> may_step_back{false};
  bool is_to_be_asked = false;  // guarded by the pool's mutex
  std::unique_ptr<RingEntry> first;  // from Prepare to Start
  std::unique_ptr<RingEntry> spare;  // until no other can be had; guarded by the pool's mutex
  // The watch's.
  uint64_t seen = 0;            // of `received`
  int looks_in_front = 0;       // until they may step back again
  int looks_since = 0;          // they may step back
  int penalty = kFirstPenalty;  // how long they do not the next time
};

struct RingPool::Worker final : public WaitObserver {
  Worker(RingPool& its_pool, Queue& its_queue, std::unique_ptr<RingEntry> its_entry)
      : pool(its_pool),
        queue(its_queue),
        entry(std::move(its_entry)),
        comes_late(its_queue.threads > 0) {}

  void WaitBegins(Wait wait) noexcept override {
    ++queue.waiting;
    if (wait != Wait::kIsLong || queue.idle > 0) return;
    const std::lock_guard lock(pool.mutex_);
    pool.AddWorker(queue);
  }
  void WaitEnds() noexcept override { --queue.waiting; }

  RingPool& pool;
  Queue& queue;
  std::unique_ptr<RingEntry> entry;  // while it runs
  std::thread thread;
  std::atomic<bool> is_idle{true};
  std::atomic<bool> is_kept{false};  // on its queue's processor
  std::atomic<uint64_t> steps{0};    // back and forward: odd while it is back
  std::atomic<pid_t> id{0};          // while it runs
  uint64_t seen = 0;                 // of `steps`, by the watch
  const bool comes_late;             // the kernel may hold requests that found no thread
};

RingPool::RingPool(RequestServer& server, const Options& options)
    : server_(server),
      options_(options),
      watch_(mutex_, {.interval = options.watch_interval, .look = [this] { return Look(); }}) {}

RingPool::~RingPool() {
  Stop();
  if (asker_.joinable()) asker_.join();  // it may have waited for an answer until the mount ended
}

Status RingPool::Prepare(int device, size_t payload_size) {
  place_ = {.device = device, .queue = 0, .payload_size = payload_size};
  processors_.emplace();
  may_step_back_ = MayStepBack();
  const auto count = static_cast<uint16_t>(get_nprocs_conf());
  stepping_back_.emplace(count);
  for (uint16_t number = 0; number < count; ++number) {
    place_.queue = number;
    auto entry = RingEntry::Make(place_, server_.CountsForThread());
    auto spare = RingEntry::Make(place_, server_.CountsForThread());
    if (!entry.ok() || !spare.ok()) {
      queues_.clear();
      return entry.ok() ? spare.status() : entry.status();
    }
    Queue& queue = queues_.emplace_back(number);
    queue.first = std::move(*entry);
    queue.spare = std::move(*spare);
    queue.may_step_back = may_step_back_;
  }
  return {};
}

Status RingPool::Start() {
  const std::lock_guard lock(mutex_);
  for (Queue& queue : queues_) {
    if (!AddWorker(queue, std::move(queue.first))) {
      return {StatusCode::kUnavailable, "no thread can be made"};
    }
  }
  if (!watch_.Start()) return {StatusCode::kUnavailable, "no thread can be made"};
  try {
    asker_ = std::thread([this] { AskForNewThreads(); });
  } catch (const std::exception&) {
    return {StatusCode::kUnavailable, "no thread can be made"};
  }
  return {};
}

void RingPool::Stop() {
  Lock lock(mutex_);
  stopping_ = true;
  watch_.End();
  asks_.notify_one();
  while (running_ > 0) {
    // One that comes just before the thread waits is lost.
    for (Worker& worker : workers_) {
      if (worker.is_idle && worker.id != 0) server_.Interrupt(worker.thread.native_handle());
    }
    worker_left_.wait_for(lock, kInterruptAgain, [this] { return running_ == 0; });
  }
  lock.unlock();
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
  watch_.Join();
}

bool RingPool::IsIdle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.idle > 0; });
}

uint64_t RingPool::received() const {
  uint64_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.received;
  return sum;
}

// ---- Threads are made: with the mutex held ------------------------------------------------------

// Where one cannot be made those that are there will do; the watch tries again.
void RingPool::AddWorker(Queue& queue) noexcept try {
  if (!MayAddWorker(queue)) return;
  RingEntry::Place place = place_;
  place.queue = queue.number;
  auto entry = RingEntry::Make(place, server_.CountsForThread());
  if (entry.ok()) {
    AddWorker(queue, std::move(*entry));
  } else if (queue.spare != nullptr) {
    AddWorker(queue, std::move(queue.spare));
  }
} catch (const std::exception&) {
}

bool RingPool::MayAddWorker(const Queue& queue) const {
  if (stopping_ || queue.idle > 0 || workers_.size() >= size_t{PoolRoles::kMostThreads}) return false;
  int serving = 0;
  for (const Queue& each : queues_) serving += each.Serving();
  return serving < options_.threads;
}

bool RingPool::AddWorker(Queue& queue, std::unique_ptr<RingEntry> entry) {
  Worker& worker = workers_.emplace_back(*this, queue, std::move(entry));
  try {
    worker.thread = std::thread([this, &worker] { Run(worker); });
  } catch (const std::exception&) {
    workers_.pop_back();
    return false;
  }
  ++queue.threads;
  ++queue.idle;
  ++running_;
  return true;
}

// ---- A thread -----------------------------------------------------------------------------------

void RingPool::Run(Worker& self) {
  {
    const std::lock_guard made(mutex_);  // it is counted
  }
  WaitObserver::OfThisThread() = &self;
  self.id = gettid();
  KeepOnProcessor(self);
  self.entry->Register();
  if (self.comes_late) {
    const std::lock_guard lock(mutex_);
    self.queue.is_to_be_asked = true;
    asks_.notify_one();
  }
  auto received = self.entry->Wait();
  while (received != RingEntry::Received::kEnd && !stopping_) {
    if (received == RingEntry::Received::kRequest) {
      ServeOne(self);
      Commit(self);
    }
    received = self.entry->Wait();
  }
  // While its ring is open the kernel still gives it requests, and waits for it to take them.
  self.entry.reset();
  const std::lock_guard lock(mutex_);
  self.id = 0;
  --running_;
  worker_left_.notify_all();
}

void RingPool::ServeOne(Worker& self) {
  Queue& queue = self.queue;
  --queue.idle;
  self.is_idle.store(false, std::memory_order_relaxed);
  ++queue.received;
  if (watch_.sleeps()) {
    const std::lock_guard lock(mutex_);
    watch_.Wake();
  }
  if (may_step_back_) stepping_back_->Asks(self.entry->request().Header().pid, queue.number);
  server_.Serve(self.entry->request());
  if (!self.is_kept.load(std::memory_order_relaxed)) KeepOnProcessor(self);
  self.is_idle.store(true, std::memory_order_relaxed);
  ++queue.idle;
}

void RingPool::Commit(Worker& self) {
  self.entry->Commit();
  const Queue& queue = self.queue;
  if (!queue.may_step_back.load(std::memory_order_relaxed)) return;
  if (!stepping_back_->IsDue(queue.number)) return;
  ++self.steps;
  StepBack();
  self.entry->Submit();
  ComeForward(0);
  ++self.steps;
}

// Who cannot step back is better off where the scheduler puts it.
void RingPool::KeepOnProcessor(Worker& self) const {
  self.is_kept = !may_step_back_ || processors_->KeepThreadOn(self.queue.number);
}

// ---- The watch: with the mutex held -------------------------------------------------------------

bool RingPool::Look() {
  bool is_quiet = true;
  for (Worker& worker : workers_) LookAt(worker);
  for (Queue& queue : queues_) is_quiet = LookAt(queue) && is_quiet;
  return is_quiet;
}

// Whether nothing happens there. Where nothing moves, and nobody is left to take what comes, there
// is one more, and those that are at work may go on elsewhere.
bool RingPool::LookAt(Queue& queue) {
  if (queue.looks_in_front > 0 && --queue.looks_in_front == 0) queue.may_step_back = true;
  ++queue.looks_since;
  const uint64_t received = queue.received;
  const bool progress = std::exchange(queue.seen, received) != received;
  if (progress || queue.idle > 0) return !progress;
  for (Worker& worker : workers_) {
    if (&worker.queue != &queue || worker.is_idle || worker.id == 0 || !worker.is_kept) continue;
    processors_->LetRunAnywhere(worker.thread.native_handle());
    worker.is_kept = false;
  }
  AddWorker(queue);
  return false;
}

// One that has been back since the last look does not get on beside others.
void RingPool::LookAt(Worker& worker) {
  const uint64_t steps = worker.steps;
  const bool is_stuck = steps % 2 == 1 && steps == worker.seen;
  worker.seen = steps;
  if (!is_stuck || worker.id == 0) return;
  ComeForward(worker.id);
  Queue& queue = worker.queue;
  const bool again = queue.looks_since < 2 * queue.penalty;
  queue.penalty = again ? std::min(2 * queue.penalty, kLongestPenalty) : kFirstPenalty;
  queue.looks_in_front = queue.penalty;
  queue.looks_since = 0;
  queue.may_step_back = false;
}

void RingPool::AskForNewThreads() {
  const auto is_asked = [](const Queue& queue) { return queue.is_to_be_asked; };
  Lock lock(mutex_);
  while (!stopping_) {
    const auto queue = std::find_if(queues_.begin(), queues_.end(), is_asked);
    if (queue == queues_.end()) {
      asks_.wait(lock);
      continue;
    }
    queue->is_to_be_asked = false;
    if (!processors_->KeepThreadOn(queue->number)) continue;
    lock.unlock();
    server_.AskMount();
    lock.lock();
  }
}

}  // namespace cellfs::fs
