// SPDX-License-Identifier: MIT
#include "fs/tree/scan_query.h"

#include <gtest/gtest.h>

#include <random>

namespace cellfs::fs {
namespace {

StatusOr<ScanQuery> Read(std::string_view name) { return ScanQuery::Read(name, NameMode::kPosix); }

Scan ScanOf(std::string_view name) {
  auto query = Read(name);
  EXPECT_TRUE(query.ok()) << query.status().ToString();
  auto scan = query->ToScan();
  EXPECT_TRUE(scan.ok()) << scan.status().ToString();
  return *scan;
}

TEST(ScanQueryTest, ReadsEveryPart) {
  Scan scan = ScanOf(
      "start=a%2Cb,stop=c%2Fd,start_exclusive,stop_inclusive,limit=10,columns=f:q:r,columns=g,"
      "time_range=5..9,versions=3,filter=PrefixFilter('a')");
  EXPECT_EQ(scan.start_row, "a,b");
  EXPECT_FALSE(scan.include_start_row);
  EXPECT_EQ(scan.stop_row, "c/d");
  EXPECT_TRUE(scan.include_stop_row);
  EXPECT_EQ(scan.limit, 10);
  EXPECT_EQ(scan.columns, (Columns{{"f", {"q:r"}}, {"g", {}}}));
  EXPECT_EQ(scan.time_range, (TimeRange{5, 9}));
  EXPECT_EQ(scan.max_versions, 3);
  EXPECT_NE(scan.filter, nullptr);
}

TEST(ScanQueryTest, StartIsInclusiveAndStopExclusive) {
  Scan scan = ScanOf("start=a,stop=b");
  EXPECT_TRUE(scan.include_start_row);
  EXPECT_FALSE(scan.include_stop_row);
}

TEST(ScanQueryTest, APrefixIsARange) {
  Scan scan = ScanOf("prefix=com.");
  EXPECT_EQ(scan.start_row, "com.");
  EXPECT_EQ(scan.stop_row, "com/");
  scan = ScanOf("prefix=com.,start=com.b,stop=d");
  EXPECT_EQ(scan.start_row, "com.b");
  EXPECT_EQ(scan.stop_row, "com/");
  scan = ScanOf("prefix=com.,reverse");
  EXPECT_EQ(scan.start_row, "com/");
  EXPECT_FALSE(scan.include_start_row);
  EXPECT_EQ(scan.stop_row, "com.");
  EXPECT_TRUE(scan.include_stop_row);
}

TEST(ScanQueryTest, InReverseStartIsTheLargestRow) {
  Scan scan = ScanOf("reverse,start=m,stop=c");
  EXPECT_TRUE(scan.reversed);
  EXPECT_EQ(scan.start_row, "m");
  EXPECT_TRUE(scan.include_start_row);
  EXPECT_EQ(scan.stop_row, "c");
  EXPECT_FALSE(scan.include_stop_row);
}

TEST(ScanQueryTest, AWholeFamilyTakesInItsColumns) {
  EXPECT_EQ(ScanOf("columns=f,columns=f:q").columns, (Columns{{"f", {}}}));
  EXPECT_EQ(ScanOf("columns=f:q,columns=f").columns, (Columns{{"f", {}}}));
  EXPECT_EQ(ScanOf("columns=f:").columns, (Columns{{"f", {""}}}));
}

TEST(ScanQueryTest, OpenTimeRangesAndAllVersions) {
  Scan scan = ScanOf("time_range=5..,versions=all");
  EXPECT_EQ(scan.time_range.min, 5);
  EXPECT_EQ(scan.time_range.max, TimeRange().max);
  EXPECT_EQ(scan.max_versions, kAllVersions);
}

TEST(ScanQueryTest, RefusesWhatItDoesNotUnderstand) {
  for (std::string name :
       {"", "limits=5", "limit=", "limit=-1", "limit=1x", "versions=0", "reverse,",
        "time_range=9..5", "time_range=5", "time_range=-1..5", "columns=", "prefix"}) {
    auto query = Read(name);
    ASSERT_FALSE(query.ok()) << name;
    EXPECT_EQ(query.status().code(), StatusCode::kIllegalArgument);
  }
  EXPECT_NE(Read("limit=x").status().message().find("limit=x"), std::string::npos);
  for (const std::string name : {"filter=ValueFilter(=,'binary:x')", "limit=5,filter=A('a', 'b')"})
    EXPECT_NE(Read(name).status().message().find("a comma in a value, as of a filter, is '%2C'"),
              std::string::npos);
  EXPECT_EQ(Read("nonsense").status().message().find("%2C"), std::string::npos);
  EXPECT_EQ(Read("filter=Nonsense(")->ToScan().status().code(), StatusCode::kIllegalArgument);
}

TEST(ScanQueryTest, EveryQueryIsReadBackFromItsName) {
  std::mt19937 random(11);
  auto key = [&] {
    std::string bytes;
    for (size_t i = random() % 5; i > 0; --i) bytes += ",%/.=2Cx@\xff"[random() % 10];
    return bytes;
  };
  for (int i = 0; i < 5000; ++i) {
    ScanQuery query;
    query.prefix = key();
    query.start = key();
    query.stop = key();
    query.start_exclusive = random() % 2;
    query.stop_inclusive = random() % 2;
    query.reverse = random() % 2;
    if (random() % 2) query.limit = random() % 100;
    if (random() % 2) query.columns.emplace_back("f", std::nullopt);
    if (random() % 2) query.columns.emplace_back("g", key());
    if (random() % 2) query.time_range = {3, random() % 2 ? 7 : TimeRange().max};
    if (random() % 2) query.versions = random() % 2 ? 5 : kAllVersions;
    query.filter = key();
    for (NameMode mode : {NameMode::kPosix, NameMode::kPrintable}) {
      auto read = ScanQuery::Read(query.Name(mode), mode);
      ASSERT_TRUE(read.ok()) << query.Name(mode) << ": " << read.status().ToString();
      ASSERT_EQ(*read, query) << query.Name(mode);
    }
  }
}

}  // namespace
}  // namespace cellfs::fs
