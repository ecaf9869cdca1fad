// SPDX-License-Identifier: MIT
#include "fs/base/shared_limit.h"

namespace cellfs::fs {

uint64_t SharedLimit::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

bool SharedLimit::Change(uid_t user, uint64_t from, uint64_t to) {
  const std::lock_guard lock(mutex_);
  uint64_t& of_user = by_user_[user];
  const uint64_t used = used_ - from + to;
  const uint64_t wanted = of_user - from + to;
  const bool fits = to <= from || (used <= limit_ && wanted <= limit_ - used);
  if (fits) {
    used_ = used;
    of_user = wanted;
  }
  if (of_user == 0) by_user_.erase(user);
  return fits;
}

bool SharedLimit::Share::Resize(uint64_t amount) {
  if (amount == amount_) return true;
  if (!limit_.Change(user_, amount_, amount)) return false;
  amount_ = amount;
  return true;
}

}  // namespace cellfs::fs
