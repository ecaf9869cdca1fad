// SPDX-License-Identifier: MIT
//
// Inode numbers are hashes, and no secret ones: what is kept of one place must not be found at
// another of the same number.
#include <gtest/gtest.h>

#include "fs/nodes/column_table.h"
#include "fs/nodes/restoring_readers.h"
#include "fs/tree/error_log.h"
#include "tests/fs/colliding_keys.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

struct CollidingPair {
  Place mine, theirs;
};

CollidingPair CollidingRows() {
  const auto [mine, theirs] = CollidingKeys(HashedUpTo(PlaceKind::kRow, {}));
  return {RowPlace(kTable, mine), RowPlace(kTable, theirs)};
}

CollidingPair CollidingColumns(PlaceKind kind) {
  const auto [mine, theirs] = CollidingKeys(HashedUpTo(kind, {"r", "f"}));
  return {CellPlace(kTable, "r", "f", mine).As(kind), CellPlace(kTable, "r", "f", theirs).As(kind)};
}

class CollisionTest : public WritingTest {};

TEST_F(CollisionTest, WhatWasMadeInADirectoryIsNotInAnother) {
  const auto [mine, theirs] = CollidingRows();
  ASSERT_EQ(mine.InodeNumber(), theirs.InodeNumber());
  ASSERT_EQ(tree.Mkdir("default/t/" + theirs.row), 0);
  ASSERT_EQ(tree.Mkdir("default/t/" + theirs.row + "/f"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/" + mine.row), 0);
  EXPECT_EQ(tree.List("default/t/" + mine.row), std::vector<std::string>());
  EXPECT_EQ(tree.Error("default/t/" + mine.row + "/f"), ENOENT);
  EXPECT_EQ(tree.Mkdir("default/t/" + mine.row + "/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/" + mine.row + "/f"), 0);
  EXPECT_EQ(tree.List("default/t/" + theirs.row), std::vector<std::string>{"f"});
}

TEST_F(CollisionTest, AHiddenTomlHidesNoOther) {
  const auto [mine, theirs] = CollidingKeys(XXH3_64bits_withSeed("default", 7, 0));
  UnstoredEntries unstored;
  unstored.HideToml(TablePlace({"default", theirs}));
  EXPECT_FALSE(unstored.IsTomlHidden(TablePlace({"default", mine})));
  unstored.ShowToml(TablePlace({"default", mine}));
  EXPECT_TRUE(unstored.IsTomlHidden(TablePlace({"default", theirs})));
}

TEST_F(CollisionTest, ATimeIsThatOfOneDirectory) {
  const auto [mine, theirs] = CollidingRows();
  DirectoryTimes times;
  times.Note(theirs, 5);
  EXPECT_FALSE(times.Find(mine));
  times.Note(mine, 7);
  EXPECT_EQ(times.Find(theirs), 5);
  EXPECT_EQ(times.All().size(), 2u);
  times.Forget(mine);
  EXPECT_EQ(times.Find(theirs), 5);
}

TEST_F(CollisionTest, AChangeIsThatOfOneColumn) {
  const auto [mine, theirs] = CollidingColumns(PlaceKind::kCell);
  ASSERT_EQ(mine.ColumnNumber(), theirs.ColumnNumber());
  ColumnTable columns(*tree.clock, 1000);
  const ColumnPtr mine_known = columns.Get(mine);
  const ColumnPtr theirs_known = columns.Get(theirs);
  theirs_known->NoteCreated(5);
  theirs_known->NoteRenamedAway(6, {});
  EXPECT_FALSE(mine_known->created());
  EXPECT_FALSE(mine_known->renamed_away());
  mine_known->NoteCreated(7);
  mine_known->ForgetStamps();
  EXPECT_EQ(columns.Find(theirs.As(PlaceKind::kVersion, 9))->created(), 5);
  EXPECT_EQ(theirs_known->renamed_away(), 6);
}

TEST_F(CollisionTest, AReaderIsThatOfOneFile) {
  const auto [mine, theirs] = CollidingColumns(PlaceKind::kDeletedCell);
  ASSERT_EQ(mine.InodeNumber(), theirs.InodeNumber());
  RestoringReaders readers(*tree.clock);
  readers.Opened(theirs, {}, 1);
  EXPECT_FALSE(readers.Find(mine));
  readers.Closed(mine);
  EXPECT_TRUE(readers.Find(theirs));
}

TEST_F(CollisionTest, AReasonIsThatOfOneFile) {
  const auto [mine, theirs] = CollidingRows();
  ErrorLog errors(*tree.clock);
  errors.Record("mkdir", theirs, {EPERM, "secret"});
  EXPECT_EQ(errors.ReasonFor(mine), "");
  EXPECT_EQ(errors.ReasonFor(theirs), "secret");
  EXPECT_EQ(errors.ReasonFor(theirs.Parent()), "secret");
}

}  // namespace
}  // namespace cellfs::fs
