// SPDX-License-Identifier: MIT
#include "fs/tree/time_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace cellfs::fs {
namespace {

constexpr Timestamp kHour = 3600 * 1000;
constexpr Timestamp kNow = 1700000000000;  // 2023-11-14T22:13:20Z, 23:13:20 in Berlin

class TimeTextTest : public testing::Test {
 protected:
  TimeTextTest() { SetZone("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~TimeTextTest() override { unsetenv("TZ"); }
  static void SetZone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  static Timestamp At(std::string_view text, Timestamp now = kNow) {
    const auto time = ParseTime(text, now);
    EXPECT_TRUE(time.ok()) << time.status().ToString();
    return time.ok() ? *time : -1;
  }
};

TEST_F(TimeTextTest, SoLongAgo) {
  EXPECT_EQ(At("now"), kNow);
  EXPECT_EQ(At("-2h"), kNow - 2 * kHour);
  EXPECT_EQ(At("-90s"), kNow - 90000);
  EXPECT_EQ(At("-1h30m"), kNow - kHour * 3 / 2);
  EXPECT_EQ(At("-1w2d3h4m5s"), kNow - (9 * 24 + 3) * kHour - 245000);
}

TEST_F(TimeTextTest, DaysAndTimesOfDayAreLocal) {
  const Timestamp midnight = kNow - (23 * 3600 + 13 * 60 + 20) * Timestamp{1000};
  EXPECT_EQ(At("today"), midnight);
  EXPECT_EQ(At("yesterday"), midnight - 24 * kHour);
  EXPECT_EQ(At("18:00"), midnight + 18 * kHour);
  EXPECT_EQ(At("9:30"), midnight + 19 * kHour / 2);
  EXPECT_EQ(At("yesterday 18:00"), midnight - 6 * kHour);
  EXPECT_EQ(At("yesterday_18:00:30"), midnight - 6 * kHour + 30000);
  EXPECT_EQ(At("2023-11-14"), midnight);
  EXPECT_EQ(At("2023-11-14 18:00"), midnight + 18 * kHour);
  EXPECT_EQ(At("2023-11-14T18:00:00.25"), midnight + 18 * kHour + 250);
  EXPECT_EQ(At("2023-07-01"), At("2023-06-30T22:00:00Z")) << "in summer an hour more";
  SetZone("UTC");
  EXPECT_EQ(At("2023-11-14"), midnight + kHour);
}

TEST_F(TimeTextTest, Rfc3339) {
  EXPECT_EQ(At("2023-11-14T22:13:20Z"), kNow);
  EXPECT_EQ(At("2023-11-14t23:13:20+01:00"), kNow);
  EXPECT_EQ(At("2023-11-14T17:43:20-04:30"), kNow);
  EXPECT_EQ(At("2023-11-14T22:13:20.5Z"), kNow + 500);
  EXPECT_EQ(At("2023-11-14 22:13:20.0625Z"), kNow + 62);
  EXPECT_EQ(At("2024-02-29T00:00:00Z"), 1709164800000);
}

TEST_F(TimeTextTest, Since1970) {
  EXPECT_EQ(At("@1700000000"), kNow);
  EXPECT_EQ(At("@1700000000.5"), kNow + 500);
  EXPECT_EQ(At("1700000000123"), kNow + 123);
  EXPECT_EQ(At("0"), 0);
  EXPECT_EQ(At("9223372036854775806"), kLatestTimestamp - 1);
}

TEST_F(TimeTextTest, AnythingElseIsRefusedWithWhatWouldDo) {
  for (const char* wrong :
       {"",           "-",          "-h",          "-2y",
        "2h",         "-2 h",       "-30m1h",      "-1h1h",
        "- 2h",       "--2h",       "-1h30",       "-999999999999w",
        "tomorrow",   "yesterday ", "today18:00",  "25:00",
        "18:60",      "18:0",             "2023-13-01",
        "2023-02-29", "2023-11-31", "2023-1-1",    "2023-11-14T",
        "@",          "@x",         "@1.",         "@9223372036854775807",
        "12.5",       "-1",         "1969-12-31T23:59:59Z",
        "2023-11-14T22:13:20+1:00", "2023-11-14T22:13:20Zx", "9223372036854775808"}) {
    const auto time = ParseTime(wrong, kNow);
    ASSERT_FALSE(time.ok()) << wrong << " is " << *time;
    EXPECT_EQ(time.status().code(), StatusCode::kIllegalArgument);
    EXPECT_NE(time.status().message().find("-2h"), std::string::npos);
  }
}

}  // namespace
}  // namespace cellfs::fs
