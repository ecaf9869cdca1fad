// SPDX-License-Identifier: MIT
//
// Memory that runs out for this thread: the program that is linked with failing_memory.cc allocates
// through it.
#ifndef CELLFS_TESTS_SUPPORT_FAILING_MEMORY_H_
#define CELLFS_TESTS_SUPPORT_FAILING_MEMORY_H_

#include <cstdint>

namespace cellfs {

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
