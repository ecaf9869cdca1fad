// SPDX-License-Identifier: MIT
//
// Columns: one for all names, as long as somebody has a reason; and their locks.
#include "fs/nodes/column_table.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "fs/nodes/column_lock.h"
#include "fs/nodes/inode_table.h"
#include "tests/fs/colliding_keys.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

ColumnTable::Part Family(const std::string& name) {
  return {kTable, std::set<std::string>{name}, std::nullopt};
}

Place CellOf(const std::string& qualifier, const std::string& family = "f") {
  return CellPlace({"default", "t"}, "r", family, qualifier);
}

struct ColumnTableTest : testing::Test {
  bool Takes(const Place& place) {
    auto taken = std::async(std::launch::async, [&, place] {
      const ColumnLock lock = ColumnLock::Of(columns, place);
    });
    const bool took = taken.wait_for(std::chrono::milliseconds(200)) == std::future_status::ready;
    if (!took) waiting.push_back(std::move(taken));
    return took;
  }

  void NoteAbsent(const std::string& qualifier, uint64_t looked_at) {
    const Place cell = CellOf(qualifier);
    columns.NoteAbsent(cell, cell.ColumnNumber(), looked_at);
  }
  bool IsAbsent(const std::string& qualifier) {
    return columns.IsAbsent(*columns.Get(CellOf(qualifier)));
  }

  auto Close(const ColumnTable::Part& part) {
    return std::make_unique<ColumnTable::ClosedColumns>(columns, part);
  }

  ManualClock clock{1000};
  ColumnTable columns{clock, 100};
  std::vector<std::future<void>> waiting;
};

TEST_F(ColumnTableTest, AllNamesShowOneColumn) {
  const ColumnPtr column = columns.Get(CellOf("q"));
  EXPECT_EQ(columns.Find(CellOf("q").As(PlaceKind::kVersion, 5)), column);
  EXPECT_EQ(columns.Get(CellOf("q").As(PlaceKind::kCounter)), column);
  EXPECT_NE(columns.Get(CellOf("p")), column);
}

TEST_F(ColumnTableTest, ItIsThereAsLongAsSomebodyHoldsIt) {
  InodeTable inodes(columns);
  EXPECT_EQ(columns.Find(CellOf("q")), nullptr);
  const NodePtr node = inodes.LookUp(CellOf("q"));
  const NodePtr version = inodes.LookUp(CellOf("q").As(PlaceKind::kVersion, 5));
  EXPECT_EQ(node->column(), version->column());
  inodes.Unlink(CellOf("q"));
  node->column()->PagesAreStale();
  EXPECT_TRUE(node->has_stale_pages()) << "the kernel still knows it";
  EXPECT_TRUE(version->has_stale_pages());
  node->PagesWereDropped(node->stale_pages());
  inodes.Forget(*node, 1);
  node->column()->PagesAreStale();
  EXPECT_FALSE(node->has_stale_pages());
  inodes.Move(CellOf("q").As(PlaceKind::kVersion, 5), CellOf("p"));
  EXPECT_EQ(version->column(), columns.Find(CellOf("p")));
  EXPECT_EQ(columns.Find(CellOf("q")), node->column()) << "who has the node may ask";
}

TEST_F(ColumnTableTest, AChangeByOneNameIsOneByAll) {
  InodeTable inodes(columns);
  const NodePtr node = inodes.LookUp(CellOf("q"));
  const NodePtr version = inodes.LookUp(CellOf("q").As(PlaceKind::kVersion, 5));
  node->Cache({7, 1, {}, true}, Generation::Newest());
  EXPECT_FALSE(version->cached_cell()) << "it is what q shows";
  const uint64_t before = node->generation();
  version->ContentChanged();
  EXPECT_GT(node->generation(), before);
  EXPECT_FALSE(node->cached_cell());
  node->Cache({7, 1, {}, true}, before);
  EXPECT_FALSE(node->cached_cell()) << "it was read before the change";
}

TEST_F(ColumnTableTest, ColumnsOfOneNumberAreTwo) {
  const auto [a, b] = CollidingKeys(HashedUpTo(PlaceKind::kCell, {"r", "f"}));
  const Place mine = CellOf(a);
  const Place theirs = CellOf(b);
  ASSERT_EQ(mine.ColumnNumber(), theirs.ColumnNumber());
  const auto locks = ColumnLock::Of(columns, {mine, theirs, mine});
  EXPECT_EQ(locks.size(), 2U);
}

