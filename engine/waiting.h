// SPDX-License-Identifier: MIT
//
// Waiting: a call of the store may wait: for the disk, for memory that a flush gives back, for
// another writer of the row. Who serves many with few threads hears of it, so that another thread
// goes on in the place of the one that waits:
//
//     class Worker : public WaitObserver { ... };
//     Worker worker;
//     WaitObserver::OfThisThread() = &worker;  // in each thread that serves
//
// Threads that have no observer wait unheard.
#ifndef CELLFS_ENGINE_WAITING_H_
#define CELLFS_ENGINE_WAITING_H_

#include <mutex>

namespace cellfs {

enum class Wait {
  kMayBeShort,  // over before another thread would have woken, as a rule
  kIsLong,      // for the disk, or for what takes as long
};

// Called by its own thread, one wait after the other, with locks held that others wait for: it must
// neither wait itself nor call the store.
class WaitObserver {
 public:
  virtual ~WaitObserver() = default;
  virtual void WaitBegins(Wait wait) noexcept = 0;
  virtual void WaitEnds() noexcept = 0;

  // Null: nobody. Set by the thread itself, for as long as the observer lives.
  static WaitObserver*& OfThisThread() { return of_this_thread_; }

 private:
  static inline constinit thread_local WaitObserver* of_this_thread_ = nullptr;
};

// As long as it lives its thread does nothing but wait. A wait within a wait is part of it.
class Waiting {
 public:
  explicit Waiting(Wait wait) : observer_(WaitObserver::OfThisThread()) {
    if (observer_ == nullptr) return;
    WaitObserver::OfThisThread() = nullptr;
    observer_->WaitBegins(wait);
  }
  ~Waiting() {
    if (observer_ == nullptr) return;
    observer_->WaitEnds();
    WaitObserver::OfThisThread() = observer_;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  WaitObserver* const observer_;
};

// Locks what may be held by one who waits: `lock` is a std::unique_lock or std::shared_lock that
// does not hold its mutex yet.
template <typename Lock>
inline void LockOrWait(Lock& lock) {
  if (lock.try_lock()) return;
  [](Lock& held) {
    const Waiting waiting(Wait::kMayBeShort);
    held.lock();
  }(lock);
}

// The lock of that mutex, likewise.
template <typename Mutex>
[[nodiscard]] inline std::unique_lock<Mutex> TakeLock(Mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  LockOrWait(lock);
  return lock;
}

}  // namespace cellfs

#endif  // CELLFS_ENGINE_WAITING_H_
