// SPDX-License-Identifier: MIT
#include "engine/memstore/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

namespace cellfs {
namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);
constexpr size_t kHugePage = size_t{2} << 20;  // of most machines; elsewhere a block like another

}  // namespace

void Arena::Free::operator()(char* block) const {
  if (mapped == 0) {
    delete[] block;
  } else {
    (void)munmap(block, mapped);
  }
}

Arena::Block Arena::NewBlock(size_t size) {
  if (size == kHugePage) return MapHugePage();
  return {new char[size], Free()};
}

// The heap's blocks begin anywhere. What is mapped around the page goes at once.
Arena::Block Arena::MapHugePage() {
  void* const mapped = mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
  char* const block = begin + before;
  if (before > 0) (void)munmap(begin, before);
  (void)munmap(block + kHugePage, kHugePage - before);
  (void)madvise(block, kHugePage, MADV_HUGEPAGE);
  return {block, Free{kHugePage}};
}

char* Arena::Allocate(size_t size) {
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size > left_) {
    if (size > block_size_ / 4) {  // a block of its own, and the present one goes on
      blocks_.push_back(NewBlock(size));
      return blocks_.back().get();
    }
    blocks_.push_back(NewBlock(block_size_));
    next_ = blocks_.back().get();
    left_ = block_size_;
    block_size_ = std::min(block_size_ * 2, kHugePage);
  }
  char* const allocated = next_;
  next_ += size;
  left_ -= size;
  return allocated;
}

std::string_view Arena::Take(std::string&& bytes) {
  taken_.push_back(std::move(bytes));
  return taken_.back();
}

void Arena::ReturnTo(const Mark& mark) {
  blocks_.resize(mark.blocks);
  taken_.resize(mark.taken);
  next_ = mark.next;
  left_ = mark.left;
}

}  // namespace cellfs
