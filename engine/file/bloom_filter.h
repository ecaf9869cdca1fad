// SPDX-License-Identifier: MIT
//
// A Bloom filter over the keys of a store file, so that most files in which a key is not need not
// be read. It lies in blocks, all bits of a key in one of them, so that a question reads one block.
// At 10 bits and 7 probes for each key fewer than 1.5 % of the keys that are not there look as if
// they were.
//
// Keys are hashes. Those of rows, of columns and of family tombstones have seeds of their own, so
// that equal bytes in different places are different keys.
#ifndef CELLFS_ENGINE_FILE_BLOOM_FILTER_H_
#define CELLFS_ENGINE_FILE_BLOOM_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellfs {

inline constexpr int64_t kFilterBlockSize = 4000;  // bytes; with its number it fits in a page
// 64 MiB, for 53 million keys. With more keys than that more of them look as if they were there.
inline constexpr int64_t kMostFilterBlocks = (int64_t{64} << 20) / kFilterBlockSize;

uint64_t HashOfRow(std::string_view row);
uint64_t HashOfColumn(std::string_view row, std::string_view qualifier);
uint64_t HashOfFamilyTombstones(std::string_view row);

// The block, of so many, that has the bits of the key. REQUIRES: blocks > 0.
int64_t BlockOf(uint64_t hash, int64_t blocks);
// False: the key was not added. A block that is damaged (of another size) may contain every key.
bool MayContain(std::string_view block, uint64_t hash);

// One thread at a time.
class BloomFilterBuilder {
 public:
  // More keys may be added than that, at the price of more that look as if they were there.
  explicit BloomFilterBuilder(int64_t keys_at_most);

  // The same key may come again.
  void Add(uint64_t hash);

  int64_t blocks() const { return blocks_; }  // at least 1
  // Counts from 0. Good until a key is added.
  std::string_view Block(int64_t number);

 private:
  void SetBits(uint64_t hash);
  void SetWaiting();

  const int64_t blocks_;
  std::string bytes_;
  // The last keys, whose bits are on their way to the processor: they lie all over the memory, and
  // to wait for each takes a fifth of the time of a compaction.
  std::array<uint64_t, 32> waiting_{};
  size_t added_ = 0;  // since none waited
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_BLOOM_FILTER_H_
