// SPDX-License-Identifier: MIT
//
// Arena: bytes that are freed together. Much of it lies in huge pages, where the kernel has them: a
// search in a skip list of a hundred megabytes goes from one page to another, and of small ones the
// processor knows too few.
#ifndef CELLFS_ENGINE_MEMSTORE_ARENA_H_
#define CELLFS_ENGINE_MEMSTORE_ARENA_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cellfs {

// One thread allocates at a time.
class Arena {
 public:
  // Aligned for any object. std::bad_alloc.
  char* Allocate(size_t size);
  // Without a copy. REQUIRES: more of them than a std::string has within itself.
  std::string_view Take(std::string&& bytes);

  // Gives back what was allocated since `mark`.
  struct Mark {
    size_t blocks = 0;
    size_t taken = 0;
    char* next = nullptr;
    size_t left = 0;
  };
  Mark Here() const { return {blocks_.size(), taken_.size(), next_, left_}; }
  void ReturnTo(const Mark& mark);

 private:
  struct Free {
    size_t mapped = 0;  // bytes; 0: it is of the heap
    void operator()(char* block) const;
  };
  using Block = std::unique_ptr<char[], Free>;
  static Block NewBlock(size_t size);
  static Block MapHugePage();

  std::vector<Block> blocks_;
  std::vector<std::string> taken_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t block_size_ = 4096;  // of the next block; grows, so that small tables stay small
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_MEMSTORE_ARENA_H_
