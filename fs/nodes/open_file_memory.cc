// SPDX-License-Identifier: MIT
#include "fs/nodes/open_file_memory.h"

#include <algorithm>
#include <string>

namespace cellfs::fs {
namespace {

// A handle itself takes about as much, and processes may have only so many of them; so most files
// are never counted.
constexpr uint64_t kNotCounted = uint64_t{4} << 10;
// So that not every write of a file that grows has to count.
constexpr uint64_t kStep = uint64_t{64} << 10;
constexpr uint64_t kUsers = 2;
constexpr uint64_t kValuesOfUser = 2;

uint64_t Counted(uint64_t bytes) {
  return bytes <= kNotCounted ? 0 : (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

OpenFileMemory::OpenFileMemory(uint64_t limit, uint64_t max_value_size)
    : limit_(std::max(limit, kUsers * kValuesOfUser * Counted(max_value_size))) {}

uint64_t OpenFileMemory::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Outcome OpenFileMemory::Full(int error) const {
  return {error, "open files keep " + std::to_string(used()) + " of " + std::to_string(limit_) +
                     " bytes in memory, and a user may have half: close some, or raise "
                     "open_file_limit in [mount]"};
}

bool OpenFileMemory::Change(uid_t user, uint64_t from, uint64_t to) {
  const std::lock_guard lock(mutex_);
  uint64_t& by_user = by_user_[user];
  const bool fits =
      to <= from || (used_ - from + to <= limit_ && by_user - from + to <= limit_ / kUsers);
  if (fits) {
    used_ += to - from;
    by_user += to - from;
  }
  if (by_user == 0) by_user_.erase(user);
  return fits;
}

OpenFileMemory::Share::~Share() { static_cast<void>(Resize(0)); }

bool OpenFileMemory::Share::Resize(uint64_t bytes) {
  const uint64_t counted = Counted(bytes);
  if (counted == counted_) return true;
  if (!memory_.Change(user_, counted_, counted)) return false;
  counted_ = counted;
  return true;
}

}  // namespace cellfs::fs
