// SPDX-License-Identifier: MIT
#include "engine/file/bloom_filter.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <vector>

namespace cellfs {
namespace {

bool Finds(BloomFilterBuilder& filter, uint64_t hash) {
  return MayContain(filter.Block(BlockOf(hash, filter.blocks())), hash);
}

// The share of keys that were not added and look as if they were.
double FalsePositives(BloomFilterBuilder& filter, std::mt19937_64& random) {
  constexpr int kAsked = 200000;
  int found = 0;
  for (int i = 0; i < kAsked; ++i) found += Finds(filter, random()) ? 1 : 0;
  return static_cast<double>(found) / kAsked;
}

TEST(BloomFilterTest, EveryKeyAddedIsFoundAndFewOthers) {
  for (const int keys : {0, 1, 2, 100, 3199, 3200, 3201, 10000, 1000000}) {
    std::mt19937_64 random(static_cast<uint64_t>(keys));
    BloomFilterBuilder filter(keys);
    std::vector<uint64_t> added(static_cast<size_t>(keys));
    for (uint64_t& hash : added) filter.Add(hash = random());
    for (const uint64_t hash : added) ASSERT_TRUE(Finds(filter, hash)) << keys;
    EXPECT_LE(FalsePositives(filter, random), 0.015) << keys;
  }
}

TEST(BloomFilterTest, KeysThatLieCloseTogetherAreFoundAndFewOthers) {
  constexpr int kRows = 100000;
  const auto hash = [](int row) { return HashOfColumn("row" + std::to_string(row), "q"); };
  BloomFilterBuilder filter(kRows);
  for (int row = 0; row < kRows; ++row) filter.Add(hash(row));
  int found = 0;
  for (int row = 0; row < kRows; ++row) {
    ASSERT_TRUE(Finds(filter, hash(row)));
    found += Finds(filter, hash(kRows + row)) ? 1 : 0;
  }
  EXPECT_LE(found, kRows * 15 / 1000);
}

TEST(BloomFilterTest, AnEstimateThatIsFarTooLargeCostsAtMostTheLargestFilter) {
  BloomFilterBuilder filter(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(filter.blocks(), kMostFilterBlocks);
  for (const uint64_t hash : {uint64_t{0}, std::numeric_limits<uint64_t>::max()}) {
    EXPECT_FALSE(Finds(filter, hash));
    filter.Add(hash);
    EXPECT_TRUE(Finds(filter, hash));
  }
}

TEST(BloomFilterTest, ABlockOfAnotherSizeMayContainEveryKey) {
  EXPECT_TRUE(MayContain(std::string_view(), 1));
  EXPECT_TRUE(MayContain(std::string(kFilterBlockSize - 1, '\0'), 1));
  EXPECT_FALSE(MayContain(std::string(kFilterBlockSize, '\0'), 1));
}

TEST(BloomFilterTest, RowsColumnsAndFamilyTombstonesAreDifferentKeys) {
  const std::set<uint64_t> hashes = {HashOfRow(""),
                                     HashOfRow("ab"),
                                     HashOfColumn("", ""),
                                     HashOfColumn("ab", ""),
                                     HashOfColumn("a", "b"),
                                     HashOfColumn("", "ab"),
                                     HashOfFamilyTombstones(""),
                                     HashOfFamilyTombstones("ab")};
  EXPECT_EQ(hashes.size(), 8u);
}

// They lie in files.
TEST(BloomFilterTest, HashesAndBitsStayAsTheyAre) {
  EXPECT_EQ(HashOfRow("row"), 385826348318156090u);
  EXPECT_EQ(HashOfColumn("row", "q"), 7228598064411465581u);
  EXPECT_EQ(HashOfFamilyTombstones("row"), 354324070524336485u);
  BloomFilterBuilder filter(1);
  filter.Add(0x0123456789abcdefu);
  std::vector<int> bits;
  for (int bit = 0; bit < static_cast<int>(kFilterBlockSize) * 8; ++bit) {
    const auto byte = static_cast<unsigned char>(filter.Block(0)[static_cast<size_t>(bit / 8)]);
    if ((byte >> (bit % 8) & 1) != 0) bits.push_back(bit);
  }
  EXPECT_EQ(bits, (std::vector<int>{1563, 4692, 7821, 10950, 14079, 17208, 30434}));
}

}  // namespace
}  // namespace cellfs
