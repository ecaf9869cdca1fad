// SPDX-License-Identifier: MIT
#include "engine/visibility/region_scanner.h"

#include <gtest/gtest.h>

#include "engine/filters.h"
#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

CursorSource SourceOf(std::vector<Cell> cells) {
  auto sorted = std::make_shared<const std::vector<Cell>>(Sorted(std::move(cells)));
  return [sorted](const std::string&, bool) -> StatusOr<std::unique_ptr<CellCursor>> {
    return MakeVectorCursor(sorted);
  };
}

// Counts how often its cursors are moved.
CursorSource CountingSourceOf(std::vector<Cell> cells, int* moves) {
  auto sorted = std::make_shared<const std::vector<Cell>>(Sorted(std::move(cells)));
  return [=](const std::string&, bool) -> StatusOr<std::unique_ptr<CellCursor>> {
    return std::unique_ptr<CellCursor>(
        std::make_unique<CountingCursor>(MakeVectorCursor(sorted), moves));
  };
}

// "row qualifier timestamp" of each cell, rows read `batch_rows` at once.
std::string ScanAll(const Scan& scan, const std::shared_ptr<const TableSchema>& schema,
                    const CursorSource& source, size_t batch_rows = 1000, Timestamp now = 100) {
  auto scanner = RegionScanner::Open(scan, {.schema = schema});
  if (!scanner.ok()) return scanner.status().ToString();
  std::string seen;
  while (true) {
    auto rows = (*scanner)->Next({.max_rows = batch_rows}, source, now);
    EXPECT_TRUE(rows.ok());
    if (rows->empty()) return seen;
    for (const RowCells& row : *rows) {
      for (const Cell& cell : row) {
        seen += cell.row + cell.qualifier + std::to_string(cell.timestamp) + " ";
      }
    }
  }
}

const CursorSource& ThreeRows() {
  static const CursorSource source =
      SourceOf({PutOf("a", "p", 1, 1), PutOf("a", "q", 1, 1), PutOf("a", "q", 2, 2),
                TombstoneOf("b", CellType::kDeleteColumn, "q", 9, 4), PutOf("b", "q", 3, 3),
                PutOf("c", "q", 4, 5)});
  return source;
}

TEST(RegionScannerTest, ARowOfHiddenCellsIsNoRow) {
  EXPECT_EQ(ScanAll({}, SchemaWith({}), ThreeRows()), "ap1 aq2 cq4 ");
}

TEST(RegionScannerTest, BatchesOfOneRowGiveTheSameInBothDirections) {
  EXPECT_EQ(ScanAll({}, SchemaWith({}), ThreeRows(), 1), "ap1 aq2 cq4 ");
  Scan reversed;
  reversed.reversed = true;
  EXPECT_EQ(ScanAll(reversed, SchemaWith({}), ThreeRows()), "cq4 ap1 aq2 ");
  EXPECT_EQ(ScanAll(reversed, SchemaWith({}), ThreeRows(), 1), "cq4 ap1 aq2 ");
}

TEST(RegionScannerTest, StartIsInclusiveAndStopExclusiveUnlessTurned) {
  Scan scan;
  scan.start_row = "a";
  scan.stop_row = "c";
  EXPECT_EQ(ScanAll(scan, SchemaWith({}), ThreeRows()), "ap1 aq2 ");
  scan.include_start_row = false;
  scan.include_stop_row = true;
  EXPECT_EQ(ScanAll(scan, SchemaWith({}), ThreeRows()), "cq4 ");
}

TEST(RegionScannerTest, TimeRangeHidesNewerVersionsWithoutCountingThem) {
  Scan scan;
  scan.time_range = {0, 2};
  EXPECT_EQ(ScanAll(scan, SchemaWith({}), ThreeRows()), "ap1 aq1 ");
}

