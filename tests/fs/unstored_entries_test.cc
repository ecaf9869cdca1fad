// SPDX-License-Identifier: MIT
//
// How many directories are kept that nothing is in.
#include "fs/nodes/unstored_entries.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fs/requests/running_request.h"
#include "tests/fs/hooked_store.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

Place Row(int number) { return RowPlace(kTable, "r" + std::to_string(number)); }

struct UnstoredEntriesTest : testing::Test {
  bool Make(const Place& place, uid_t maker) {
    auto counted = entries.CountMade(maker);
    if (!counted.ok()) {
      EXPECT_EQ(counted.error(), ENOSPC);
      return false;
    }
    UnstoredEntry entry;
    entry.place = place;
    entry.counted = *counted;
    return entries.Add(std::make_shared<const UnstoredEntry>(std::move(entry)));
  }
  bool Has(const Place& place) { return entries.Find(place) != nullptr; }

  UnstoredEntries entries{{.made = 8, .emptied = 3}};
};

TEST_F(UnstoredEntriesTest, WhetherARowHasHeldCellsIsKnownUnderAnotherNameOfItsTable) {
  const TableName other{"default", "other"};
  for (int row : {1, 2}) ASSERT_TRUE(Make(Row(row), 0));
  entries.Fill(Row(1));
  EXPECT_TRUE(entries.HasHeldCells(Row(1)));
  entries.AddEmptied(Row(1), {});
  EXPECT_FALSE(entries.HasHeldCells(Row(2)));
  entries.MoveTable(kTable, other);
  EXPECT_TRUE(entries.HasHeldCells(RowPlace(other, "r1")));
  EXPECT_FALSE(entries.HasHeldCells(RowPlace(other, "r2")));
  EXPECT_TRUE(entries.Find(RowPlace(other, "r2")) != nullptr);
}

TEST_F(UnstoredEntriesTest, WhatMkdirMadeIsCountedUntilItGoes) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Make(Row(i), 1));
  EXPECT_FALSE(Make(Row(4), 1));
  EXPECT_TRUE(Make(Row(5), 2)) << "what is left is for others";
  entries.Remove(Row(0));
  EXPECT_FALSE(Make(Row(4), 1)) << "there are three left, and he has three";
  entries.RemoveBelow(TablePlace(kTable));
  EXPECT_TRUE(Make(Row(4), 1));
}

TEST_F(UnstoredEntriesTest, WhatHoldsNoCellYetIsCounted) {
  EXPECT_FALSE(entries.HasUnfilled());
  const Place family = FamilyPlace(kTable, "r1", "f");
  EXPECT_TRUE(Make(Row(1), 1) && Make(family, 1) && Make(Row(2), 1));
  EXPECT_EQ(entries.Fill(Row(1)), UnstoredEntries::Filled::kNow);
  EXPECT_EQ(entries.Fill(Row(1)), UnstoredEntries::Filled::kBefore) << "it holds one already";
  entries.Remove(Row(2));
  EXPECT_TRUE(entries.HasUnfilled()) << "the family";
  EXPECT_EQ(entries.Fill(family), UnstoredEntries::Filled::kNow);
  EXPECT_FALSE(entries.HasUnfilled());

  entries.AddEmptied(family, {});
  EXPECT_TRUE(entries.HasUnfilled());
  entries.MoveTable(kTable, {"default", "moved"});
  EXPECT_EQ(entries.Fill(family), UnstoredEntries::Filled::kIsNotHere)
      << "it is in the other table";
  EXPECT_TRUE(entries.HasUnfilled());
  entries.RemoveBelow(RowPlace({"default", "moved"}, "r1"));
  EXPECT_FALSE(entries.HasUnfilled());
}

TEST_F(UnstoredEntriesTest, AFileIsFoundUntilItIsMovedOrGoes) {
  const auto file = [](const std::string& name) { return CellPlace(kTable, "r1", "f", name); };
  EXPECT_FALSE(Has(file("a")));
  EXPECT_TRUE(Make(file("a"), 1) && Make(file("b"), 1));
  EXPECT_TRUE(Has(file("a")) && Has(file("b")));
  entries.Move(file("a"), file("b"));
  EXPECT_FALSE(Has(file("a")));
  EXPECT_TRUE(Has(file("b")));
  EXPECT_TRUE(entries.Remove(file("b")));
  EXPECT_FALSE(entries.Remove(file("b")));
  EXPECT_FALSE(Has(file("b")));
  EXPECT_TRUE(Make(file("c"), 1));
  entries.MoveTable(kTable, {"default", "moved"});
  EXPECT_FALSE(Has(file("c")));
  EXPECT_TRUE(Has(CellPlace({"default", "moved"}, "r1", "f", "c")));
}

