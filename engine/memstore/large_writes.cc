// SPDX-License-Identifier: MIT
#include "engine/memstore/large_writes.h"

#include "engine/waiting.h"

namespace cellfs {

bool LargeWrites::Turn::Take() {
  if (gate_ == nullptr || is_taken_) return true;
  const std::lock_guard lock(gate_->mutex_);
  if (!gate_->HasTurn()) return false;
  ++gate_->under_way_;
  is_taken_ = true;
  return true;
}

void LargeWrites::Turn::Await() {
  if (Take()) return;
  const Waiting waiting(Wait::kMayBeShort);
  std::unique_lock lock(gate_->mutex_);
  gate_->ended_.wait(lock, [this] { return gate_->HasTurn(); });
  ++gate_->under_way_;
  is_taken_ = true;
}

LargeWrites::Turn::~Turn() {
  if (!is_taken_) return;
  {
    const std::lock_guard lock(gate_->mutex_);
    --gate_->under_way_;
  }
  gate_->ended_.notify_one();
}

}  // namespace cellfs
