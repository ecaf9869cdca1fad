// SPDX-License-Identifier: MIT
//
// LongWork: what a request does that may take long, in steps. Between two steps it ends if who
// asked has given up, waits for its turn, and lets others have theirs (fs/requests/scan_slots.h).
// So no step may be taken under a lock.
#ifndef CELLFS_FS_REQUESTS_LONG_WORK_H_
#define CELLFS_FS_REQUESTS_LONG_WORK_H_

#include <atomic>
#include <chrono>
#include <functional>

#include "fs/base/outcome.h"
#include "fs/requests/scan_slots.h"

namespace cellfs::fs {

class RunningRequest;

// How long a step may take.
inline constexpr std::chrono::milliseconds kLongestStep{50};

// Used by one thread, and never inside of another's step. Work that no request asked for waits for
// no turn, and ends with the mount.
class LongWork {
 public:
  // Work that may be short has one step free, and needs a turn only if it goes on for a while.
  enum class Kind { kMayBeShort, kIsLong };

  LongWork(ScanSlots& slots, Kind kind);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // Before each step. EINTR: nobody waits for it any more; EBUSY: too many wait.
  Outcome Step();
  // For what the step reads: true once nobody waits for it.
  const std::atomic<bool>* cancelled() const { return &ticket_.cancelled(); }

 private:
  using Clock = std::chrono::steady_clock;

  void Start();
  Outcome TakeSlot();

  ScanSlots& slots_;
  const Kind kind_;
  RunningRequest* const request_;
  ScanSlots::Ticket ticket_;
  const std::function<void()> heard_ = [this] { slots_.Cancel(ticket_); };
  bool took_a_step_ = false;
  bool started_ = false;
  bool has_slot_ = false;
  Clock::time_point since_;  // it began, or took its slot
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_LONG_WORK_H_
