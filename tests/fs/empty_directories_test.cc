// SPDX-License-Identifier: MIT
//
// What is known of rows and families in which nothing is, and for how long.
#include "fs/nodes/empty_directories.h"

#include <gtest/gtest.h>

#include <string>

#include "fs/operations/callers_store.h"
#include "tests/fs/hooked_store.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

Place Family(int row) { return FamilyPlace(kTable, "r" + std::to_string(row), "f"); }

TEST(EmptyDirectories, AreKnownUntilSomethingComes) {
  EmptyDirectories empty;
  empty.Note(Family(1), Generation::Comings());
  EXPECT_TRUE(empty.Has(Family(1)));
  EXPECT_FALSE(empty.Has(Family(2)));
  EXPECT_FALSE(empty.Has(Family(1).Parent()));
  Generation::Next(Change::kTookAway);
  EXPECT_TRUE(empty.Has(Family(1)));
  Generation::Next(Change::kAny);
  EXPECT_FALSE(empty.Has(Family(1)));
}

TEST(EmptyDirectories, WhatCameWhileOneWasLookedAtCounts) {
  EmptyDirectories empty;
  const uint64_t looked_at = Generation::Comings();
  Generation::Next(Change::kAny);
  empty.Note(Family(1), looked_at);
  EXPECT_FALSE(empty.Has(Family(1)));
}

TEST(EmptyDirectories, TheLastFourAreKnownHoweverOftenTheyAreNoted) {
  EmptyDirectories empty;
  const uint64_t looked_at = Generation::Comings();
  empty.Note(Family(0), looked_at);
  for (int row = 1; row <= 4; ++row) empty.Note(Family(row), looked_at);
  for (int again = 0; again < 9; ++again) empty.Note(Family(4), looked_at);
  EXPECT_FALSE(empty.Has(Family(0)));
  for (int row = 1; row <= 4; ++row) EXPECT_TRUE(empty.Has(Family(row))) << row;
}

// A row whose only file was removed.
struct EmptiedRowTest : testing::Test {
  EmptiedRowTest() {
    tree.MakeTable();
    tree.Put("r", "q", "v");
    EXPECT_EQ(tree.Unlink(kQ), 0);
    tree.hooked->before_read = [] { ADD_FAILURE() << "the store is read"; };
  }
  ~EmptiedRowTest() override { tree.hooked->before_read = nullptr; }
  void Put(cellfs::Put put) {
    tree.hooked->before_read = nullptr;
    const auto done =
        store_->Mutate(Caller::Superuser(), tree.table, RowMutations::Of(std::move(put)));
    EXPECT_TRUE(done.ok()) << done.status().ToString();
  }
  HookedTree tree;
  std::unique_ptr<CallersStore> store_ =
      std::make_unique<CallersStore>(*tree.filesystem, Credentials{0, {}});
};

TEST_F(EmptiedRowTest, IsRemovedWithoutALookAtTheStore) {
  if (tree.store->traits().has_other_writers) {
    tree.hooked->before_read = nullptr;
    GTEST_SKIP() << "about what is known exactly";
  }
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r"), 0);
}

TEST_F(EmptiedRowTest, ToWhichAFileCameIsNotRemoved) {
  tree.hooked->before_read = nullptr;
  EXPECT_EQ(tree.Save("default/t/r/f/new", "x"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), ENOTEMPTY);
  EXPECT_EQ(tree.Rmdir("default/t/r"), ENOTEMPTY);
}

TEST_F(EmptiedRowTest, ToWhichACommandPutIsNotRemoved) {
  Put({"r", {{"f", "new", kLatestTimestamp, "x", {}}}});
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), ENOTEMPTY);
  EXPECT_EQ(tree.Rmdir("default/t/r"), ENOTEMPTY);
}

TEST_F(EmptiedRowTest, ToWhichAFileWasRenamedIsNotRemoved) {
  tree.hooked->before_read = nullptr;
  ASSERT_TRUE(tree.store->AddFamily(Caller::Superuser(), tree.table, FamilySchema("g")).ok());
  EXPECT_EQ(tree.Save("default/t/r/g/q", "x"), 0);
  EXPECT_EQ(tree.Error("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rename("default/t/r/g/q", kQ), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), ENOTEMPTY);
}

TEST_F(EmptiedRowTest, WhoseOtherFamilyIsFilledStays) {
  tree.hooked->before_read = nullptr;
  ASSERT_TRUE(tree.store->AddFamily(Caller::Superuser(), tree.table, FamilySchema("g")).ok());
  for (const char* path : {"default/t/r/g/q", kQ}) EXPECT_EQ(tree.Save(path, "x"), 0);
  EXPECT_EQ(tree.Unlink(kQ), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r"), ENOTEMPTY);
}

}  // namespace
}  // namespace cellfs::fs
