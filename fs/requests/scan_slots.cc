// SPDX-License-Identifier: MIT
#include "fs/requests/scan_slots.h"

#include <algorithm>

#include "engine/waiting.h"

namespace cellfs::fs {

void ScanSlots::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (Ticket* ticket : tickets_) {
    ticket->cancelled_ = true;
    ticket->changed_.notify_one();
  }
}

void ScanSlots::Enter(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  ticket.cancelled_ = closed_;
  tickets_.push_back(&ticket);
}

Outcome ScanSlots::Take(Ticket& ticket) {
  std::unique_lock lock(mutex_);
  if (std::count_if(line_.begin(), line_.end(), [&](const Ticket* other) {
        return other->uid_ == ticket.uid_;
      }) >= kMostInLineOfUser) {
    return {EBUSY, "this user has " + std::to_string(kMostInLineOfUser) + " scans waiting already"};
  }
  line_.push_back(&ticket);
  PassOn();
  WaitInLine(ticket, lock);
  if (ticket.has_slot_) return {};
  line_.remove(&ticket);
  return Outcome(EINTR);
}

void ScanSlots::WaitInLine(Ticket& ticket, std::unique_lock<std::mutex>& lock) {
  const auto is_over = [&] { return ticket.has_slot_ || ticket.cancelled_; };
  if (is_over()) return;
  const Waiting waiting(Wait::kIsLong);
  waiting_.fetch_add(1);
  ticket.changed_.wait(lock, is_over);
  waiting_.fetch_sub(1);
}

void ScanSlots::GiveBack(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  if (!ticket.has_slot_) return;
  ticket.has_slot_ = false;
  --taken_;
  PassOn();
}

void ScanSlots::Cancel(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  ticket.cancelled_ = true;
  ticket.changed_.notify_one();
}

void ScanSlots::Leave(Ticket& ticket) {
  GiveBack(ticket);
  std::lock_guard lock(mutex_);
  tickets_.remove(&ticket);
}

int ScanSlots::CountSlotsOf(uid_t uid) const {
  const auto has_slot = [&](const Ticket* ticket) {
    return ticket->has_slot_ && ticket->uid_ == uid;
  };
  return static_cast<int>(std::count_if(tickets_.begin(), tickets_.end(), has_slot));
}

// REQUIRES: the mutex.
void ScanSlots::PassOn() {
  while (taken_ < limit_ && !line_.empty()) {
    const auto next =
        std::min_element(line_.begin(), line_.end(), [this](const Ticket* a, const Ticket* b) {
          return CountSlotsOf(a->uid_) < CountSlotsOf(b->uid_);
        });
    const bool is_last = taken_ > 0 && taken_ + 1 == limit_;
    if (is_last && CountSlotsOf((*next)->uid_) > 0) return;
    (*next)->has_slot_ = true;
    (*next)->changed_.notify_one();
    ++taken_;
    line_.erase(next);
  }
}

}  // namespace cellfs::fs
