// SPDX-License-Identifier: MIT
//
// SteppingBack: for which replies the threads of a queue step back (fs/kernel/scheduling.h).
//
// It takes two system calls, a quarter of the time of a short request, and pays only where the
// scheduler would take the asker to another processor: not where the asker is bound to this one, nor
// where the others have work. So threads step back where askers are moved: where of those whose reply
// came without it more than one in eight asks next by another processor's queue. They do so for a
// thousand replies, and look again.
#ifndef CELLFS_FS_KERNEL_STEPPING_BACK_H_
#define CELLFS_FS_KERNEL_STEPPING_BACK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cellfs::fs {

// Thread-safe. What several threads note at once may count as one: it is a guess.
class SteppingBack {
 public:
  explicit SteppingBack(size_t queues) : queues_(queues) {}

  // The thread of that number asks by the queue; 0: nobody is named.
  void Asks(uint32_t asker, uint16_t queue);
  // Whether the next reply in the queue is one for which its thread shall step back.
  bool IsDue(uint16_t queue);

 private:
  struct alignas(64) Queue {
    std::atomic<int> moves{0};  // weighed against those who stayed
    std::atomic<int> replies{0};  // that are left, for which its threads step back
  };

  static constexpr int kWeight = 8;  // of one who was moved, against one who stayed
  static constexpr int kEnough = 4 * kWeight;
  static constexpr int kReplies = 1000;

  std::vector<Queue> queues_;
  std::array<std::atomic<uint64_t>, 64> askers_{};  // by their number; with the queue in the low bits
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_STEPPING_BACK_H_
