// SPDX-License-Identifier: MIT
#include "engine/file/block_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace cellfs {
namespace {

constexpr int64_t kRoom = int64_t{4} << 20;
constexpr size_t kSize = 4096;

class BlockCacheTest : public testing::Test {
 protected:
  static std::string Make(uint64_t owner, uint64_t block) {
    return std::string(kSize, static_cast<char>('a' + (owner * 7 + block) % 26));
  }
  void Insert(uint64_t owner, uint64_t block) { cache_.Insert(owner, block, Make(owner, block)); }
  bool Has(uint64_t owner, uint64_t block) {
    std::string read(kSize, '\0');
    if (!cache_.Read(owner, block, 0, read.data(), kSize)) return false;
    EXPECT_EQ(read, Make(owner, block));
    return true;
  }
  int CountOf(uint64_t owner, uint64_t blocks) {
    int count = 0;
    for (uint64_t block = 0; block < blocks; ++block) count += Has(owner, block) ? 1 : 0;
    return count;
  }

  BlockCache cache_{kRoom};
  const uint64_t file_ = cache_.NewOwner(), other_ = cache_.NewOwner();
};

TEST_F(BlockCacheTest, ABlockIsReadAsItWasInserted) {
  EXPECT_FALSE(Has(file_, 3));
  Insert(file_, 3);
  EXPECT_TRUE(Has(file_, 3));
  EXPECT_FALSE(Has(other_, 3));
  EXPECT_FALSE(Has(file_, 4));
}

TEST_F(BlockCacheTest, APartOfABlockIsReadButNothingBehindItsEnd) {
  cache_.Insert(file_, 1, "0123456789");
  char bytes[4] = {};
  ASSERT_TRUE(cache_.Read(file_, 1, 6, bytes, 4));
  EXPECT_EQ(std::string_view(bytes, 4), "6789");
  EXPECT_TRUE(cache_.Read(file_, 1, 10, bytes, 0));
  EXPECT_FALSE(cache_.Read(file_, 1, 7, bytes, 4));
  EXPECT_FALSE(cache_.Read(file_, 1, 11, bytes, 0));
}

TEST_F(BlockCacheTest, AnEmptyBlockIsABlock) {
  cache_.Insert(file_, 1, "");
  EXPECT_TRUE(cache_.Read(file_, 1, 0, nullptr, 0));
}

TEST_F(BlockCacheTest, ABlockThatIsThereStays) {
  Insert(file_, 1);
  const int64_t before = cache_.bytes();
  cache_.Insert(file_, 1, "other");
  EXPECT_TRUE(Has(file_, 1));
  EXPECT_EQ(cache_.bytes(), before);
}

TEST_F(BlockCacheTest, OwnersAreNeverGivenAgain) {
  cache_.Forget(other_);
  EXPECT_NE(file_, other_);
  EXPECT_GT(cache_.NewOwner(), other_);
}

TEST_F(BlockCacheTest, ItTakesNoMoreThanItMayAndCountsItsOwnNeeds) {
  for (uint64_t block = 0; block < 5000; ++block) {
    Insert(file_, block);
    ASSERT_LE(cache_.bytes(), kRoom);
  }
  EXPECT_GT(cache_.bytes(), kRoom * 9 / 10);
  const int count = CountOf(file_, 5000);
  EXPECT_GT(count, 900);
  EXPECT_GT(cache_.bytes(), count * static_cast<int64_t>(kSize));
}

TEST_F(BlockCacheTest, WhatWasReadLeastLatelyGoesFirst) {
  for (uint64_t block = 0; block < 2000; ++block) Insert(file_, block);
  EXPECT_FALSE(Has(file_, 0));
  EXPECT_TRUE(Has(file_, 1999));
}

TEST_F(BlockCacheTest, AWalkOverAHugeFileLeavesWhatIsReadAgainAndAgain) {
  for (uint64_t block = 0; block < 200; ++block) Insert(file_, block);
  EXPECT_EQ(CountOf(file_, 200), 200);
  for (uint64_t block = 0; block < 20000; ++block) Insert(other_, block);
  EXPECT_EQ(CountOf(file_, 200), 200);
}

TEST_F(BlockCacheTest, WhatIsKeptAtOnceStaysUnread) {
  for (uint64_t block = 0; block < 200; ++block)
    cache_.Insert(file_, block, Make(file_, block), BlockCache::Keep::kAtOnce);
  for (uint64_t block = 0; block < 20000; ++block) Insert(other_, block);
  EXPECT_EQ(CountOf(file_, 200), 200);
}

TEST_F(BlockCacheTest, WhatIsNotReadAnyMoreMakesRoom) {
  for (uint64_t block = 0; block < 900; ++block) Insert(file_, block);
  CountOf(file_, 900);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t block = 0; block < 250; ++block) {
      if (!Has(other_, block)) Insert(other_, block);
    }
  }
  EXPECT_EQ(CountOf(other_, 250), 250);
}

TEST_F(BlockCacheTest, ASmallerCapacityHoldsAtOnce) {
  for (uint64_t block = 0; block < 1000; ++block) Insert(file_, block);
  CountOf(file_, 1000);
  cache_.SetCapacity(kRoom / 4);
  EXPECT_LE(cache_.bytes(), kRoom / 4);
  EXPECT_GT(cache_.bytes(), kRoom / 8);
  cache_.SetCapacity(0);
  EXPECT_EQ(cache_.bytes(), 0);
  Insert(file_, 1);
  EXPECT_FALSE(Has(file_, 1));
  cache_.SetCapacity(kRoom);
  Insert(file_, 1);
  EXPECT_TRUE(Has(file_, 1));
}

TEST_F(BlockCacheTest, ABlockThatIsTooLargeIsNotKeptAndPushesNothingOut) {
  Insert(file_, 1);
  cache_.Insert(file_, 2, std::string(kRoom, 'x'));
  EXPECT_TRUE(Has(file_, 1));
  EXPECT_FALSE(cache_.Read(file_, 2, 0, nullptr, 0));
}

TEST_F(BlockCacheTest, AForgottenOwnerHasNoBlocks) {
  for (uint64_t block = 0; block < 100; ++block) {
    Insert(file_, block);
    Insert(other_, block);
  }
  CountOf(file_, 50);
  const int64_t before = cache_.bytes();
  cache_.Forget(file_);
  EXPECT_EQ(CountOf(file_, 100), 0);
  EXPECT_EQ(CountOf(other_, 100), 100);
  EXPECT_EQ(cache_.bytes(), before / 2);
  cache_.Forget(other_);
  EXPECT_EQ(cache_.bytes(), 0);
}

TEST_F(BlockCacheTest, ManyReadAndInsertWhileFilesGoAndTheRoomChanges) {
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (uint64_t i = 0; i < 20000; ++i) {
        const uint64_t block = (i * 31 + thread * 17) % 1500;
        const uint64_t owner = i % 2 == 0 ? file_ : other_;
        if (!Has(owner, block)) Insert(owner, block);
        if (i % 5000 == 4999) cache_.Forget(other_);
        if (i % 3000 == 2999) cache_.SetCapacity(i % 2 == 0 ? kRoom : kRoom / 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache_.bytes(), kRoom);
  cache_.Forget(file_);
  cache_.Forget(other_);
  EXPECT_EQ(cache_.bytes(), 0);
}

}  // namespace
}  // namespace cellfs
