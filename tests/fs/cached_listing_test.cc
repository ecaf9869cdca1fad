// SPDX-License-Identifier: MIT
#include "fs/nodes/cached_listing.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "fs/listing/stream_offsets.h"

namespace cellfs::fs {
namespace {

class CachedListingTest : public testing::Test {
 protected:
  using Stream = CachedListing::Stream;
  using End = CachedListing::End;

  std::atomic<int64_t> bytes{1 << 20};
  std::shared_ptr<CachedListing> listing = std::make_shared<CachedListing>(bytes, 256);
};

TEST_F(CachedListingTest, EachNameKeepsItsOffsetInWhateverOrderNamesAreListed) {
  std::mt19937 random(7);
  std::map<std::string, uint64_t> known;
  std::map<uint64_t, std::string> names;
  for (int i = 0; i < 20000; ++i) {
    const std::string name = std::to_string(random() % 3000);
    const auto offset = listing->OffsetOf(name, 256 + random() % 4000);
    ASSERT_TRUE(offset);
    const auto [it, is_new] = known.emplace(name, *offset);
    EXPECT_EQ(it->second, *offset) << name;
    if (is_new) {
      EXPECT_TRUE(names.emplace(*offset, name).second) << name;
    }
  }
  for (const auto& [offset, name] : names) EXPECT_EQ(listing->KeyAt(offset), name);
  EXPECT_EQ(listing->KeyAt(listing->end()), std::nullopt);
}

TEST_F(CachedListingTest, ItsMemoryIsBoundedAndThenTheKernelCompletesNoListing) {
  bytes = 2000;
  size_t count = 0;
  while (listing->OffsetOf("name" + std::to_string(1000000 - count), 0)) ++count;
  EXPECT_GT(count, 20u);
  EXPECT_LT(count, 200u);
  EXPECT_GE(bytes, 0);
  {
    Stream stream(listing, 0);
    EXPECT_EQ(stream.BeforeEnd(0, count), End::kLeavesIt);
  }
  listing.reset();
  EXPECT_EQ(bytes, 2000);
}

TEST_F(CachedListingTest, WithoutChangesWhatSeveralStreamsListIsCached) {
  Stream first(listing, 5);
  first.BeforeEntries(5);
  Stream second(listing, 5);
  second.BeforeEntries(5);
  EXPECT_EQ(first.BeforeEnd(5, 20), End::kCompletes);
  EXPECT_EQ(second.BeforeEnd(5, 20), End::kCompletes);
}

TEST_F(CachedListingTest, NoListingIsCompletedWhileAStreamIsOpenThatBeganBeforeAChange) {
  Stream before(listing, 5);
  before.BeforeEntries(5);
  Stream after(listing, 6);
  after.BeforeEntries(6);
  EXPECT_EQ(after.BeforeEnd(6, 10), End::kLeavesIt);
  EXPECT_EQ(before.BeforeEnd(6, 10), End::kLeavesIt);
}

// What the kernel got of the first may be joined to what it gets of the second.
TEST_F(CachedListingTest, AStreamThatWasOpenBesideAnOlderOneCompletesNothingEither) {
  auto before = std::make_unique<Stream>(listing, 5);
  auto after = std::make_unique<Stream>(listing, 6);
  before.reset();
  after->BeforeEntries(6);
  after.reset();
  // The next one completes that, without what there is of it, and the one after it is cached.
  Stream third(listing, 6);
  third.BeforeEntries(6);
  EXPECT_EQ(third.BeforeEnd(6, 10), End::kDropsListing);
  Stream fourth(listing, 6);
  EXPECT_EQ(fourth.BeforeEnd(6, 10), End::kCompletes);
}

TEST_F(CachedListingTest, ManyNamesThatHaveGoneMakeRoomWhenNobodyListsThem) {
  for (int i = 0; i < 3000; ++i) listing->OffsetOf(std::to_string(i), 0);
  {
    Stream stream(listing, 0);
    stream.BeforeEnd(0, 500);
    EXPECT_FALSE(listing->IsOutgrown());
  }
  EXPECT_TRUE(listing->IsOutgrown());
  for (int i = 0; i < 3; ++i) {
    Stream stream(listing, 0);
    stream.BeforeEnd(0, 2000);
  }
  EXPECT_FALSE(listing->IsOutgrown());
}

TEST(StreamOffsetsTest, TheLatestOffsetsAreKnownExactlyAndOlderOnesNearly) {
  constexpr uint64_t kFirst = 1000;
  StreamOffsets offsets(kFirst);
  const auto [start, nothing] = offsets.Return(kFirst + 5);
  EXPECT_EQ(start, kFirst - 1);
  EXPECT_EQ(nothing, std::nullopt);
  constexpr uint64_t kCount = 2000000;
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(offsets.next(), kFirst + i);
    offsets.Add(std::to_string(i));
  }
  for (const uint64_t back : {uint64_t{0}, uint64_t{100}, uint64_t{3900}}) {
    const uint64_t offset = kFirst + kCount - 1 - back;
    EXPECT_EQ(offsets.Return(offset),
              (std::pair(offset, std::optional(std::to_string(kCount - 1 - back)))));
    EXPECT_EQ(offsets.next(), offset + 1);
  }
  const uint64_t wanted = kFirst + 1234567;
  const auto [offset, key] = offsets.Return(wanted);
  EXPECT_LE(offset, wanted);
  EXPECT_GT(offset, wanted - 5000);
  EXPECT_EQ(key, std::to_string(offset - kFirst));
  EXPECT_EQ(offsets.next(), offset + 1);
}

TEST(StreamOffsetsTest, LongKeysMakeItRememberFewer) {
  StreamOffsets offsets(1);
  const auto key_at = [](uint64_t offset) {
    return std::to_string(offset) + std::string(30000, 'k');
  };
  for (uint64_t offset = 1; offset <= 6000; ++offset) {
    offsets.Add(key_at(offset));
    ASSERT_LE(offsets.held_bytes(), size_t{192} << 10);
  }
  EXPECT_EQ(offsets.Return(6000), std::pair(uint64_t{6000}, std::optional(key_at(6000))));
  const auto [known, key] = offsets.Return(3000);
  EXPECT_LE(known, 3000U);
  EXPECT_EQ(key, known == 0 ? std::nullopt : std::optional(key_at(known)));
  for (uint64_t offset = known + 1; offset <= 3000; ++offset) offsets.Add(key_at(offset));
  EXPECT_EQ(offsets.Return(3000).second, key_at(3000));
  EXPECT_LE(offsets.held_bytes(), size_t{192} << 10);
}

}  // namespace
}  // namespace cellfs::fs
