// SPDX-License-Identifier: MIT
#include "fs/nodes/removed_families.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

Place Family(size_t row, const std::string& family = "f") {
  return FamilyPlace(kTable, "r" + std::to_string(row), family);
}

TEST(RemovedFamilies, AreKnownByRowAndName) {
  RemovedFamilies removed;
  EXPECT_FALSE(removed.Has(Family(1)));
  removed.Note(Family(1));
  removed.Note(Family(1, "g"));
  EXPECT_TRUE(removed.Has(Family(1)));
  EXPECT_FALSE(removed.Has(Family(2)));
  removed.Forget(Family(1));
  EXPECT_FALSE(removed.Has(Family(1)));
  EXPECT_TRUE(removed.Has(Family(1, "g")));
  removed.ForgetRow(Family(1).Parent());
  EXPECT_FALSE(removed.Has(Family(1, "g")));
}

TEST(RemovedFamilies, GoWithTheirTable) {
  RemovedFamilies removed;
  const Place other = FamilyPlace({"default", "other"}, "r1", "f");
  removed.Note(Family(1));
  removed.Note(other);
  removed.ForgetTable(kTable);
  EXPECT_FALSE(removed.Has(Family(1)));
  EXPECT_TRUE(removed.Has(other));
}

TEST(RemovedFamilies, OfVeryManyRowsTheOldestIsForgotten) {
  RemovedFamilies removed;
  for (size_t row = 0; row <= RemovedFamilies::kMostRows; ++row) removed.Note(Family(row));
  EXPECT_FALSE(removed.Has(Family(0)));
  EXPECT_TRUE(removed.Has(Family(1)));
  EXPECT_TRUE(removed.Has(Family(RemovedFamilies::kMostRows)));
}

}  // namespace
}  // namespace cellfs::fs
