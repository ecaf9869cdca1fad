// SPDX-License-Identifier: MIT
#include "engine/memory_reserve.h"

#include <new>
#include <utility>

namespace cellfs {
namespace {

thread_local MemoryReserve* innermost = nullptr;

}  // namespace

MemoryReserve::MemoryReserve(size_t bytes) : bytes_(::operator new(bytes)), outer_(innermost) {
  std::set_new_handler(Give);
  innermost = this;
}

MemoryReserve::~MemoryReserve() {
  innermost = outer_;
  ::operator delete(bytes_);
}

// operator new calls it when memory has run out, and tries again if it returns.
void MemoryReserve::Give() {
  for (MemoryReserve* reserve = innermost; reserve != nullptr; reserve = reserve->outer_) {
    if (reserve->bytes_ == nullptr) continue;
    return ::operator delete(std::exchange(reserve->bytes_, nullptr));
  }
  throw std::bad_alloc();
}

}  // namespace cellfs
