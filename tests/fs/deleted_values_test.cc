// SPDX-License-Identifier: MIT
//
// .deleted and .versions of rows whose history is longer than a piece.
#include "fs/reading/deleted_values.h"

#include <gtest/gtest.h>

#include "fs/reading/raw_pieces.h"
#include "fs/store/raw_cells.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;

constexpr int kMany = static_cast<int>(kRawPiece) + 100;

class DeletedValuesTest : public testing::Test {
 protected:
  DeletedValuesTest() { tree_.MakeTable(); }

  void Mutate(Mutation mutation) {
    const auto mutations = RowMutations::Of(std::move(mutation));
    EXPECT_TRUE(tree_.store->Mutate(Caller::Superuser(), tree_.table, mutations).ok());
  }

  Tree tree_;
};

TEST_F(DeletedValuesTest, EachDeletedColumnIsListedOnce) {
  Put put{"r", {}};
  Delete remove{"r", {}};
  Names deleted;
  Names all;
  for (int number = 0; number < kMany; ++number) {
    const std::string column = "q" + std::to_string(10000 + number);
    put.cells.push_back({"f", column, kStart - 10, "value", {}});
    all.push_back(column);
    if (number % 50 != 0) continue;
    remove.markers.push_back({CellType::kDeleteColumn, "f", column, kStart - 5});
    deleted.push_back(column);
  }
  Mutate(put);
  Mutate(remove);
  EXPECT_EQ(tree_.ListAll("default/t/r/f/.deleted"), deleted);
  EXPECT_EQ(tree_.ListAll("default/t/r/f/.versions"), all);
}

TEST_F(DeletedValuesTest, AColumnLongerThanAPieceIsJudgedByItsNewestPut) {
  Put put{"r", {}};
  Delete remove{"r", {}};
  for (const char* column : {"", "hidden", "shown"}) {
    put.cells.push_back({"f", column, 50, "last", {}});
    for (int number = 0; number < kMany; ++number) {
      remove.markers.push_back({CellType::kDelete, "f", column, 100 + number});
    }
  }
  for (const char* column : {"", "hidden"}) {
    remove.markers.push_back({CellType::kDelete, "f", column, 50});
  }
  Mutate(put);
  Mutate(remove);
  EXPECT_EQ(tree_.ListAll("default/t/r/f/.deleted"), (Names{"%empty", "hidden"}));
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/.deleted/hidden"), "last");
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/.deleted/%empty"), "last");
  EXPECT_EQ(tree_.Error("default/t/r/f/.deleted/shown"), ENOENT);
}

TEST_F(DeletedValuesTest, TombstonesOfTheFamilyHideEveryColumn) {
  Put put{"r", {}};
  Delete remove{"r", {}};
  for (int number = 0; number < kMany; ++number) {
    remove.markers.push_back({CellType::kDeleteFamilyVersion, "f", "", 1000 + number});
  }
  put.cells.push_back({"f", "of this time", 1000, "v", {}});
  put.cells.push_back({"f", "later", 1000 + kMany, "v", {}});
  put.cells.push_back({"f", "before", 20, "v", {}});
  Mutate(put);
  Mutate(Delete{"r", {{CellType::kDeleteFamily, "f", "", 20}}});
  Mutate(remove);
  EXPECT_EQ(tree_.ListAll("default/t/r/f/.deleted"), (Names{"before", "of this time"}));
}

TEST_F(DeletedValuesTest, AllVersionsThatAreKeptAreListed) {
  Put put{"r", {}};
  Delete remove{"r", {}};
  for (int number = 0; number < kMany; ++number) {
    put.cells.push_back({"f", "q", 1000 + number, "v", {}});
    if (number >= 5) remove.markers.push_back({CellType::kDelete, "f", "q", 1000 + number});
  }
  Mutate(put);
  Mutate(remove);
  EXPECT_EQ(tree_.ListAll("default/t/r/f/.versions/q"), (Names{"1004", "1003", "1002", "1001", "1000"}));
}

TEST_F(DeletedValuesTest, VersionsOfMoreThanAPieceAreFreedWithTheirFile) {
  if (!tree_.store->traits().withdraws) GTEST_SKIP() << "about a store that withdraws";
  Put put{"r", {}};
  for (int version = 1; version <= 2 * kMany; ++version)
    put.cells.push_back({"f", "q", version, "value", {}});
  Mutate(put);
  Mutate(Delete{"r", {{CellType::kDeleteColumn, "f", "q", kStart}}});
  tree_.Put("r", "other", "x");
  const auto deleted = tree_.LookUp("default/t/r/f/.deleted");
  ASSERT_TRUE(deleted.ok());
  EXPECT_TRUE(tree_.filesystem->Unlink(tree_.request, *deleted->node, "q").ok());
  EXPECT_EQ(tree_.Error("default/t/r/f/.deleted/q"), ENOENT);
  const std::string row = "r";
  const std::string family = "f";
  const auto left =
      RawCellsOfColumn(*tree_.store, Caller::Superuser(), {tree_.table, row, family}, "q");
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->size(), 1u) << "the tombstone";
}

}  // namespace
}  // namespace cellfs::fs
