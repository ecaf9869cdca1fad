// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_cache.h"

#include <gtest/gtest.h>

namespace cellfs::fs {
namespace {

OwnerRecord WithMode(mode_t mode) {
  OwnerRecord owner;
  owner.mode = mode;
  owner.since = 1;
  return owner;
}

const TimeRecord kTouched = {timespec{70, 0}, 1};

StoredRow OneColumn(mode_t mode) {
  StoredRow row;
  row["f:q"].owner = WithMode(mode);
  row["f:q"].times[7] = kTouched;
  row["f"].owner = WithMode(0750);
  return row;
}

struct AttributeCacheTest : testing::Test {
  std::optional<mode_t> Mode(const std::string& row = "row") {
    return cache.Find(row, "f:q", 7, "f")->owner.mode;
  }
  const ManualClock clock{0};
  const Freshness freshness{StoreTraits(), clock};
  AttributeCache cache{freshness};
};

TEST_F(AttributeCacheTest, KnowsWhatIsAndWhatIsNotInARow) {
  EXPECT_FALSE(cache.Find("row", "f:q", 7, "f").has_value());
  const StoredRow row = OneColumn(0600);
  cache.Remember("row", &row, cache.ChangesOf("row"), 0);
  const auto known = cache.Find("row", "f:q", 7, "f");
  ASSERT_TRUE(known.has_value());
  EXPECT_TRUE(known->whole);
  EXPECT_EQ(known->owner.mode, 0600);
  EXPECT_EQ(known->time.mtime->tv_sec, 70);
  EXPECT_EQ(known->family.mode, 0750);
  EXPECT_FALSE(cache.Find("row", "f:q", 8, "f")->time.mtime.has_value());
  EXPECT_FALSE(cache.Find("row", "f:other", 7, "f")->owner.mode.has_value());
}

TEST_F(AttributeCacheTest, WhereOthersWriteARowIsKnownForHalfOfWhatTheStoreAllows) {
  ManualClock moving(1000);
  const Freshness bounded({.has_other_writers = true, .max_staleness_ms = 200}, moving);
  AttributeCache short_lived(bounded);
  const StoredRow row = OneColumn(0600);
  short_lived.Remember("row", &row, short_lived.ChangesOf("row"), bounded.Now());
  short_lived.Wrote("row", "f:q", WithMode(0640), 7, TimeRecord(), short_lived.ChangesOf("row"));
  moving.Advance(99);
  EXPECT_EQ(short_lived.Find("row", "f:q", 7, "f")->owner.mode, 0640);
  moving.Advance(1);
  EXPECT_FALSE(short_lived.Find("row", "f:q", 7, "f").has_value());
  short_lived.Remember("row", &row, short_lived.ChangesOf("row"), bounded.Now());
  EXPECT_EQ(short_lived.Find("row", "f:q", 7, "f")->owner.mode, 0600);
  moving.Set(0);  // a clock that was set back
  EXPECT_FALSE(short_lived.Find("row", "f:q", 7, "f").has_value());
}

TEST_F(AttributeCacheTest, AWriteShows) {
  const StoredRow row = OneColumn(0600);
  cache.Remember("row", &row, cache.ChangesOf("row"), 0);
  cache.Wrote("row", "f:q", WithMode(0640), 7, TimeRecord(), cache.ChangesOf("row"));
  EXPECT_EQ(Mode(), 0640);
  EXPECT_FALSE(cache.Find("row", "f:q", 7, "f")->time.mtime.has_value());
}

TEST_F(AttributeCacheTest, WhatWasReadBeforeAWriteIsNotTakenIn) {
  const uint64_t before = cache.ChangesOf("row");
  cache.Wrote("row", "f:q", WithMode(0640), 7, TimeRecord(), before);
  const StoredRow old = OneColumn(0600);
  cache.Remember("row", &old, before, 0);
  EXPECT_FALSE(cache.Find("row", "f:q", 7, "f").has_value());
}

// Each row that a copy goes through was read twice, for other rows changed meanwhile.
TEST_F(AttributeCacheTest, AWriteToAnotherRowIsNoReason) {
  const StoredRow row = OneColumn(0600);
  const auto key = [](int i) { return "row " + std::to_string(i); };
  int taken_in = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t before = cache.ChangesOf(key(i));
    cache.Wrote("another", "f:q", WithMode(0640), 7, TimeRecord(), cache.ChangesOf("another"));
    cache.Remember(key(i), &row, before, 0);
    taken_in += cache.Find(key(i), "f:q", 7, "f").has_value() ? 1 : 0;
  }
  EXPECT_GT(taken_in, 90);
  const uint64_t before = cache.ChangesOf("row");
  cache.Clear();
  cache.Remember("row", &row, before, 0);
  EXPECT_FALSE(cache.Find("row", "f:q", 7, "f").has_value());
}

TEST_F(AttributeCacheTest, OfTwoWritesAtTheSameTimeNeitherIsTrusted) {
  const StoredRow row = OneColumn(0600);
  cache.Remember("row", &row, cache.ChangesOf("row"), 0);
  const uint64_t before = cache.ChangesOf("row");
  cache.Wrote("row", "f:q", WithMode(0640), 7, TimeRecord(), before);
  cache.Wrote("row", "f:q", WithMode(0644), 7, TimeRecord(), before);
  EXPECT_FALSE(cache.Find("row", "f:q", 7, "f").has_value());
}

TEST_F(AttributeCacheTest, ARowOfTooManyIsNotKept) {
  cache.Remember("read", nullptr, cache.ChangesOf("read"), 0);
  EXPECT_FALSE(cache.Find("read", "f:q", 7, "f")->whole);

  const StoredRow row = OneColumn(0600);
  cache.Remember("grown", &row, cache.ChangesOf("grown"), 0);
  for (size_t i = 0; i < AttributeCache::kMaxRowEntries; ++i) {
    cache.Wrote("grown", "f:" + std::to_string(i), WithMode(0600), 7, TimeRecord(),
                cache.ChangesOf("grown"));
  }
  EXPECT_FALSE(cache.Find("grown", "f:q", 7, "f")->whole);
  EXPECT_FALSE(Mode("grown").has_value());
}

TEST_F(AttributeCacheTest, TemporariesThatHaveGoneDoNotFillARow) {
  const StoredRow row = OneColumn(0600);
  cache.Remember("row", &row, cache.ChangesOf("row"), 0);
  for (size_t i = 0; i < 2 * AttributeCache::kMaxRowEntries; ++i) {
    const std::string name = "f:." + std::to_string(i);
    cache.Wrote("row", name, WithMode(0600), 7, kTouched, cache.ChangesOf("row"));
    cache.Wrote("row", name, {}, 7, TimeRecord(), cache.ChangesOf("row"));
  }
  EXPECT_TRUE(cache.Find("row", "f:q", 7, "f")->whole);
  EXPECT_EQ(Mode(), 0600);
}

TEST_F(AttributeCacheTest, OfVeryManyRowsSomeAreForgotten) {
  const StoredRow row = OneColumn(0600);
  const auto key = [](int i) { return "row " + std::to_string(i); };
  constexpr int kRows = 100000;
  for (int i = 0; i < kRows; ++i) cache.Remember(key(i), &row, cache.ChangesOf(key(i)), 0);
  int kept = 0;
  for (int i = 0; i < kRows; ++i) kept += cache.Find(key(i), "f:q", 7, "f").has_value() ? 1 : 0;
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, kRows / 2);
}

}  // namespace
}  // namespace cellfs::fs
