// SPDX-License-Identifier: MIT
//
// MemoryReserve: memory set aside before work that must not run out of it on the way. The JSON
// library allocates in its destructors, where an exception ends the process: who uses it takes a
// reserve first, and finds out there whether there is memory.
#ifndef CELLFS_ENGINE_MEMORY_RESERVE_H_
#define CELLFS_ENGINE_MEMORY_RESERVE_H_

#include <cstddef>

namespace cellfs {

// Of its thread, and may be taken within another. What the thread allocates while it lives comes
// from the heap, and once that fails from the reserve. That is address space: no page of it is
// touched.
class MemoryReserve {
 public:
  static constexpr size_t kOfSmallText = size_t{1} << 20;

  // Throws std::bad_alloc where there are not as many bytes.
  explicit MemoryReserve(size_t bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

 private:
  static void Give();

  void* bytes_;
  MemoryReserve* const outer_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMORY_RESERVE_H_
