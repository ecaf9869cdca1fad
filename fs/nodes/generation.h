// SPDX-License-Identifier: MIT
//
// Generation: grows whenever what is read of a thing may have changed. All things count together,
// so that one number tells of any of them whether it changed since then.
#ifndef CELLFS_FS_NODES_GENERATION_H_
#define CELLFS_FS_NODES_GENERATION_H_

#include <atomic>
#include <cstdint>

namespace cellfs::fs {

// What a change may have done to what is shown.
enum class Change { kAny, kTookAway };

// Thread-safe; takes no lock.
class Generation {
 public:
  uint64_t get() const { return generation_.load(std::memory_order_acquire); }
  // Above all that there are.
  void Raise(Change change) { RaiseTo(Next(change)); }
  // Where it is lower.
  void RaiseTo(uint64_t generation) {
    uint64_t before = get();
    while (before < generation && !generation_.compare_exchange_weak(before, generation)) {
    }
  }

  // The newest of all. What is read after this is stale only if its generation exceeds it.
  static uint64_t Newest() { return newest_.load(std::memory_order_acquire); }
  static uint64_t Next(Change change = Change::kAny) {
    if (change == Change::kAny) comings_.fetch_add(1, std::memory_order_acq_rel);
    return newest_.fetch_add(1, std::memory_order_acq_rel) + 1;
  }
  // Counts the changes by which something may have come. What was seen not to be there is there only
  // if this has grown since before that was looked at.
  static uint64_t Comings() { return comings_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> generation_{1};
  static inline std::atomic<uint64_t> newest_{1};
  static inline std::atomic<uint64_t> comings_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_GENERATION_H_
