// SPDX-License-Identifier: MIT
#include "fs/kernel/stepping_back.h"

namespace cellfs::fs {
namespace {

constexpr int kBitsOfQueue = 16;
constexpr uint64_t kQueue = (uint64_t{1} << kBitsOfQueue) - 1;

}  // namespace

void SteppingBack::Asks(uint32_t asker, uint16_t queue) {
  if (asker == 0) return;
  std::atomic<uint64_t>& last = askers_[asker % askers_.size()];
  const uint64_t now = uint64_t{asker} << kBitsOfQueue | queue;
  const uint64_t before = last.load(std::memory_order_relaxed);
  if (before != now) last.store(now, std::memory_order_relaxed);
  if (before >> kBitsOfQueue != asker) return;
  Queue& replied = queues_[before & kQueue];
  if (replied.replies.load(std::memory_order_relaxed) > 0) return;
  const int moves = replied.moves.load(std::memory_order_relaxed);
  if (before == now) {
    if (moves > 0) replied.moves.store(moves - 1, std::memory_order_relaxed);
  } else if (moves + kWeight < kEnough) {
    replied.moves.store(moves + kWeight, std::memory_order_relaxed);
  } else {
    replied.moves.store(0, std::memory_order_relaxed);
    replied.replies.store(kReplies, std::memory_order_relaxed);
  }
}

bool SteppingBack::IsDue(uint16_t queue) {
  std::atomic<int>& replies = queues_[queue].replies;
  const int left = replies.load(std::memory_order_relaxed);
  if (left <= 0) return false;
  replies.store(left - 1, std::memory_order_relaxed);
  return true;
}

}  // namespace cellfs::fs
