// SPDX-License-Identifier: MIT
#include "tests/support/failing_memory.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace cellfs {
namespace {

thread_local bool is_failing = false;
thread_local bool failed = false;
thread_local int64_t successes_left = 0;
thread_local int64_t failures_left = 0;

bool Fails() {
  if (!is_failing || successes_left-- > 0 || failures_left == 0) return false;
  --failures_left;
  return failed = true;
}

// As the library's does, a handler may give memory back: enough for the work it was set aside for.
constexpr int64_t kSuccessesAfterHandler = 2000;

void* Allocate(size_t bytes, size_t alignment) {
  if (Fails()) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    successes_left = kSuccessesAfterHandler;
  }
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* AllocateOrThrow(size_t bytes, size_t alignment) {
  void* const memory = Allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* AllocateOrNull(size_t bytes) {
  try {
    return Allocate(bytes, 0);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

FailingMemory::FailingMemory(int64_t first_failing, int64_t failures) {
  failed = false;
  successes_left = first_failing;
  failures_left = failures;
  is_failing = true;
}

FailingMemory::~FailingMemory() { is_failing = false; }

bool FailingMemory::has_failed() const { return failed; }

}  // namespace cellfs

void* operator new(size_t bytes) { return cellfs::AllocateOrThrow(bytes, 0); }
void* operator new[](size_t bytes) { return cellfs::AllocateOrThrow(bytes, 0); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return cellfs::AllocateOrNull(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return cellfs::AllocateOrNull(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return cellfs::AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return cellfs::AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
