// SPDX-License-Identifier: MIT
//
// A Bloom filter in blocks: all bits of a key lie in one block, so that a question needs one block.
// Keys are rows, columns, and the family tombstones of a row; ten bits and seven probes a key make
// one false answer in a hundred.
#ifndef CELLFS_ENGINE_LOCAL_BLOOM_FILTER_H_
#define CELLFS_ENGINE_LOCAL_BLOOM_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cellfs {

inline constexpr size_t kFilterBlockSize = 4000;  // a row of SQLite of that size lies in one page

// Keys of different kinds are hashed with different seeds.
uint64_t HashOfRow(std::string_view row);
uint64_t HashOfColumn(std::string_view row, std::string_view qualifier);
uint64_t HashOfFamilyTombstones(std::string_view row);

int64_t BlockOf(uint64_t hash, int64_t blocks);
// False: the key was not added. `block` is that of the key.
bool MayContain(std::string_view block, uint64_t hash);

// Not thread-safe.
class BloomFilterBuilder {
 public:
  // The filter has at most 256 MiB; beyond 200,000,000 keys there are more false answers.
  explicit BloomFilterBuilder(int64_t keys_at_most);

  void Add(uint64_t hash);
  int64_t blocks() const { return blocks_; }
  std::string_view Block(int64_t number) const;

 private:
  const int64_t blocks_;
  std::string bits_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_BLOOM_FILTER_H_
