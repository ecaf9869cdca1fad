// SPDX-License-Identifier: MIT
//
// Memory that runs out for this thread: the program that is linked with failing_memory.cc allocates
// through it.
#ifndef CELLFS_TESTS_SUPPORT_FAILING_MEMORY_H_
#define CELLFS_TESTS_SUPPORT_FAILING_MEMORY_H_

#include <cstdint>

namespace cellfs {

// Who tries each allocation tries every so-manieth: with the sanitizer it takes ten times as long.
#ifdef __SANITIZE_ADDRESS__
inline constexpr int64_t kFailingMemoryStep = 7;
#else
inline constexpr int64_t kFailingMemoryStep = 1;
#endif

// While it lives, the allocations of this thread from the `first_failing`th on fail (0: the next
// one); of these at most `failures`.
class FailingMemory {
 public:
  FailingMemory(int64_t first_failing, int64_t failures);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  // Whether any has failed so far.
  bool has_failed() const;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_FAILING_MEMORY_H_
