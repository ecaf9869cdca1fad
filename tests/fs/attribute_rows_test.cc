// SPDX-License-Identifier: MIT
//
// How the times that a version was given stand beside each other.
#include "fs/attributes/attribute_rows.h"

#include <gtest/gtest.h>

#include <optional>

namespace cellfs::fs {
namespace {

TimeRecord Stored(const TimeRecord& time) { return ReadTimes(WriteTimes(time)); }

TEST(TimesTest, TellWhatWasSoWhen) {
  TimeRecord time;
  time = Stored(TimeRecordAfter(time, timespec{1, 5}, 100));
  time = Stored(TimeRecordAfter(time, std::nullopt, 200));
  time = Stored(TimeRecordAfter(time, timespec{-3, 7}, 300));
  EXPECT_EQ(WriteTimes(time), "-3.7 300 - 200 1.5 100");
  EXPECT_EQ(time.mtime->tv_sec, -3);
  EXPECT_EQ(TimeRecordAt(time, 299).mtime, std::nullopt);
  EXPECT_EQ(TimeRecordAt(time, 199).mtime->tv_nsec, 5);
  EXPECT_EQ(TimeRecordAt(time, 99).since, 0);
}

TEST(TimesTest, OfOneMomentTheLastCounts) {
  TimeRecord time = TimeRecordAfter({}, timespec{1, 0}, 100);
  time = TimeRecordAfter(time, timespec{2, 0}, 200);
  time = TimeRecordAfter(time, timespec{3, 0}, 150);  // the clock was set back
  EXPECT_EQ(WriteTimes(time), "3.0 200 1.0 100");
}

TEST(TimesTest, OnlySoManyAreKept) {
  TimeRecord time;
  for (Timestamp now = 1; now <= 100; ++now) time = TimeRecordAfter(time, timespec{now, 0}, now);
  const auto first = static_cast<Timestamp>(100 - kTimeRecords + 1);
  EXPECT_EQ(TimeRecordAt(time, first).mtime->tv_sec, first);
  EXPECT_EQ(TimeRecordAt(time, first - 1).since, 0);
}

// Written before there was a history.
TEST(TimesTest, OneThatStandsAloneHoldsFromTheVersionOn) {
  const TimeRecord time = ReadTimes("1700000000.5");
  EXPECT_EQ(TimeRecordAt(time, 1).mtime->tv_nsec, 5);
  EXPECT_EQ(ReadTimes("").since, 0);
  EXPECT_EQ(WriteTimes(TimeRecordAfter(time, timespec{2, 0}, 9)), "2.0 9 1700000000.5 1");
}

}  // namespace
}  // namespace cellfs::fs
