// SPDX-License-Identifier: MIT
#include "fs/requests/request_pool.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace cellfs::fs {
namespace {

using Role = PoolRoles::Role;

constexpr std::chrono::milliseconds kInterruptInterval{2};

}  // namespace

// A thread, and what is known of it, which the pool's mutex guards.
struct RequestPool::Worker final : public WaitObserver {
  Worker(RequestPool& its_pool, std::unique_ptr<RequestSource::RawRequest> its_buffer)
      : pool(its_pool), buffer(std::move(its_buffer)) {}

  void WaitBegins(Wait wait) noexcept override {
    const std::lock_guard lock(pool.mutex_);
    pool.roles_.WaitBegins();
    pool.CallOthers(wait == Wait::kIsLong);
  }
  void WaitEnds() noexcept override {
    const std::lock_guard lock(pool.mutex_);
    pool.roles_.WaitEnds();
  }

  RequestPool& pool;
  std::thread thread;
  Role role = Role::kReads;
  std::condition_variable called;
  std::unique_ptr<RequestSource::RawRequest> buffer;
  std::unique_ptr<RequestSource::RawRequest> from_aside;  // what it is to serve
};

RequestPool::RequestPool(RequestSource& source, const Options& options)
    : source_(source),
      options_(options),
      roles_(std::max(options.threads, 1)),
      watch_(mutex_, {.interval = options.watch_interval, .look = [this] { return Look(); }}) {}

RequestPool::~RequestPool() { Stop(); }

bool RequestPool::Start() {
  const std::lock_guard lock(mutex_);
  if (!watch_.Start()) return false;
  CallOthers(true);
  return !workers_.empty();
}

void RequestPool::Stop() {
  Lock lock(mutex_);
  End();
  while (!workers_.empty()) {
    // One that comes just before the thread receives is lost.
    if (reader_ != nullptr) source_.Interrupt(reader_->thread.native_handle());
    worker_left_.wait_for(lock, kInterruptInterval, [this] { return workers_.empty(); });
  }
  JoinThoseThatLeft();
  lock.unlock();
  watch_.Join();
}

PoolRoles RequestPool::roles() const {
  const std::lock_guard lock(mutex_);
  return roles_;
}

// ---- A thread: with the mutex held, but for what takes long -------------------------------------

void RequestPool::Run(Worker& self) {
  WaitObserver::OfThisThread() = &self;
  const std::lock_guard lock(mutex_);
  while (self.role != Role::kLeaves) {
    while (self.role == Role::kReads) Read(self);
    while (self.role == Role::kServes) ServeFromAside(self);
    while (self.role == Role::kRests) Rest(self);
  }
  Leave(self);
}

inline void RequestPool::Assign(Worker& worker, Role role) {
  worker.role = role;
  if (role != Role::kServes) return;
  worker.from_aside = std::move(put_aside_.front());
  put_aside_.pop_front();
}

inline void RequestPool::HasServed(Worker& self) {
  Assign(self, roles_.Served());
  if (roles_.put_aside() > 0) CallOthers(false);
}

// And serves what it reads.
void RequestPool::Read(Worker& self) {
  reader_ = &self;
  mutex_.unlock();
  const auto received = source_.Receive(*self.buffer);
  mutex_.lock();
  reader_ = nullptr;
  if (received != RequestSource::Received::kRequest) return ReadNothing(self, received);
  ++received_;
  if (watch_.sleeps()) watch_.Wake();
  if (roles_.ShallPutAside() && PutAside(*self.buffer)) return;
  roles_.Received();
  mutex_.unlock();
  source_.Serve(*self.buffer);
  mutex_.lock();
  HasServed(self);
}

void RequestPool::ReadNothing(Worker& self, RequestSource::Received received) {
  if (received == RequestSource::Received::kNothing && !roles_.has_ended()) return;
  End();
  Assign(self, roles_.FoundEnd());
}

bool RequestPool::PutAside(const RequestSource::RawRequest& request) {
  if (source_.IsUrgent(request)) return false;
  try {
    put_aside_.push_back(source_.CopyOf(request));
  } catch (const std::bad_alloc&) {
    return false;
  }
  roles_.PutAside();
  return true;
}

void RequestPool::ServeFromAside(Worker& self) {
  mutex_.unlock();
  source_.Serve(*self.from_aside);
  self.from_aside.reset();
  mutex_.lock();
  HasServed(self);
}

void RequestPool::Rest(Worker& self) {
  const auto is_called = [&] { return self.role != Role::kRests || roles_.has_ended(); };
  Lock lock(mutex_, std::adopt_lock);
  resting_.push_back(&self);
  if (roles_.has_spare()) {
    self.called.wait_for(lock, options_.longest_rest, is_called);
  } else {
    self.called.wait(lock, is_called);
  }
  lock.release();
  if (self.role != Role::kRests) return;
  std::erase(resting_, &self);
  self.role = roles_.Rested();
}

void RequestPool::Leave(Worker& self) {
  const auto own = std::find_if(workers_.begin(), workers_.end(),
                                [&](const Worker& worker) { return &worker == &self; });
  left_.splice(left_.end(), workers_, own);
  worker_left_.notify_all();
}

// ---- What a thread has others do: with the mutex held -------------------------------------------

void RequestPool::CallOthers(bool reader) {
  while (const auto call = roles_.NextCall(reader)) {
    if (!call->is_new) {
      Worker& worker = *resting_.back();
      resting_.pop_back();
      Assign(worker, call->role);
      worker.called.notify_one();
    } else if (!AddWorker(call->role)) {
      roles_.CallFailed(call->role);  // those that are there will do; the watch tries again
      return;
    }
  }
}

bool RequestPool::AddWorker(Role role) {
  JoinThoseThatLeft();
  try {
    resting_.reserve(workers_.size() + 1);
    Worker& worker = workers_.emplace_back(*this, source_.MakeEmpty());
    try {
      worker.thread = std::thread([this, &worker] { Run(worker); });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
    Assign(worker, role);  // before it gets the mutex
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void RequestPool::End() {
  roles_.End();
  for (Worker* worker : resting_) worker->called.notify_one();
  watch_.End();
}

// They need the mutex no more.
void RequestPool::JoinThoseThatLeft() {
  for (Worker& worker : left_) worker.thread.join();
  left_.clear();
}

// ---- The watch: with the mutex held -------------------------------------------------------------

bool RequestPool::Look() {
  const bool progress = received_ != std::exchange(seen_, received_);
  if (!progress) CallOthers(true);
  return !progress && roles_.reading() > 0 && roles_.put_aside() == 0;
}

}  // namespace cellfs::fs
