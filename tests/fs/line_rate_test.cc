// SPDX-License-Identifier: MIT
#include "fs/base/line_rate.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cellfs::fs {
namespace {

class LineRateTest : public testing::Test {
 protected:
  int64_t Written(uid_t user, int64_t tries) {
    int64_t written = 0;
    for (int64_t i = 0; i < tries; ++i) written += rate.Take(user, now).may_write ? 1 : 0;
    return written;
  }

  Timestamp now = 1700000000000;
  LineRate rate;
};

TEST_F(LineRateTest, SoManyAtOnceAndOneEachPause) {
  EXPECT_EQ(Written(1000, 5000), LineRate::kAtOnce);
  now += LineRate::kPause - 1;
  EXPECT_EQ(Written(1000, 10), 0);
  now += 1;
  EXPECT_EQ(Written(1000, 10), 1);
  now += 7 * LineRate::kPause;
  EXPECT_EQ(Written(1000, 10), 7);
  now += 1000 * LineRate::kPause;
  EXPECT_EQ(Written(1000, 5000), LineRate::kAtOnce);
}

TEST_F(LineRateTest, SaysWhenItEndsAndHowManyWereLeftOut) {
  LineRate::Turn last;
  for (int64_t i = 0; i < LineRate::kAtOnce; ++i) {
    EXPECT_FALSE(last.is_last);
    last = rate.Take(1000, now);
  }
  EXPECT_TRUE(last.is_last);
  EXPECT_EQ(last.left_out, 0U);
  EXPECT_EQ(Written(1000, 3), 0);
  now += 2 * LineRate::kPause;
  EXPECT_EQ(rate.Take(1000, now).left_out, 3U);
  EXPECT_EQ(rate.Take(1000, now).left_out, 0U);
}

TEST_F(LineRateTest, AClockThatIsSetBackStopsNobodyForLong) {
  EXPECT_EQ(Written(1000, 5000), LineRate::kAtOnce);
  now -= 1000000 * LineRate::kPause;
  EXPECT_EQ(Written(1000, 10), 0);
  now += 3 * LineRate::kPause;
  EXPECT_EQ(Written(1000, 10), 3);
}

TEST_F(LineRateTest, NobodyComesByManyUsersToManyLinesForEver) {
  int64_t written = 0;
  for (uid_t user = 1; user <= 65536; ++user) written += Written(user, 1);
  EXPECT_EQ(written, 1000);
  now += LineRate::kPause;
  EXPECT_EQ(Written(70000, 1), 1) << "those before have been quiet";
}

}  // namespace
}  // namespace cellfs::fs
