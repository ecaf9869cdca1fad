// SPDX-License-Identifier: MIT
#include "fs/requests/pool_roles.h"

namespace cellfs::fs {

using Role = PoolRoles::Role;

// What lies aside was read before what is yet to be read. But while nobody reads no signal is heard:
// so reading comes first as long as what comes can be put aside as well.
Role PoolRoles::AfterServing() {
  if (has_ended_) return put_aside_ > 0 ? TakeFromAside() : Role::kLeaves;
  const bool can_read = reading_ == 0 && put_aside_ < kMostPutAside;
  if (put_aside_ > 0 && !IsAtLimit() && !can_read) return TakeFromAside();
  const Role role = reading_ == 0 ? Role::kReads : Role::kRests;
  Count(role, +1);
  return role;
}

Role PoolRoles::FoundEnd() {
  End();
  --reading_;
  return put_aside_ > 0 ? TakeFromAside() : Role::kLeaves;
}

Role PoolRoles::Rested() {
  if (!has_ended_ && !has_spare()) return Role::kRests;
  --resting_;
  return Role::kLeaves;
}

void PoolRoles::WaitBegins() {
  --serving_;
  ++waiting_;
}

void PoolRoles::WaitEnds() {
  --waiting_;
  ++serving_;
}

void PoolRoles::End() { has_ended_ = true; }

std::optional<PoolRoles::Call> PoolRoles::NextCall(bool reader) {
  const std::optional<Role> role = Lacks(reader);
  if (!role || (resting_ == 0 && !MayAddThread())) return std::nullopt;
  const bool is_new = resting_ == 0;
  if (!is_new) --resting_;
  Count(*role, +1);
  if (*role == Role::kServes) --put_aside_;
  return Call{*role, is_new};
}

void PoolRoles::CallFailed(Role role) {
  Count(role, -1);
  if (role == Role::kServes) ++put_aside_;
}

// After the end those that still serve take what lies aside.
std::optional<Role> PoolRoles::Lacks(bool reader) const {
  if (has_ended_) return std::nullopt;
  if (put_aside_ > 0 && !IsAtLimit()) return Role::kServes;
  if (reading_ == 0 && (reader || put_aside_ > 0)) return Role::kReads;
  return std::nullopt;
}

// One reads beside those that serve.
bool PoolRoles::MayAddThread() const {
  return reading_ + serving_ <= limit_ && threads() < kMostThreads;
}

Role PoolRoles::TakeFromAside() {
  --put_aside_;
  ++serving_;
  return Role::kServes;
}

void PoolRoles::Count(Role role, int change) {
  if (role == Role::kReads) reading_ += change;
  if (role == Role::kServes) serving_ += change;
  if (role == Role::kRests) resting_ += change;
}

}  // namespace cellfs::fs
