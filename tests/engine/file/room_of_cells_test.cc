// SPDX-License-Identifier: MIT
#include "engine/file/room_of_cells.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/visibility/hidden_cells.h"

namespace cellfs {
namespace {

// Of a hundred bytes each.
struct CellOfRoom {
  std::string row, qualifier;
  Timestamp timestamp = 0;
  CellType type = CellType::kPut;
  int64_t time_to_live = kNoCellTtl;
};

RoomFacts RoomOf(const std::vector<CellOfRoom>& cells) {
  HiddenCells hidden;
  RoomOfCells room;
  const CellOfRoom* before = nullptr;
  for (const CellOfRoom& cell : cells) {
    const std::string value(68 - cell.row.size() - cell.qualifier.size(), 'v');
    CellView view;
    view.row = cell.row;
    view.qualifier = cell.qualifier;
    view.timestamp = cell.timestamp;
    view.type = cell.type;
    view.time_to_live = cell.time_to_live;
    view.value = value;
    const bool is_new_row = before == nullptr || before->row != cell.row;
    room.Add(view, hidden.IsHidden(view, is_new_row),
             is_new_row || before->qualifier != cell.qualifier);
    before = &cell;
  }
  return room.Facts();
}

RoomFacts Told(int64_t old_versions, int64_t deleted) {
  return {.old_versions = old_versions, .deleted = deleted};
}

TEST(RoomOfCells, WhatIsBehindANewerVersionIsOld) {
  EXPECT_EQ(RoomOf({}), Told(0, 0));
  EXPECT_EQ(RoomOf({{"a", "p", 2}, {"a", "q", 2}, {"b", "q", 1}}), Told(0, 0));
  EXPECT_EQ(RoomOf({{"a", "p", 3}, {"a", "p", 2}, {"a", "q", 1}, {"b", "q", 1}}), Told(250, 0));
}

TEST(RoomOfCells, TombstonesAndWhatTheyHideAreDeleted) {
  const CellType column = CellType::kDeleteColumn;
  const CellType version = CellType::kDelete;
  EXPECT_EQ(RoomOf({{"a", "p", 3}, {"a", "p", 2, column}, {"a", "p", 2}, {"a", "q", 1}}),
            Told(0, 500));
  EXPECT_EQ(RoomOf({{"a", "p", 3, version}, {"a", "p", 3}, {"a", "p", 2}, {"a", "p", 1}}),
            Told(250, 500))
      << "what is behind a deleted one is the newest";
  EXPECT_EQ(RoomOf({{"a", "p", 9, column}, {"a", "q", 1}, {"b", "p", 1}, {"b", "q", 1}}),
            Told(0, 250))
      << "a tombstone is of its column alone";
}

TEST(RoomOfCells, WhatATombstoneWithATtlOfItsOwnHidesIsBackSomeDay) {
  EXPECT_EQ(RoomOf({{"a", "p", 2, CellType::kDeleteColumn, 1000}, {"a", "p", 2}}), Told(0, 500));
}

TEST(RoomOfCells, TombstonesOfFamiliesAreOfTheirRow) {
  EXPECT_EQ(RoomOf({{"a", "", 5, CellType::kDeleteFamily},
                    {"a", "p", 6},
                    {"a", "p", 5},
                    {"a", "q", 4},
                    {"b", "q", 4}}),
            Told(0, 600));
  EXPECT_EQ(RoomOf({{"a", "", 7, CellType::kDeleteFamilyVersion},
                    {"a", "", 5, CellType::kDeleteFamilyVersion},
                    {"a", "p", 6},
                    {"a", "p", 5},
                    {"b", "p", 7}}),
            Told(0, 600));
}

}  // namespace
}  // namespace cellfs
