// SPDX-License-Identifier: MIT
#include "engine/memstore/large_writes.h"

#include "engine/waiting.h"

namespace cellfs {

LargeWrites::Turn::Turn(LargeWrites& gate, uint64_t bytes)
    : gate_(bytes >= kLarge ? &gate : nullptr) {
  if (gate_ == nullptr) return;
  const Waiting waiting(Wait::kMayBeShort);
  std::unique_lock lock(gate.mutex_);
  gate.ended_.wait(lock, [&] { return gate.under_way_ < kMostAtATime; });
  ++gate.under_way_;
}

LargeWrites::Turn::~Turn() {
  if (gate_ == nullptr) return;
  {
    const std::lock_guard lock(gate_->mutex_);
    --gate_->under_way_;
  }
  gate_->ended_.notify_one();
}

}  // namespace cellfs
