// SPDX-License-Identifier: MIT
#include "engine/memstore/large_writes.h"

#include "engine/waiting.h"

namespace cellfs {

bool LargeWrites::Turn::Take() {
  if (gate_ == nullptr || is_taken_) return true;
  const std::lock_guard lock(gate_->mutex_);
  if (gate_->is_under_way_) return false;
  is_taken_ = gate_->is_under_way_ = true;
  return true;
}

void LargeWrites::Turn::Await() {
  if (Take()) return;
  const Waiting waiting(Wait::kMayBeShort);
  std::unique_lock lock(gate_->mutex_);
  gate_->ended_.wait(lock, [this] { return !gate_->is_under_way_; });
  is_taken_ = gate_->is_under_way_ = true;
}

void LargeWrites::Turn::LetGo() {
  if (!is_taken_) return;
  {
    const std::lock_guard lock(gate_->mutex_);
    is_taken_ = gate_->is_under_way_ = false;
  }
  gate_->ended_.notify_one();
}

}  // namespace cellfs
