// SPDX-License-Identifier: MIT
#include "fs/requests/scan_slots.h"

#include <algorithm>

#include "engine/waiting.h"

namespace cellfs::fs {

void ScanSlots::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (Claim* claim : claims_) {
    claim->cancelled_ = true;
    claim->changed_.notify_one();
  }
}

void ScanSlots::Enter(Claim& claim) {
  std::lock_guard lock(mutex_);
  claim.cancelled_ = closed_;
  claims_.push_back(&claim);
}

Outcome ScanSlots::Take(Claim& claim) {
  std::unique_lock lock(mutex_);
  if (std::count_if(line_.begin(), line_.end(), [&](const Claim* other) {
        return other->uid_ == claim.uid_;
      }) >= kMostInLineOfUser) {
    return {EBUSY, "this user has " + std::to_string(kMostInLineOfUser) + " scans waiting already"};
  }
  line_.push_back(&claim);
  PassOn();
  WaitInLine(claim, lock);
  if (claim.has_slot_) return {};
  line_.remove(&claim);
  return Outcome(EINTR);
}

void ScanSlots::WaitInLine(Claim& claim, std::unique_lock<std::mutex>& lock) {
  const auto is_over = [&] { return claim.has_slot_ || claim.cancelled_; };
  if (is_over()) return;
  const Waiting waiting(Wait::kIsLong);
  waiting_.fetch_add(1);
  claim.changed_.wait(lock, is_over);
  waiting_.fetch_sub(1);
}

void ScanSlots::GiveBack(Claim& claim) {
  std::lock_guard lock(mutex_);
  if (!claim.has_slot_) return;
  claim.has_slot_ = false;
  --taken_;
  PassOn();
}

void ScanSlots::Cancel(Claim& claim) {
  std::lock_guard lock(mutex_);
  claim.cancelled_ = true;
  claim.changed_.notify_one();
}

void ScanSlots::Leave(Claim& claim) {
  GiveBack(claim);
  std::lock_guard lock(mutex_);
  claims_.remove(&claim);
}

int ScanSlots::CountSlotsOf(uid_t uid) const {
  return static_cast<int>(std::count_if(claims_.begin(), claims_.end(), [&](const Claim* claim) {
    return claim->has_slot_ && claim->uid_ == uid;
  }));
}

// REQUIRES: the mutex.
void ScanSlots::PassOn() {
  while (taken_ < limit_ && !line_.empty()) {
    const auto next =
        std::min_element(line_.begin(), line_.end(), [this](const Claim* a, const Claim* b) {
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
