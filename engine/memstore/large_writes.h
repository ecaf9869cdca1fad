// SPDX-License-Identifier: MIT
//
// LargeWrites: a gate for writes of a megabyte and more, of which one goes on at a time. So who puts
// large values from many threads takes memory for one beyond what memstores may have, and a small
// write stands behind one of his, in the queue of its row or of the log, not behind all.
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

  // Of one write, from when it may go on until it is in the log. One that is not large needs none.
  class Turn {
   public:
    Turn(LargeWrites& gate, uint64_t bytes) : gate_(bytes >= kLarge ? &gate : nullptr) {}
    ~Turn() { LetGo(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool Take();   // at once; false: another has his
    void Await();  // waits for it
    void LetGo();
    bool is_large() const { return gate_ != nullptr; }

   private:
    LargeWrites* const gate_;  // null: it is none
    bool is_taken_ = false;
  };

 private:
  std::mutex mutex_;  // a leaf
  std::condition_variable ended_;
  bool is_under_way_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_LARGE_WRITES_H_
