// SPDX-License-Identifier: MIT
//
// LargeWrites: a gate for writes of a megabyte and more, of which two go on at a time. So who puts
// large values from many threads takes memory for two beyond what memstores may have, and a small
// write stands behind two of his in the log's queue, not behind all.
#ifndef CELLFS_ENGINE_MEMSTORE_LARGE_WRITES_H_
#define CELLFS_ENGINE_MEMSTORE_LARGE_WRITES_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cellfs {

// Thread-safe.
class LargeWrites {
 public:
  static constexpr uint64_t kLarge = uint64_t{1} << 20;  // bytes
  static constexpr int kMostAtATime = 2;

  // Of one write, from when it may go on until it is in the log. One that is not large needs none.
  class Turn {
   public:
    Turn(LargeWrites& gate, uint64_t bytes) : gate_(bytes >= kLarge ? &gate : nullptr) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool Take();   // at once; false: others have theirs
    void Await();  // waits for it
    bool is_large() const { return gate_ != nullptr; }

   private:
    LargeWrites* const gate_;  // null: it is none
    bool is_taken_ = false;
  };

 private:
  bool HasTurn() const { return under_way_ < kMostAtATime; }

  std::mutex mutex_;  // a leaf
  std::condition_variable ended_;
  int under_way_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_LARGE_WRITES_H_
