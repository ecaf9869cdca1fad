// SPDX-License-Identifier: MIT
#include "engine/visibility/new_version_tracker.h"

#include <gtest/gtest.h>

#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

// The timestamps of the puts that are not hidden.
std::vector<Timestamp> Alive(int32_t max_versions, std::vector<Cell> cells) {
  NewVersionTracker tracker(max_versions);
  std::vector<Timestamp> alive;
  for (const Cell& cell : Sorted(std::move(cells))) {
    if (cell.type != CellType::kPut) {
      tracker.Add(ViewOf(cell));
    } else if (!tracker.IsHidden(ViewOf(cell))) {
      alive.push_back(cell.timestamp);
    }
  }
  return alive;
}

using Timestamps = std::vector<Timestamp>;

TEST(NewVersionTrackerTest, ATombstoneHidesOnlyWhatWasWrittenBeforeIt) {
  EXPECT_EQ(Alive(5, {PutOf("r", "q", 3, 1), TombstoneOf("r", CellType::kDeleteColumn, "q", 9, 2),
                      PutOf("r", "q", 4, 3)}),
            Timestamps({4}));
}

TEST(NewVersionTrackerTest, APutPushedOutByVersionsDoesNotComeBackWhenANewerOneIsDeleted) {
  EXPECT_EQ(Alive(2, {PutOf("r", "q", 1, 1), PutOf("r", "q", 2, 2), PutOf("r", "q", 3, 3),
                      TombstoneOf("r", CellType::kDelete, "q", 3, 4)}),
            Timestamps({2}));
}

TEST(NewVersionTrackerTest, APutWrittenAfterTheDeleteTakesTheFreePlace) {
  EXPECT_EQ(Alive(2, {PutOf("r", "q", 2, 1), PutOf("r", "q", 3, 2),
                      TombstoneOf("r", CellType::kDelete, "q", 3, 3), PutOf("r", "q", 1, 4)}),
            Timestamps({2, 1}));
}

TEST(NewVersionTrackerTest, FamilyTombstonesReachTheEmptyColumnToo) {
  EXPECT_EQ(Alive(5, {PutOf("r", "", 3, 1), TombstoneOf("r", CellType::kDeleteFamily, "", 9, 2),
                      PutOf("r", "q", 4, 1)}),
            Timestamps({}));
}

}  // namespace
}  // namespace cellfs
