// SPDX-License-Identifier: MIT
#include "engine/local/dropped_columns.h"

#include <gtest/gtest.h>

#include <string>

namespace cellfs {
namespace {

constexpr auto kEverywhere = [](const std::string&, const std::string&, std::string_view) {
  return true;
};

void Add(DroppedColumns& dropped, const std::string& row, const std::string& qualifier,
         CellType type = CellType::kPut) {
  CellView cell;
  cell.row = row;
  cell.qualifier = qualifier;
  cell.type = type;
  dropped.Add("f", cell);
}

using Columns = std::vector<RewrittenColumn>;

TEST(DroppedColumnsTest, NamesColumnsOnceAndAFamilyForItsTombstone) {
  DroppedColumns dropped;
  EXPECT_TRUE(dropped.empty());
  Add(dropped, "a", "p");
  Add(dropped, "a", "p");
  Add(dropped, "b", "");
  Add(dropped, "b", "", CellType::kDeleteFamily);
  Add(dropped, "b", "p");
  EXPECT_EQ(std::move(dropped).Changed(kEverywhere),
            (Columns{{"a", "f", "p"}, {"b", "f", std::nullopt}}));
}

TEST(DroppedColumnsTest, AColumnWithoutTombstonesReadsAsBefore) {
  DroppedColumns dropped;
  for (const char* row : {"a", "b", "c"}) Add(dropped, row, "p");
  EXPECT_EQ(std::move(dropped).Changed(
                [](const std::string&, const std::string& row, std::string_view qualifier) {
                  return row == (qualifier.empty() ? "c" : "a");
                }),
            (Columns{{"a", "f", "p"}, {"c", "f", "p"}}));
}

TEST(DroppedColumnsTest, OfManyInOneFamilyItNamesTheFamily) {
  DroppedColumns dropped;
  Add(dropped, "a", "p");
  for (size_t i = 0; i <= 10 * DroppedColumns::kMost; ++i) Add(dropped, "b", std::to_string(i));
  EXPECT_FALSE(dropped.too_many());
  EXPECT_EQ(std::move(dropped).Changed(kEverywhere),
            (Columns{{"a", "f", "p"}, {"b", "f", std::nullopt}}));
}

TEST(DroppedColumnsTest, OfTooManyItNamesNone) {
  DroppedColumns dropped;
  for (size_t i = 0; i < DroppedColumns::kMost; ++i) Add(dropped, "r" + std::to_string(i), "q");
  EXPECT_FALSE(dropped.too_many());
  Add(dropped, "s", "q");
  EXPECT_TRUE(dropped.too_many());
  EXPECT_FALSE(dropped.empty());
  Add(dropped, "t", "q");
  EXPECT_TRUE(dropped.too_many());
}

TEST(DroppedColumnsTest, LongNamesAreTooManySooner) {
  DroppedColumns dropped;
  const std::string name(20000, 'n');
  for (int i = 0; i < 100; ++i) Add(dropped, name + std::to_string(i), name);
  EXPECT_FALSE(dropped.too_many());
  for (int i = 100; i < 250; ++i) Add(dropped, name + std::to_string(i), name);
  EXPECT_TRUE(dropped.too_many());
}

}  // namespace
}  // namespace cellfs