TEST_F(ColumnTableTest, WhatWasMadeLatelyIsKnownForAnHour) {
  {
    const ColumnLock lock = ColumnLock::Of(columns, CellOf("q"));
    lock.column().NoteCreated(5);
    lock.column().NoteRenamedAway(6, {});
  }
  const ColumnPtr column = columns.Find(CellOf("q"));
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->created(), 5);
  EXPECT_EQ(column->renamed_away(), 6);
  clock.Advance(101);
  EXPECT_FALSE(column->created());
  columns.Get(CellOf("other"))->NoteCreated(7);  // which lets the old go
  EXPECT_EQ(column.use_count(), 1);
  column->NoteCreated(8);
  EXPECT_FALSE(column->renamed_away());
  column->ForgetStamps();
  EXPECT_FALSE(column->created());
}

TEST_F(ColumnTableTest, WhatWasLookedForInVainIsKnownUntilItChanges) {
  NoteAbsent("q", Generation::Newest());
  NoteAbsent("p", Generation::Newest());
  EXPECT_TRUE(IsAbsent("q"));
  EXPECT_FALSE(IsAbsent("other"));
  columns.Get(CellOf("p"))->Changed();
  EXPECT_TRUE(IsAbsent("q")) << "what others do is nothing to it";
  EXPECT_FALSE(IsAbsent("p"));
  columns.ForgetLooks();
  EXPECT_FALSE(IsAbsent("q"));
  EXPECT_EQ(columns.Find(CellOf("q")), nullptr);
}

TEST_F(ColumnTableTest, AColumnThatChangedAndWentSinceIsNotAbsent) {
  const uint64_t looked_at = Generation::Newest();
  columns.Get(CellOf("q"))->Changed();
  ASSERT_EQ(columns.Find(CellOf("q")), nullptr);
  NoteAbsent("q", looked_at);
  EXPECT_FALSE(IsAbsent("q"));
}

TEST_F(ColumnTableTest, OfVeryManyThatAreAbsentTheLastFewAreKnown) {
  for (int i = 0; i < 100; ++i)
    NoteAbsent("q" + std::to_string(i), Generation::Newest());
  EXPECT_TRUE(IsAbsent("q99"));
  EXPECT_EQ(columns.Find(CellOf("q0")), nullptr);
}

TEST_F(ColumnTableTest, WhatWasLookedAtBeforeTheStoreChangedOtherwiseIsNotNoted) {
  const uint64_t looked_at = Generation::Newest();
  columns.ForgetLooks();
  NoteAbsent("q", looked_at);
  columns.NoteFilled({columns.Get(CellOf("p"))}, looked_at);
  EXPECT_FALSE(IsAbsent("q"));
  EXPECT_FALSE(columns.IsFilledBeside(CellOf("q")));
}

TEST_F(ColumnTableTest, AFamilyIsFilledAsLongAsOneThatWasSeenInItIsUnchanged) {
  columns.NoteFilled({columns.Get(CellOf("p")), columns.Get(CellOf("q"))}, Generation::Newest());
  EXPECT_TRUE(columns.IsFilledBeside(CellOf("a")));
  EXPECT_FALSE(columns.IsFilledBeside(CellOf("a", "other")));
  columns.Get(CellOf("p"))->Changed();
  EXPECT_TRUE(columns.IsFilledBeside(CellOf("p")));
  columns.Get(CellOf("q"))->Changed();
  EXPECT_FALSE(columns.IsFilledBeside(CellOf("q")));

  columns.NoteFilled({columns.Get(CellOf("p"))}, Generation::Newest());
  columns.ForgetLooks();
  EXPECT_FALSE(columns.IsFilledBeside(CellOf("a")));
  EXPECT_EQ(columns.Find(CellOf("p")), nullptr);
}