TEST_F(UnstoredEntriesTest, OfManyThatWereEmptiedTheOldestGoes) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(entries.AddEmptied(Row(i), {}));
  EXPECT_FALSE(entries.AddEmptied(Row(0), {})) << "it is there";
  EXPECT_EQ(entries.AddEmptied(Row(3), {}), Row(0));
  EXPECT_FALSE(Has(Row(0)));
  entries.Remove(Row(1));
  EXPECT_FALSE(entries.AddEmptied(Row(4), {})) << "one has gone";
  EXPECT_EQ(entries.AddEmptied(Row(5), {}), Row(2));
  for (int i = 3; i < 6; ++i) EXPECT_TRUE(Has(Row(i)));
  entries.RemoveBelow(TablePlace(kTable));
  for (int i = 6; i < 9; ++i) EXPECT_FALSE(entries.AddEmptied(Row(i), {}));
}

// Whose directory went so could not make a file in it any more.
TEST_F(UnstoredEntriesTest, NobodyPushesOutWhatOthersEmptied) {
  const auto empty = [&](uid_t user, int row) {
    const RunningRequest running(user, nullptr, nullptr, getpid());
    return entries.AddEmptied(Row(row), {});
  };
  EXPECT_FALSE(empty(1000, 0));
  EXPECT_FALSE(empty(1001, 1));
  EXPECT_FALSE(empty(1001, 2));
  for (int i = 3; i < 9; ++i) EXPECT_EQ(empty(1001, i), Row(i - 2));
  EXPECT_TRUE(Has(Row(0)));
}

TEST_F(UnstoredEntriesTest, OneWithSomethingInItStays) {
  EXPECT_FALSE(entries.AddEmptied(Row(0), {}));
  ASSERT_TRUE(Make(FamilyPlace(kTable, "r0", "f"), 1));
  for (int i = 1; i < 3; ++i) EXPECT_FALSE(entries.AddEmptied(Row(i), {}));
  EXPECT_FALSE(entries.AddEmptied(Row(3), {}));
  EXPECT_EQ(entries.AddEmptied(Row(4), {}), Row(1));
  EXPECT_TRUE(Has(Row(0)));
}

struct FullTreeTest : testing::Test {
  FullTreeTest() {
    tree.MakeTable();
    tree.Put("r", "q", "v");
  }
  HookedTree tree;
};

TEST_F(FullTreeTest, WhoHasMadeTooManyDirectoriesIsToldWhy) {
  UnstoredEntries& unstored = tree.filesystem->parts().tree.unstored;
  std::vector<std::shared_ptr<MadeDirectory>> made;
  for (auto one = unstored.CountMade(0); one.ok(); one = unstored.CountMade(0))
    made.push_back(*one);
  EXPECT_EQ(made.size(), size_t{1} << 19);
  EXPECT_EQ(tree.Mkdir("default/t/other"), ENOSPC);
  EXPECT_EQ(tree.Mkdir("default/t/r/f/.versions/p"), ENOSPC);
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("put files into some, or remove them"),
            std::string::npos);
  const bool is_stored = !tree.store->traits().tables_need_a_family;
  EXPECT_EQ(tree.Mkdir("default/more"), is_stored ? 0 : ENOSPC) << "of a table";
  EXPECT_EQ(tree.Save("default/t/r/f/more", "x"), 0);
  made.pop_back();
  EXPECT_EQ(tree.Mkdir("default/t/other"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/other"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/another"), 0);
}

TEST_F(FullTreeTest, AnEmptiedRowGoesWhenVeryManyWereEmptiedSince) {
  ASSERT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.List("default/t/r"), (std::vector<std::string>{"f"}));
  tree.Put("s", "q", "v");
  LiveTree& live = tree.filesystem->parts().tree;
  for (int i = 0; i < (1 << 16) - 2; ++i) EXPECT_FALSE(live.unstored.AddEmptied(Row(i), {}));
  EXPECT_EQ(tree.Error("default/t/r/f"), 0);
  ASSERT_EQ(tree.Unlink("default/t/s/f/q"), 0);
  EXPECT_EQ(tree.Error("default/t/r"), ENOENT);
  EXPECT_EQ(tree.Error("default/t/s/f"), 0);
}

}  // namespace
}  // namespace cellfs::fs
