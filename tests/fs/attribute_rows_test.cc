// SPDX-License-Identifier: MIT
//
// How owner and mode, and the times that a version was given, stand in a cell.
#include "fs/attributes/attribute_rows.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace cellfs::fs {
namespace {

std::string After(const std::string& times, const std::optional<timespec>& mtime,
                  Timestamp now) {
  return TimesAfter(times, ReadTimes(times), mtime, now);
}

TEST(RecordsTest, AreReadAsTheyWereWritten) {
  OwnerRecord record;
  for (const char* const text : {"- - - -", "7 - 416 1.5", "7 8 384 - 9", "7 8 384 - 0 - 123", "7 8 384 - 0 420"}) {
    Cell cell;
    cell.value = text;
    ASSERT_TRUE(ReadRecord(cell, record = {}).ok()) << text;
    EXPECT_EQ(WriteRecord(record), text);
    EXPECT_EQ(record.another_from, std::string_view(text).ends_with("123") ? 123 : 0);
  }
  EXPECT_EQ(record.mode, 0600u);
  EXPECT_EQ(record.had_mode, 0644u);
}

TEST(TimesTest, TellWhatWasSoWhen) {
  std::string times = After("", timespec{1, 5}, 100);
  times = After(times, std::nullopt, 200);
  times = After(times, timespec{-3, 7}, 300);
  EXPECT_EQ(times, "-3.7 300 - 200 1.5 100");
  EXPECT_EQ(ReadTimes(times).mtime->tv_sec, -3);
  EXPECT_EQ(ReadTimes(times, 299).mtime, std::nullopt);
  EXPECT_EQ(ReadTimes(times, 299).since, 200);
  EXPECT_EQ(ReadTimes(times, 199).mtime->tv_nsec, 5);
  EXPECT_EQ(ReadTimes(times, 99).since, 0);
}

TEST(TimesTest, OfOneMomentTheLastCounts) {
  std::string times = After(After("", timespec{1, 0}, 100), timespec{2, 0}, 200);
  times = After(times, timespec{3, 0}, 150);  // the clock was set back
  EXPECT_EQ(times, "3.0 200 1.0 100");
}

TEST(TimesTest, OnlySoManyAreKept) {
  std::string times;
  for (Timestamp now = 1; now <= 100; ++now) times = After(times, timespec{now, 0}, now);
  const auto first = static_cast<Timestamp>(100 - kTimeRecords + 1);
  EXPECT_EQ(ReadTimes(times, first).mtime->tv_sec, first);
  EXPECT_EQ(ReadTimes(times, first - 1).since, 0);
}

// Written before there was a history.
TEST(TimesTest, OneThatStandsAloneHoldsFromTheVersionOn) {
  EXPECT_EQ(ReadTimes("1700000000.5", 1).mtime->tv_nsec, 5);
  EXPECT_EQ(ReadTimes("").since, 0);
  EXPECT_EQ(After("1700000000.5", timespec{2, 0}, 9), "2.0 9 1700000000.5 1");
}

}  // namespace
}  // namespace cellfs::fs
