// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

std::unique_ptr<CellCursor> MergeOf(std::vector<Cell> first, std::vector<Cell> second) {
  std::vector<std::unique_ptr<CellCursor>> cursors;
  cursors.push_back(CursorOver(std::move(first)));
  cursors.push_back(CursorOver(std::move(second)));
  return MergeCursors(std::move(cursors));
}

std::string Walk(CellCursor& cursor) {
  std::string seen;
  while (cursor.valid()) {
    seen += std::string(cursor.cell().row) + std::string(cursor.cell().qualifier) +
            std::to_string(cursor.cell().timestamp) + " ";
    EXPECT_TRUE(cursor.Next().ok());
  }
  return seen;
}

TEST(MergeCursorTest, GivesCellsOfAllCursorsInOrder) {
  auto cursor = MergeOf({PutOf("a", "q", 5, 1), PutOf("b", "q", 1, 2)},
                        {PutOf("a", "q", 7, 3), PutOf("a", "r", 1, 4)});
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(Walk(*cursor), "aq7 aq5 ar1 bq1 ");
}

TEST(MergeCursorTest, SeekStandsAtTheFirstCellNotBeforeThePlace) {
  auto cursor = MergeOf({PutOf("a", "q", 5, 1)}, {PutOf("a", "q", 7, 3)});
  ASSERT_TRUE(cursor->Seek({.row = "a", .qualifier = "q", .timestamp = 6}).ok());
  EXPECT_EQ(Walk(*cursor), "aq5 ");
}

TEST(MergeCursorTest, TurnsToTheRowBefore) {
  auto cursor = MergeOf({PutOf("a", "q", 5, 1), PutOf("c", "q", 1, 2)}, {PutOf("b", "q", 7, 3)});
  ASSERT_TRUE(cursor->SeekToRowBefore("c").ok());
  EXPECT_EQ(Walk(*cursor), "bq7 cq1 ");
  ASSERT_TRUE(cursor->SeekToRowBefore("").ok());
  EXPECT_EQ(Walk(*cursor), "cq1 ");
  ASSERT_TRUE(cursor->SeekToRowBefore("a").ok());
  EXPECT_FALSE(cursor->valid());
}

TEST(MergeCursorTest, WithdrawnCellsAreNotSeenButLaterOnesAre) {
  auto cursor = MergeOf({WithdrawalOf("a", "q", 5, 4), PutOf("a", "q", 5, 6, "again")},
                        {PutOf("a", "q", 5, 3), PutOf("a", "q", 4, 2)});
  ASSERT_TRUE(cursor->Seek({}).ok());
  EXPECT_EQ(cursor->cell().value, "again");
  EXPECT_EQ(Walk(*cursor), "aq5 aq4 ");
}

TEST(MergeCursorTest, ARowWithdrawnAsAWholeIsNoRowBefore) {
  auto cursor =
      MergeOf({WithdrawalOf("b", "q", 5, 4)}, {PutOf("a", "q", 1, 1), PutOf("b", "q", 5, 3)});
  ASSERT_TRUE(cursor->SeekToRowBefore("").ok());
  EXPECT_EQ(Walk(*cursor), "aq1 ");
}

// What thousands of temporaries leave in a row.
TEST(MergeCursorTest, WithdrawnCellsOutsideTheScopeAreNotWalkedOver) {
  std::vector<Cell> cells{PutOf("a", "b", 5, 1), PutOf("a", "z", 5, 2), PutOf("b", "q", 5, 3)};
  for (int i = 0; i < 1000; ++i) {
    for (const std::string column : {"c", "zz"}) {
      const std::string name = column + std::to_string(i);
      cells.push_back(PutOf("a", name, 5, 10));
      cells.push_back(WithdrawalOf("a", name, 5, 11));
    }
  }
  int moves = 0;
  const std::set<std::string> columns{"b", "bb", "z"};
  const auto merge = [&](const CursorScope& scope) {
    std::vector<std::unique_ptr<CellCursor>> cursors;
    cursors.push_back(std::make_unique<CountingCursor>(CursorOver(cells), &moves));
    return MergeCursors(std::move(cursors), scope);
  };
  auto named = merge({.row = "a", .columns = &columns});
  ASSERT_TRUE(named->Seek({.row = "a", .qualifier = "b"}).ok());
  EXPECT_EQ(Walk(*named), "ab5 az5 ");
  ASSERT_TRUE(named->Seek({.row = "a", .qualifier = "bb"}).ok());
  EXPECT_EQ(Walk(*named), "az5 ");
  EXPECT_LT(moves, 20);
  auto whole = merge({.row = "a"});
  ASSERT_TRUE(whole->Seek({.row = "a", .qualifier = "z"}).ok());
  EXPECT_EQ(Walk(*whole), "az5 bq5 ");
}

