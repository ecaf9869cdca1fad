// SPDX-License-Identifier: MIT
//
// The store's source of time, injected so that tests can stand it still.
#ifndef CELLFS_ENGINE_CLOCK_H_
#define CELLFS_ENGINE_CLOCK_H_

#include <atomic>

#include "engine/cell.h"

namespace cellfs {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;  // milliseconds since 1970 UTC
  // Milliseconds since some moment; nobody sets it. For pauses and waits.
  virtual int64_t Elapsed() const = 0;
};

class SystemClock : public Clock {
 public:
  Timestamp Now() const override;
  int64_t Elapsed() const override;
};

// Stands still until it is told otherwise.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Timestamp now) : now_(now) {}
  Timestamp Now() const override { return now_.load(); }
  int64_t Elapsed() const override { return now_.load(); }
  void Set(Timestamp now) { now_.store(now); }
  void Advance(int64_t milliseconds) { now_.fetch_add(milliseconds); }

 private:
  std::atomic<Timestamp> now_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_CLOCK_H_