TEST(RegionScannerTest, AReadOfOneColumnPassesTheOthersBy) {
  std::vector<Cell> cells;
  for (int i = 1; i < 1000; ++i) cells.push_back(PutOf("a", "q" + std::to_string(i), 50, i));
  int moves = 0;
  const CursorSource source = CountingSourceOf(std::move(cells), &moves);
  Get absent_then;
  absent_then.row = "a";
  absent_then.columns["f"] = {"q500a"};
  absent_then.time_range = {0, 2};
  auto none = RegionScanner::Read(absent_then, {.schema = SchemaWith({})}, source, 100);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
  EXPECT_LT(moves, 9);

  moves = 0;
  Scan row;
  row.start_row = row.stop_row = "a";
  row.include_stop_row = row.raw = true;
  row.filter = *MakeColumnRangeFilter("q500", true, "q500", true);
  EXPECT_EQ(ScanAll(row, SchemaWith({}), source), "aq50050 ");
  EXPECT_LT(moves, 9);
}

// Tombstones and what they hide, before the columns, between them, and behind.
TEST(RegionScannerTest, AReadOfTwoColumnsPassesWhatWasDeletedInOthersBy) {
  std::vector<Cell> cells{PutOf("a", "a", 50, 1), PutOf("a", "q5", 50, 2)};
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    for (const char* before : {"0", "b", "r"}) {
      cells.push_back(TombstoneOf("a", CellType::kDelete, before + number, 50, 4));
      cells.push_back(PutOf("a", before + number, 50, 3));
    }
  }
  int moves = 0;
  const CursorSource source = CountingSourceOf(std::move(cells), &moves);
  Get get;
  get.row = "a";
  get.columns["f"] = {"a", "q5", "q6"};
  auto found = RegionScanner::Read(get, {.schema = SchemaWith({})}, source, 100);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 2u);
  EXPECT_LT(moves, 30);
}

TEST(RegionScannerTest, RawGivesTombstonesAndRefusesColumns) {
  Scan raw;
  raw.raw = true;
  raw.start_row = "b";
  EXPECT_EQ(ScanAll(raw, SchemaWith({}), ThreeRows()), "bq9 bq3 cq4 ");
  raw.columns["f"] = {"q"};
  EXPECT_EQ(ScanAll(raw, SchemaWith({}), ThreeRows()).substr(0, 10), "DoNotRetry");
}

TEST(RegionScannerTest, LengthsComeWithoutValues) {
  Get get;
  get.row = "c";
  get.lengths_only = true;
  auto cells = RegionScanner::Read(get, {.schema = SchemaWith({})}, ThreeRows(), 100);
  ASSERT_TRUE(cells.ok());
  ASSERT_EQ(cells->size(), 1u);
  EXPECT_EQ((*cells)[0].value, "");
  EXPECT_EQ((*cells)[0].value_length, 1u);
}

TEST(RegionScannerTest, AFamilyTombstoneReachesAColumnAskedForByName) {
  const CursorSource source = SourceOf({TombstoneOf("r", CellType::kDeleteFamily, "", 5, 2),
                                        PutOf("r", "z", 5, 1), PutOf("r", "z", 6, 3)});
  Get get;
  get.row = "r";
  get.columns["f"] = {"z"};
  get.max_versions = kAllVersions;
  auto cells = RegionScanner::Read(get, {.schema = SchemaWith({{"VERSIONS", "9"}})}, source, 100);
  ASSERT_TRUE(cells.ok());
  ASSERT_EQ(cells->size(), 1u);
  EXPECT_EQ((*cells)[0].timestamp, 6);
}

TEST(RegionScannerTest, ARowOverTheMaximumIsRefused) {
  Get get;
  get.row = "a";
  auto cells =
      RegionScanner::Read(get, {.schema = SchemaWith({}), .max_row_size = 10}, ThreeRows(), 100);
  ASSERT_FALSE(cells.ok());
  EXPECT_EQ(cells.status().code(), StatusCode::kDoNotRetry);
}

}  // namespace
}  // namespace cellfs
