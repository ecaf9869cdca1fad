// SPDX-License-Identifier: MIT
//
// The choice of a timestamp above a column, without a store.
#include <gtest/gtest.h>

#include "engine/column_head.h"

namespace cellfs {
namespace {

constexpr Timestamp kNow = 1000;

FamilySchema Family(std::map<std::string, std::string> attributes = {}) {
  FamilySchema family("f");
  for (const auto& [name, value] : attributes) EXPECT_TRUE(family.Set(name, value).ok()) << name;
  return family;
}

Timestamp Stamp(const ColumnHead& head, const StampWish& wish = {},
                const FamilySchema& family = Family(), Timestamp now = kNow) {
  StatusOr<Timestamp> stamp = StampAbove(head, wish, family, now);
  if (stamp.ok()) return *stamp;
  EXPECT_EQ(stamp.status().code(), StatusCode::kTimestampsExhausted);
  return -1;
}

TEST(StampAboveTest, IsTheClockWhereTheColumnIsOlder) {
  EXPECT_EQ(Stamp({}), kNow);
  EXPECT_EQ(Stamp({.newest_put = 999}), kNow);
  EXPECT_EQ(Stamp({.newest_put = 5, .newest_wide_tombstone = 999}), kNow);
}

TEST(StampAboveTest, IsOneMoreThanWhatTheClockHasNotPassed) {
  EXPECT_EQ(Stamp({.newest_put = 1000}), 1001);
  EXPECT_EQ(Stamp({.newest_put = 5, .newest_wide_tombstone = 1000}), 1001);
  EXPECT_EQ(Stamp({.newest_put = 7000, .newest_wide_tombstone = 2000}), 7001);
}

TEST(StampAboveTest, VersionTombstonesCountOnlyIfEqual) {
  EXPECT_EQ(Stamp({.version_tombstones = {5000, 900}}), kNow);
  EXPECT_EQ(Stamp({.version_tombstones = {1003, 1001, 1000}}), 1002);
  EXPECT_EQ(Stamp({.newest_put = 2000, .version_tombstones = {2002, 2001}}), 2003);
}

TEST(StampAboveTest, EndsWithTheLargestTimestamp) {
  EXPECT_EQ(Stamp({.newest_put = kLatestTimestamp - 2}), kLatestTimestamp - 1);
  EXPECT_EQ(Stamp({.newest_put = kLatestTimestamp - 1}), -1);
  EXPECT_EQ(Stamp({.newest_wide_tombstone = kLatestTimestamp - 1}), -1);
  EXPECT_EQ(
      Stamp({.newest_put = kLatestTimestamp - 2, .version_tombstones = {kLatestTimestamp - 1}}),
      -1);
}

TEST(StampAboveTest, TakesAGivenTimestampAboveEverythingAndNotAfterTheClock) {
  const StampWish wish{.given = 500};
  EXPECT_EQ(Stamp({}, wish), 500);
  EXPECT_EQ(
      Stamp({.newest_put = 499, .newest_wide_tombstone = 499, .version_tombstones = {499}}, wish),
      500);
  EXPECT_EQ(Stamp({.newest_put = 500}, wish), 500) << "the newest version is overwritten";
  EXPECT_EQ(Stamp({.newest_put = 501}, wish), kNow);
  EXPECT_EQ(Stamp({.newest_wide_tombstone = 500}, wish), kNow);
  EXPECT_EQ(Stamp({.version_tombstones = {500}}, wish), kNow);
  EXPECT_EQ(Stamp({.version_tombstones = {700, 300}}, wish), kNow);
  EXPECT_EQ(Stamp({.newest_put = 500, .version_tombstones = {500}}, wish), kNow);
  EXPECT_EQ(Stamp({}, {.given = kNow + 1}), kNow);
  EXPECT_EQ(Stamp({}, {.given = kNow}), kNow);
}

TEST(StampAboveTest, DoesNotTakeAGivenTimestampThatIsExpiredAtOnce) {
  const Timestamp now = 10000;
  const FamilySchema ttl = Family({{"TTL", "5"}});
  EXPECT_EQ(Stamp({}, {.given = 5000}, ttl, now), 5000);
  EXPECT_EQ(Stamp({}, {.given = 4999}, ttl, now), now);
  EXPECT_EQ(Stamp({}, {.given = 4999}, Family({{"TTL", "5"}, {"MIN_VERSIONS", "1"}}), now), 4999);
  EXPECT_EQ(Stamp({}, {.given = 9990, .time_to_live = 10}, Family(), now), 9990);
  EXPECT_EQ(Stamp({}, {.given = 9989, .time_to_live = 10}, Family(), now), now);
}

TEST(StampAboveTest, RewritesWhileNothingNewerHasCome) {
  const StampWish again{.rewrites = 900};
  EXPECT_EQ(Stamp({.newest_put = 900}, again), 900);
  EXPECT_EQ(Stamp({.newest_put = 900, .newest_wide_tombstone = 800}, again), 900);
  EXPECT_EQ(Stamp({.newest_put = 901}, again), kNow);
  EXPECT_EQ(Stamp({.newest_put = 900, .newest_wide_tombstone = 900}, again), kNow);
  EXPECT_EQ(Stamp({.newest_put = 900, .version_tombstones = {900}}, again), kNow);
  // It may lie in the future: the clock had not passed the column when it was chosen.
  EXPECT_EQ(Stamp({.newest_put = 5000}, {.rewrites = 5000}), 5000);
}

TEST(StampAboveTest, AGivenTimestampThatIsRefusedFallsBackToTheRewrittenOne) {
  EXPECT_EQ(Stamp({.newest_put = 900}, {.given = 500, .rewrites = 900}), 900);
  EXPECT_EQ(Stamp({.newest_put = 900}, {.given = 950, .rewrites = 900}), 950);
}

}  // namespace
}  // namespace cellfs
