// SPDX-License-Identifier: MIT
#include "fs/base/line_rate.h"

#include <algorithm>
#include <utility>

namespace cellfs::fs {

LineRate::Turn LineRate::Take(uid_t user, Timestamp now) {
  User* const known = Find(user, now);
  if (known == nullptr) return {};
  AddPauses(*known, now);
  if (known->left == 0) {
    ++known->left_out;
    return {};
  }
  --known->left;
  return {.may_write = true,
          .is_last = known->left == 0,
          .left_out = std::exchange(known->left_out, 0)};
}

LineRate::User* LineRate::Find(uid_t user, Timestamp now) {
  if (const auto known = users_.find(user); known != users_.end()) return &known->second;
  if (users_.size() >= kUsers) {
    for (auto& each : users_) AddPauses(each.second, now);
    std::erase_if(users_, [](const auto& each) { return each.second.left == kAtOnce; });
  }
  if (users_.size() >= kUsers) return nullptr;
  return &users_.emplace(user, User{.counted = now}).first->second;
}

// A clock that is set back adds none, and counts from there.
void LineRate::AddPauses(User& user, Timestamp now) {
  const int64_t pauses = std::max<int64_t>(0, (now - user.counted) / kPause);
  user.left = std::min(kAtOnce, user.left + pauses);
  const bool starts_anew = user.left == kAtOnce || now < user.counted;
  user.counted = starts_anew ? now : user.counted + pauses * kPause;
}

}  // namespace cellfs::fs
