// SPDX-License-Identifier: MIT
#include "fs/attributes/directory_times.h"

#include <gtest/gtest.h>

namespace cellfs::fs {
namespace {

const Place kFamily = FamilyPlace({"ns", "t"}, "r", "f");

TEST(DirectoryTimesTest, ATimeIsKeptUntilItIsStoredOrSetByHand) {
  DirectoryTimes times;
  times.Settle(kFamily, 5);
  EXPECT_FALSE(times.Find(kFamily)) << "nothing came to it";
  times.Note(kFamily, 7);
  times.Settle(kFamily, 9);
  times.Settle(kFamily, 8);
  EXPECT_EQ(times.Find(kFamily), 9);
  const auto changes = times.All();
  ASSERT_EQ(changes.size(), 1u);
  times.Note(kFamily, 10);
  times.Stored(changes[0]);
  EXPECT_EQ(times.Find(kFamily), 10) << "changed again while it was stored";
  times.Stored(times.All()[0]);
  EXPECT_FALSE(times.Find(kFamily));
  times.Note(kFamily, 11);
  times.Forget(kFamily);
  EXPECT_FALSE(times.Find(kFamily));
}

}  // namespace
}  // namespace cellfs::fs
