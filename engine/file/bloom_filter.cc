// SPDX-License-Identifier: MIT
#include "engine/file/bloom_filter.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace cellfs {
namespace {

constexpr int64_t kBitsOfBlock = kFilterBlockSize * 8;
constexpr int64_t kBitsOfKey = 10;
constexpr int kProbes = 7;
constexpr int64_t kKeysOfBlock = kBitsOfBlock / kBitsOfKey;

enum Seed : uint64_t { kRowSeed = 1, kColumnSeed, kFamilyTombstonesSeed };

uint64_t Hash(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// Where a key's bits lie within its block, one after another: double hashing over the low half of
// the hash, as the high half chose the block.
class Probes {
 public:
  explicit Probes(uint64_t hash)
      : at_(static_cast<uint32_t>(hash)), step_(std::rotr(at_, 17) | 1) {}
  uint32_t Next() {
    const auto bit = static_cast<uint32_t>((uint64_t{at_} * kBitsOfBlock) >> 32);
    at_ += step_;
    return bit;
  }

 private:
  uint32_t at_;
  const uint32_t step_;
};

unsigned MaskOf(uint32_t bit) { return 1u << (bit % 8); }

int64_t BlocksFor(int64_t keys) {
  return std::clamp(keys / kKeysOfBlock + 1, int64_t{1}, kMostFilterBlocks);
}

}  // namespace

uint64_t HashOfRow(std::string_view row) { return Hash(row, kRowSeed); }

// The hash of the row seeds that of the qualifier, so that no byte can move from one to the other.
uint64_t HashOfColumn(std::string_view row, std::string_view qualifier) {
  return Hash(qualifier, Hash(row, kColumnSeed));
}

uint64_t HashOfFamilyTombstones(std::string_view row) { return Hash(row, kFamilyTombstonesSeed); }

int64_t BlockOf(uint64_t hash, int64_t blocks) {
  return static_cast<int64_t>(((hash >> 32) * static_cast<uint64_t>(blocks)) >> 32);
}

bool MayContain(std::string_view block, uint64_t hash) {
  if (block.size() != kFilterBlockSize) return true;
  Probes probes(hash);
  for (int i = 0; i < kProbes; ++i) {
    const uint32_t bit = probes.Next();
    if ((static_cast<unsigned char>(block[bit / 8]) & MaskOf(bit)) == 0) return false;
  }
  return true;
}

BloomFilterBuilder::BloomFilterBuilder(int64_t keys_at_most)
    : blocks_(BlocksFor(keys_at_most)),
      bytes_(static_cast<size_t>(blocks_ * kFilterBlockSize), '\0') {}

void BloomFilterBuilder::Add(uint64_t hash) {
  uint64_t& place = waiting_[added_ % waiting_.size()];
  if (added_++ >= waiting_.size()) SetBits(place);
  place = hash;
  const char* const block = bytes_.data() + BlockOf(hash, blocks_) * kFilterBlockSize;
  Probes probes(hash);
  for (int i = 0; i < kProbes; ++i) __builtin_prefetch(block + probes.Next() / 8, /*rw=*/1);
}

void BloomFilterBuilder::SetWaiting() {
  const size_t waiting = std::min(std::exchange(added_, 0), waiting_.size());
  for (size_t i = 0; i < waiting; ++i) SetBits(waiting_[i]);
}

void BloomFilterBuilder::SetBits(uint64_t hash) {
  char* const block = bytes_.data() + BlockOf(hash, blocks_) * kFilterBlockSize;
  Probes probes(hash);
  for (int i = 0; i < kProbes; ++i) {
    const uint32_t bit = probes.Next();
    block[bit / 8] = static_cast<char>(static_cast<unsigned char>(block[bit / 8]) | MaskOf(bit));
  }
}

std::string_view BloomFilterBuilder::Block(int64_t number) {
  SetWaiting();
  return std::string_view(bytes_).substr(static_cast<size_t>(number * kFilterBlockSize),
                                         kFilterBlockSize);
}

}  // namespace cellfs
