// SPDX-License-Identifier: MIT
#include "engine/local/bloom_filter.h"

#include <xxhash.h>

#include <algorithm>

namespace cellfs {
namespace {

constexpr int64_t kBitsOfKey = 10;
constexpr int kProbes = 7;
constexpr uint64_t kBitsOfBlock = kFilterBlockSize * 8;
constexpr int64_t kMostBlocks = (int64_t{256} << 20) / static_cast<int64_t>(kFilterBlockSize);

constexpr uint64_t kRowSeed = 1;
constexpr uint64_t kColumnSeed = 2;
constexpr uint64_t kFamilyTombstonesSeed = 3;

int64_t BlocksFor(int64_t keys) {
  const auto bits = static_cast<int64_t>(kBitsOfBlock);
  return std::clamp<int64_t>((keys * kBitsOfKey + bits - 1) / bits, 1, kMostBlocks);
}

// Double hashing over the lower half: the upper chooses the block.
class Probes {
 public:
  explicit Probes(uint64_t hash)
      : next_(static_cast<uint32_t>(hash)), step_((next_ >> 17 | next_ << 15) | 1) {}
  uint64_t Next() {
    const uint64_t bit = uint64_t{next_} * kBitsOfBlock >> 32;
    next_ += step_;
    return bit;
  }

 private:
  uint32_t next_;
  const uint32_t step_;
};

}  // namespace

uint64_t HashOfRow(std::string_view row) {
  return XXH3_64bits_withSeed(row.data(), row.size(), kRowSeed);
}

uint64_t HashOfColumn(std::string_view row, std::string_view qualifier) {
  const uint64_t of_row = XXH3_64bits_withSeed(row.data(), row.size(), kColumnSeed);
  return XXH3_64bits_withSeed(qualifier.data(), qualifier.size(), of_row);
}

uint64_t HashOfFamilyTombstones(std::string_view row) {
  return XXH3_64bits_withSeed(row.data(), row.size(), kFamilyTombstonesSeed);
}

int64_t BlockOf(uint64_t hash, int64_t blocks) {
  return static_cast<int64_t>((hash >> 32) * static_cast<uint64_t>(blocks) >> 32);
}

bool MayContain(std::string_view block, uint64_t hash) {
  Probes probes(hash);
  for (int i = 0; i < kProbes; ++i) {
    const uint64_t bit = probes.Next();
    if ((static_cast<unsigned char>(block[bit / 8]) >> bit % 8 & 1) == 0) return false;
  }
  return true;
}

BloomFilterBuilder::BloomFilterBuilder(int64_t keys_at_most)
    : blocks_(BlocksFor(keys_at_most)),
      bits_(static_cast<size_t>(blocks_) * kFilterBlockSize, '\0') {}

void BloomFilterBuilder::Add(uint64_t hash) {
  char* const block = bits_.data() + static_cast<size_t>(BlockOf(hash, blocks_)) * kFilterBlockSize;
  Probes probes(hash);
  for (int i = 0; i < kProbes; ++i) {
    const uint64_t bit = probes.Next();
    block[bit / 8] = static_cast<char>(block[bit / 8] | 1 << bit % 8);
  }
}

std::string_view BloomFilterBuilder::Block(int64_t number) const {
  return std::string_view(bits_).substr(static_cast<size_t>(number) * kFilterBlockSize,
                                        kFilterBlockSize);
}

}  // namespace cellfs
