// SPDX-License-Identifier: MIT
#include "src/commands/delimited.h"

#include <gtest/gtest.h>

#include "src/commands/progress.h"

namespace cellfs {
namespace {

using nlohmann::json;

std::string CellsOf(const std::string& columns, char separator, bool quoted,
                    const std::string& text) {
  const auto delimited = Delimited::Make(columns, separator, quoted);
  if (!delimited.ok()) return delimited.status().message();
  const auto cells = delimited->CellsOf(text);
  return cells.ok() ? json(*cells).dump() : cells.status().message();
}

TEST(Delimited, EachFieldIsWhatItsColumnSays) {
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,f:a,,f:b", '\t', false, "r\tone\tleft out\t"),
            R"([{"column":"f:a","row":"r","value":"one"},{"column":"f:b","row":"r","value":""}])");
  EXPECT_EQ(CellsOf("f:a,HBASE_TS_KEY,HBASE_ROW_KEY,HBASE_CELL_TTL", '|', false, "v|5|r|60"),
            R"([{"column":"f:a","row":"r","timestamp":5,"ttl":60,"value":"v"}])");
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,f:a", ',', false, "r,\"a\""),
            R"([{"column":"f:a","row":"r","value":"\"a\""}])")
      << "TSV has no quotes";
}

TEST(Delimited, FieldsMayStandInQuotes) {
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,f:a", ',', true, "\"r,1\",\"a \"\"b\"\"\nc\""),
            R"([{"column":"f:a","row":"r,1","value":"a \"b\"\nc"}])");
  EXPECT_TRUE(Delimited::Make("HBASE_ROW_KEY,f:a", ',', true)->GoesOn("r,\"open"));
  EXPECT_FALSE(Delimited::Make("HBASE_ROW_KEY,f:a", ',', true)->GoesOn("r,\"a \"\"b\"\"\""));
  EXPECT_FALSE(Delimited::Make("HBASE_ROW_KEY,f:a", '\t', false)->GoesOn("r\t\"open"));
}

TEST(Delimited, WhatIsWrongIsSaid) {
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,f:a", '\t', false, "r"), "it has 1 fields, and --columns 2");
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,f:a", '\t', false, "\tv"), "its row is empty");
  EXPECT_EQ(CellsOf("HBASE_ROW_KEY,HBASE_TS_KEY", '\t', false, "r\t1x"),
            "HBASE_TS_KEY is no number: '1x'");
  for (const char* wrong : {"f:a", "HBASE_ROW_KEY,HBASE_ROW_KEY", "HBASE_ROW_KEY,a",
                            "HBASE_ROW_KEY,HBASE_CELL_VISIBILITY"}) {
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
