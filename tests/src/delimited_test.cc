// SPDX-License-Identifier: MIT
#include "src/commands/delimited.h"

#include <gtest/gtest.h>

#include "src/commands/progress.h"

namespace cellfs {
namespace {

// "row f:a=v@5" of each cell.
std::string PutOf(const std::string& columns, char separator, bool quoted, const std::string& text,
                  bool skips_empty = false) {
  auto delimited = Delimited::Make(columns, separator, quoted);
  if (!delimited.ok()) return delimited.status().message();
  if (skips_empty) delimited->SkipEmpty();
  const auto put = delimited->PutOf(text);
  if (!put.ok()) return put.status().message();
  std::string shown = put->row;
  for (const PutCell& cell : put->cells) {
    shown += " " + cell.family + ":" + cell.qualifier + "=" + cell.value;
    if (cell.timestamp != kLatestTimestamp) shown += "@" + std::to_string(cell.timestamp);
  }
  return shown + (put->time_to_live == kNoCellTtl ? "" : " ttl " + std::to_string(put->time_to_live));
}

TEST(Delimited, EachFieldIsWhatItsColumnSays) {
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a,,f:b", '\t', false, "r\tone\tleft out\t"), "r f:a=one f:b=");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a,f:b", '\t', false, "r\tone\t", true), "r f:a=one");
  EXPECT_EQ(PutOf("f:a,HBASE_TS_KEY,HBASE_ROW_KEY,HBASE_CELL_TTL", '|', false, "v|5|r|60"),
            "r f:a=v@5 ttl 60");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a", ',', false, "r,\"a\""), "r f:a=\"a\"") << "TSV has no quotes";
}

TEST(Delimited, FieldsMayStandInQuotes) {
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a", ',', true, "\"r,1\",\"a \"\"b\"\"\nc\""),
            "r,1 f:a=a \"b\"\nc");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a", ',', true, "r,\"open"), "a quote is open at its end");
}

TEST(Delimited, ARecordEndsWithALineOutsideOfQuotes) {
  const auto csv = Delimited::Make("HBASE_ROW_KEY,f:a", ',', true);
  EXPECT_EQ(csv->FindRecord("r,\"a \"\"b\"\"\nc\"\nnext"), 14);
  EXPECT_EQ(csv->FindRecord("r,\"open\nc"), std::nullopt);
  EXPECT_EQ(csv->FindRecord("r,a"), std::nullopt);
  EXPECT_EQ(Delimited::Make("HBASE_ROW_KEY,f:a", '\t', false)->FindRecord("r\t\"open\n"), 8);
}

TEST(Delimited, WhatIsWrittenIsReadAgain) {
  const std::vector<std::string> fields = {"r", "a,b", "say \"x\"\n", "", "\r"};
  const auto csv = Delimited::Make("HBASE_ROW_KEY,f:a,f:b,f:c,f:d", ',', true);
  const auto record = csv->RecordOf(fields);
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(*record, "r,\"a,b\",\"say \"\"x\"\"\n\",,\"\r\"\n");
  EXPECT_EQ(csv->FindRecord(*record), record->size());
  const auto put = csv->PutOf(record->substr(0, record->size() - 1));
  ASSERT_TRUE(put.ok());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(put->cells[i].value, fields[i + 1]);
  const auto tsv = Delimited::Make("HBASE_ROW_KEY,f:a", '\t', false);
  EXPECT_EQ(*tsv->RecordOf({"r", "say \"x\""}), "r\tsay \"x\"\n");
  EXPECT_FALSE(tsv->RecordOf({"r", "a\tb"}).ok());
  EXPECT_FALSE(tsv->RecordOf({"r", "a\nb"}).ok());
}

TEST(Delimited, WhatIsWrongIsSaid) {
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a", '\t', false, "r"), "it has 1 fields, and --columns 2");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,f:a", '\t', false, "\tv"), "its row is empty");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,HBASE_TS_KEY,f:a", '\t', false, "r\t1x\tv"),
            "HBASE_TS_KEY is no number: '1x'");
  EXPECT_EQ(PutOf("HBASE_ROW_KEY,HBASE_CELL_TTL,f:a", '\t', false, "r\t0\tv").substr(0, 10),
            "\"ttl\" is 0");
  for (const char* wrong : {"f:a", "HBASE_ROW_KEY", "HBASE_ROW_KEY,HBASE_ROW_KEY,f:a",
                            "HBASE_ROW_KEY,a", "HBASE_ROW_KEY,f:a,HBASE_CELL_VISIBILITY",
                            "HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_TS_KEY,f:a"}) {
    EXPECT_EQ(Delimited::Make(wrong, '\t', false).status().code(), StatusCode::kIllegalArgument)
        << wrong;
  }
}

TEST(Progress, SaysHowFarItIsAndHowLongItTakes) {
  using std::chrono::milliseconds;
  EXPECT_EQ(ProgressText(1234567, 5 << 20, 10 << 20, milliseconds(2000)),
            "[##########..........] 50% 1,234,567 cells, 5.0 MiB, 2.5 MiB/s, 0:02 left");
  EXPECT_EQ(ProgressText(7, 1 << 20, 0, milliseconds(1000)), "7 cells, 1.0 MiB, 1.0 MiB/s");
  EXPECT_EQ(ProgressText(0, 0, 100, milliseconds(0)), "[....................] 0% 0 cells, 0 B, 0 B/s");
}

}  // namespace
}  // namespace cellfs