TEST_F(ColumnTableTest, WhatWasPutLastIsTakenOnce) {
  const ColumnPtr column = columns.Get(CellOf("q"));
  column->Changed();
  column->Learn({7, 5, {}, true}, column->generation());
  columns.KeepPut(column, column->generation(), "bytes");
  EXPECT_FALSE(columns.TakePut(*columns.Get(CellOf("p"))));
  const auto cell = columns.TakePut(*column);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->value, "bytes");
  EXPECT_EQ(cell->timestamp, 7);
  EXPECT_FALSE(columns.TakePut(*column));
}

TEST_F(ColumnTableTest, WhatWasPutIsNotTakenAfterAChangeOrWhereItMayExpire) {
  const ColumnPtr column = columns.Get(CellOf("q"));
  column->Learn({7, 5, {}, true}, column->generation());
  columns.KeepPut(column, column->generation(), "bytes");
  column->Changed();
  column->Learn({8, 5, {}, true}, column->generation());
  EXPECT_FALSE(columns.TakePut(*column));
  column->Learn({8, 5, Timestamp{9}, true}, column->generation());
  columns.KeepPut(column, column->generation(), "bytes");
  EXPECT_FALSE(columns.TakePut(*column));
}

TEST_F(ColumnTableTest, NobodyWaitsForAnotherColumn) {
  std::vector<Place> many;
  for (int i = 0; i < 3000; ++i) many.push_back(CellOf("q" + std::to_string(i)));
  auto locks = ColumnLock::Of(columns, many);
  EXPECT_TRUE(Takes(CellOf("other")));
  EXPECT_FALSE(Takes(CellOf("q7")));
  EXPECT_TRUE(ColumnLock::IsAnyHeldHere());
  locks.clear();
  EXPECT_FALSE(ColumnLock::IsAnyHeldHere());
}

TEST_F(ColumnTableTest, WhatIsRenamedHasTheLocksInItsOrder) {
  const auto [from, to] = ColumnLock::Of(columns, CellOf("b"), CellOf("a"));
  EXPECT_EQ(from.column().cell().qualifier, "b");
  EXPECT_EQ(to.column().cell().qualifier, "a");
}

TEST_F(ColumnTableTest, AClosedFamilyIsWaitedFor) {
  const ColumnPtr known = columns.Get(CellOf("known"));
  auto closed = Close(Family("f"));
  EXPECT_FALSE(Takes(CellOf("known")));
  EXPECT_FALSE(Takes(CellOf("new")));
  EXPECT_TRUE(Takes(CellOf("q", "g")));
  closed.reset();
  for (const auto& taken : waiting) taken.wait();
}

TEST_F(ColumnTableTest, AClosedTableLikewise) {
  auto closed = Close({kTable, {}, {}});
  EXPECT_FALSE(Takes(CellOf("q")));
  EXPECT_FALSE(Takes(CellOf("q", "g")));
  EXPECT_TRUE(Takes(CellPlace({"default", "u"}, "r", "f", "q")));
  closed.reset();
  for (const auto& taken : waiting) taken.wait();
}

TEST_F(ColumnTableTest, AndAFamilyOfOneRow) {
  auto closed = Close({kTable, std::set<std::string>{"f"}, "r"});
  EXPECT_FALSE(Takes(CellOf("q")));
  EXPECT_TRUE(Takes(CellOf("q", "g")));
  EXPECT_TRUE(Takes(CellPlace(kTable, "other", "f", "q")));
  closed.reset();
  for (const auto& taken : waiting) taken.wait();
}

// What one reads before its drop the other's must not have made unreadable.
TEST_F(ColumnTableTest, OfATableOneClosesAtATime) {
  auto closed = Close({kTable, {}, {}});
  const auto close = [&](const ColumnTable::Part& part) {
    return std::async(std::launch::async, [this, part] { Close(part); });
  };
  close({{"default", "u"}, {}, {}}).wait();
  auto closing = close(Family("f"));
  EXPECT_EQ(closing.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  closed.reset();
  closing.wait();
}

TEST_F(ColumnTableTest, AFamilyIsClosedWhenNobodyHoldsALockInIt) {
  auto lock = std::make_unique<ColumnLock>(ColumnLock::Of(columns, CellOf("q")));
  auto closing = std::async(std::launch::async, [&] { Close(Family("f")); });
  EXPECT_EQ(closing.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  lock.reset();
  closing.wait();
}

}  // namespace
}  // namespace cellfs::fs