// Children with cells of the timestamps 9, 6 and 3, and how often each has been moved.
struct ThreeAges {
  ThreeAges(std::vector<Cell> newest, std::vector<Cell> middle, std::vector<Cell> oldest) {
    // The oldest first: the order in which they are given says nothing.
    std::vector<std::unique_ptr<CellCursor>> cursors;
    cursors.push_back(
        std::make_unique<CountingCursor>(CursorOver(std::move(oldest)), &moves[2], 3));
    cursors.push_back(
        std::make_unique<CountingCursor>(CursorOver(std::move(middle)), &moves[1], 6));
    cursors.push_back(
        std::make_unique<CountingCursor>(CursorOver(std::move(newest)), &moves[0], 9));
    cursor = MergeCursors(std::move(cursors));
  }
  std::string Moves() const {
    return std::to_string(moves[0]) + " " + std::to_string(moves[1]) + " " +
           std::to_string(moves[2]);
  }

  int moves[3] = {};
  std::unique_ptr<CellCursor> cursor;
};

TEST(MergeCursorTest, AColumnThatANewChildHasIsNotSoughtInOlderOnes) {
  ThreeAges merge({PutOf("a", "q", 9, 3)}, {PutOf("a", "q", 6, 2), PutOf("a", "r", 5, 2)},
                  {PutOf("a", "q", 3, 1), PutOf("a", "q", 2, 1)});
  ASSERT_TRUE(merge.cursor->Seek({.row = "a", .qualifier = "q"}).ok());
  EXPECT_EQ(merge.cursor->cell().timestamp, 9);
  EXPECT_EQ(merge.Moves(), "1 0 0");
  ASSERT_TRUE(merge.cursor->Seek({.row = "a", .qualifier = "r"}).ok());
  EXPECT_EQ(merge.cursor->cell().timestamp, 5);
  EXPECT_EQ(merge.Moves(), "2 1 0");
  ASSERT_TRUE(merge.cursor->Seek({.row = "a", .qualifier = "q", .timestamp = 7}).ok());
  EXPECT_EQ(merge.cursor->cell().timestamp, 6);
  EXPECT_EQ(merge.Moves(), "3 2 0");
  EXPECT_EQ(Walk(*merge.cursor), "aq6 aq3 aq2 ar5 ");
}

TEST(MergeCursorTest, ARowsBeginIsSoughtEverywhere) {
  ThreeAges merge({PutOf("a", "", 9, 3)}, {}, {});
  ASSERT_TRUE(merge.cursor->Seek({.row = "a"}).ok());
  EXPECT_EQ(merge.Moves(), "1 1 1");
}

TEST(MergeCursorTest, ATombstoneAtTheTimestampOfANewerPutIsFoundInAnOlderChild) {
  ThreeAges merge({PutOf("a", "q", 6, 3)}, {TombstoneOf("a", CellType::kDeleteColumn, "q", 6, 2)},
                  {});
  ASSERT_TRUE(merge.cursor->Seek({.row = "a", .qualifier = "q"}).ok());
  EXPECT_EQ(merge.cursor->cell().type, CellType::kDeleteColumn);
  EXPECT_EQ(merge.Moves(), "1 1 0");
}

TEST(MergeCursorTest, FamilyTombstonesAreSeenWhateverTheScope) {
  const std::set<std::string> columns{"q"};
  std::vector<std::unique_ptr<CellCursor>> cursors;
  cursors.push_back(
      CursorOver({PutOf("a", "", 5, 1), WithdrawalOf("a", "", 5, 2),
                  TombstoneOf("a", CellType::kDeleteFamily, "", 3, 3), PutOf("a", "q", 1, 4)}));
  auto cursor = MergeCursors(std::move(cursors), CursorScope{.row = "a", .columns = &columns});
  ASSERT_TRUE(cursor->Seek({.row = "a"}).ok());
  EXPECT_EQ(Walk(*cursor), "a3 aq1 ");
}

}  // namespace
}  // namespace cellfs
