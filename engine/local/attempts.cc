// SPDX-License-Identifier: MIT
#include "engine/local/attempts.h"

#include <algorithm>

namespace cellfs {

bool Attempts::MayTry(int64_t now) const {
  const std::lock_guard lock(mutex_);
  return last_.ok() || now >= next_;
}

void Attempts::Ended(const Status& status, int64_t now) {
  const std::lock_guard lock(mutex_);
  last_ = status;
  pause_ = status.ok() ? 0 : std::clamp(2 * pause_, kFirstPause, kLongestPause);
  next_ = now + pause_;
}

int64_t Attempts::PauseLeft(int64_t now) const {
  const std::lock_guard lock(mutex_);
  return last_.ok() ? 0 : std::max<int64_t>(next_ - now, 0);
}

Status Attempts::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace cellfs
