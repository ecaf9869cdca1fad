// SPDX-License-Identifier: MIT
//
// .deleted of a table and of a row.
#include <gtest/gtest.h>

#include "fs/reading/raw_pieces.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;

class DeletedRowsTest : public testing::Test {
 protected:
  DeletedRowsTest() {
    TableSchema schema(tree_.table);
    for (const char* name : {"f", "g"}) {
      FamilySchema family(name);
      EXPECT_TRUE(family.Set("KEEP_DELETED_CELLS", "TRUE").ok());
      schema.families[name] = family;
    }
    EXPECT_TRUE(tree_.store->CreateTable(Caller::Superuser(), schema).ok());
  }

  void Mutate(Mutation mutation) {
    const auto mutations = RowMutations::Of(std::move(mutation));
    EXPECT_TRUE(tree_.store->Mutate(Caller::Superuser(), tree_.table, mutations).ok());
  }
  void PutAndDelete(const std::string& row, const std::string& family, const std::string& column) {
    Mutate(Put{row, {{family, column, kStart - 10, "value of " + row, {}}}});
    Mutate(Delete{row, {{CellType::kDeleteColumn, family, column, kStart - 5}}});
  }

  Tree tree_;
};

TEST_F(DeletedRowsTest, RowsThatShowNothingAreListed) {
  tree_.Put("both", "stays", "x");
  PutAndDelete("both", "f", "gone");
  PutAndDelete("gone", "f", "q");
  tree_.Put("shown", "q", "x");
  // Only a tombstone is left of it.
  Mutate(Delete{"tombstone", {{CellType::kDeleteColumn, "f", "q", kStart - 5}}});
  EXPECT_EQ(tree_.ListAll("default/t/.deleted"), Names{"gone"});
  EXPECT_EQ(tree_.ListAll("default/t/.deleted/gone"), Names{"f"});
  EXPECT_EQ(tree_.ListAll("default/t/.deleted/gone/f"), Names{"q"});
  EXPECT_EQ(tree_.ReadFile("default/t/.deleted/gone/f/q"), "value of gone");
  EXPECT_EQ(tree_.ReadFile("default/t/.deleted/both/f/gone"), "value of both")
      << "found, so that a restore that has begun goes on";
  for (const char* nothing : {"shown", "tombstone", "never", "gone/g", "gone/f/p"})
    EXPECT_EQ(tree_.Error("default/t/.deleted/" + std::string(nothing)), ENOENT) << nothing;
}

TEST_F(DeletedRowsTest, ManyRowsAreListedPieceByPiece) {
  Names deleted;
  for (int number = 0; number < 1000; ++number) {
    const std::string row = "r" + std::to_string(10000 + number);
    if (number % 3 == 0) {
      PutAndDelete(row, "f", "q");
      deleted.push_back(row);
    } else if (number % 3 == 1) {
      tree_.Put(row, "q", "x");
    } else {
      Mutate(Delete{row, {{CellType::kDeleteFamily, "f", "", kStart - 5}}});
    }
  }
  EXPECT_EQ(tree_.ListAll("default/t/.deleted"), deleted);
}

TEST_F(DeletedRowsTest, ARowLongerThanAPieceIsJudgedByAllOfIt) {
  Put put{"long", {}};
  Delete remove{"long", {}};
  for (size_t number = 0; number < kRawPiece + 100; ++number) {
    remove.markers.push_back(
        {CellType::kDeleteColumn, "f", "a" + std::to_string(10000 + number), kStart - 5});
  }
  put.cells.push_back({"f", "z", kStart - 10, "last", {}});
  remove.markers.push_back({CellType::kDeleteColumn, "f", "z", kStart - 5});
  Mutate(put);
  Mutate(remove);
  EXPECT_EQ(tree_.ListAll("default/t/.deleted"), Names{"long"});
  EXPECT_EQ(tree_.ListAll("default/t/.deleted/long/f"), Names{"z"});
}

TEST_F(DeletedRowsTest, TheFamiliesOfARowThatShowNothingAreInItsOwn) {
  tree_.Put("r", "q", "x");
  PutAndDelete("r", "f", "gone");
  PutAndDelete("r", "g", "gone too");
  EXPECT_EQ(tree_.ListAll("default/t/r/.deleted"), Names{"g"});
  EXPECT_EQ(tree_.ReadFile("default/t/r/.deleted/g/gone too"), "value of r");
  EXPECT_EQ(tree_.ListAll("default/t/.deleted"), Names{});
  EXPECT_EQ(tree_.ListAll("default/t/.deleted/r"), (Names{"f", "g"}));
}

TEST_F(DeletedRowsTest, NothingIsMadeThere) {
  PutAndDelete("gone", "f", "q");
  for (const char* path :
       {"default/t/.deleted", "default/t/.deleted/gone", "default/t/.deleted/gone/f"}) {
    const auto directory = tree_.LookUp(path);
    ASSERT_TRUE(directory.ok());
    const auto made = tree_.filesystem->MakeDirectory(tree_.request, *directory->node, "g", 0755);
    EXPECT_EQ(made.error(), EPERM) << path;
  }
}

}  // namespace
}  // namespace cellfs::fs
