// SPDX-License-Identifier: MIT
//
// ScanSlots: how many scans may run at a time, so that threads are left for all else. A slot goes
// to the user who holds the fewest, of those to who has waited longest; the last one only to who
// holds none, for a step can be long. Who had one for a while passes it on (requests/long_work.h).
#ifndef CELLFS_FS_REQUESTS_SCAN_SLOTS_H_
#define CELLFS_FS_REQUESTS_SCAN_SLOTS_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>

#include "fs/base/outcome.h"

namespace cellfs::fs {

// Thread-safe.
class ScanSlots {
 public:
  // Of one user: a thread waits for each.
  static constexpr int kMostInLineOfUser = 64;

  // One piece of work in line: made by its thread, cancelled by any.
  class Ticket {
   public:
    explicit Ticket(uid_t uid) : uid_(uid) {}

    // Once it is true it stays so.
    const std::atomic<bool>& cancelled() const { return cancelled_; }

   private:
    friend class ScanSlots;
    const uid_t uid_;
    std::atomic<bool> cancelled_{false};
    bool has_slot_ = false;  // guarded by the slots' mutex
    std::condition_variable changed_;
  };

  // Before any ticket is made.
  void SetLimit(int limit) { limit_ = limit; }
  // Cancels all tickets, and those to come: nobody is served any more.
  void Close();

  void Enter(Ticket& ticket);
  // Waits for a slot. EINTR: cancelled; EBUSY: the user has too many in line.
  Outcome Take(Ticket& ticket);
  // Gives the slot, if there is one, to the next in line. Take may be called again.
  void GiveBack(Ticket& ticket);
  void Cancel(Ticket& ticket);
  // The last call for a ticket.
  void Leave(Ticket& ticket);

  // How many threads wait for a slot.
  int waiting() const { return waiting_.load(); }

 private:
  int CountSlotsOf(uid_t uid) const;
  void PassOn();
  void WaitInLine(Ticket& ticket, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // guards the rest
  int limit_ = 5;
  int taken_ = 0;
  bool closed_ = false;
  std::list<Ticket*> tickets_;  // all
  std::list<Ticket*> line_;     // those that wait
  std::atomic<int> waiting_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_SCAN_SLOTS_H_
