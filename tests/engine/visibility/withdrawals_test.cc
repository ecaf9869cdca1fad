// SPDX-License-Identifier: MIT
#include "engine/visibility/withdrawals.h"

#include <gtest/gtest.h>

#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

// The sequence ids of the cells that are not hidden.
std::vector<SequenceId> Seen(std::vector<Cell> cells) {
  Withdrawals withdrawals;
  std::vector<SequenceId> seen;
  for (const Cell& cell : Sorted(std::move(cells))) {
    if (!withdrawals.Hides(ViewOf(cell))) seen.push_back(cell.sequence_id);
  }
  return seen;
}

using SequenceIds = std::vector<SequenceId>;

TEST(WithdrawalsTest, HidesEarlierCellsOfItsColumnTimestampAndType) {
  EXPECT_EQ(Seen({WithdrawalOf("r", "q", 5, 9), PutOf("r", "q", 5, 8), PutOf("r", "q", 5, 3)}),
            SequenceIds({}));
  EXPECT_EQ(Seen({WithdrawalOf("r", "q", 5, 9), PutOf("r", "q", 6, 1), PutOf("r", "q", 4, 2),
                  PutOf("r", "p", 5, 3), PutOf("r", "r", 5, 4), PutOf("s", "q", 5, 5),
                  TombstoneOf("r", CellType::kDelete, "q", 5, 6)}),
            SequenceIds({3, 1, 6, 2, 4, 5}));
}

TEST(WithdrawalsTest, WhatTheSameMutationOrALaterOneWritesStays) {
  EXPECT_EQ(Seen({WithdrawalOf("r", "q", 5, 9), PutOf("r", "q", 5, 9), PutOf("r", "q", 5, 10)}),
            SequenceIds({10, 9}));
}

TEST(WithdrawalsTest, TakesBackATombstone) {
  EXPECT_EQ(Seen({WithdrawalOf("r", "q", 5, 9, CellType::kDeleteColumn), PutOf("r", "q", 5, 1),
                  TombstoneOf("r", CellType::kDeleteColumn, "q", 5, 2)}),
            SequenceIds({1}));
}

TEST(WithdrawalsTest, TheFirstOfSeveralWithdrawalsTellsWhoSeesTheCellStill) {
  Withdrawals withdrawals;
  for (const SequenceId sequence : {9, 7, 3}) {
    withdrawals.Add(ViewOf(WithdrawalOf("r", "q", 5, sequence)));
  }
  withdrawals.Add(ViewOf(WithdrawalOf("r", "q", 5, 6, CellType::kDelete)));
  EXPECT_EQ(withdrawals.markers().size(), 4u);
  EXPECT_EQ(withdrawals.WithdrawnBy(ViewOf(PutOf("r", "q", 5, 8))), 9u);
  EXPECT_EQ(withdrawals.WithdrawnBy(ViewOf(PutOf("r", "q", 5, 5))), 7u);
  EXPECT_EQ(withdrawals.WithdrawnBy(ViewOf(PutOf("r", "q", 5, 2))), 3u);
  EXPECT_EQ(withdrawals.WithdrawnBy(ViewOf(PutOf("r", "q", 4, 2))), 0u);
  EXPECT_TRUE(withdrawals.markers().empty());
}

TEST(WithdrawalsTest, ResetForgets) {
  Withdrawals withdrawals;
  withdrawals.Add(ViewOf(WithdrawalOf("r", "q", 5, 9)));
  withdrawals.Reset();
  EXPECT_FALSE(withdrawals.Hides(ViewOf(PutOf("r", "q", 5, 1))));
}

}  // namespace
}  // namespace cellfs
