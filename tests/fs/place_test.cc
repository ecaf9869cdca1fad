// SPDX-License-Identifier: MIT
#include "fs/tree/place.h"

#include <gtest/gtest.h>

#include <set>

#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

const Place kCellPlace = CellPlace({"ns", "t"}, "r", "f", "q");

std::shared_ptr<const View> Asof(const std::string& name, TableName scope) {
  auto view = std::make_shared<View>();
  view->name = name;
  view->scope = std::move(scope);
  return view;
}

TEST(PlaceTest, EveryKindInOneColumnHasAnInodeNumberOfItsOwn) {
  std::set<uint64_t> inodes;
  for (const PlaceKind kind : {PlaceKind::kCell, PlaceKind::kVersionsColumn, PlaceKind::kCounter,
                               PlaceKind::kDeletedCell}) {
    inodes.insert(kCellPlace.As(kind).InodeNumber());
  }
  for (const Timestamp timestamp : {0, 1, 2}) {
    inodes.insert(kCellPlace.As(PlaceKind::kVersion, timestamp).InodeNumber());
    inodes.insert(kCellPlace.As(PlaceKind::kVersionsFile, timestamp).InodeNumber());
  }
  EXPECT_EQ(inodes.size(), 10u);
}

TEST(PlaceTest, WhereOneStringEndsBelongsToTheInodeNumber) {
  EXPECT_NE(CellPlace({"ns", "t"}, "ab", "f", "q").InodeNumber(),
            CellPlace({"ns", "t"}, "a", "bf", "q").InodeNumber());
  EXPECT_NE(RowPlace({"ns", "t"}, std::string("a\0", 2)).InodeNumber(),
            RowPlace({"ns", "t"}, "a").InodeNumber());
}

TEST(PlaceTest, ATomlHasALowInodeNumberSoThatCpCopiesItBeforeTheRows) {
  for (int table = 0; table < 100; ++table) {
    const Place schema = TablePlace({"ns", std::to_string(table)}).As(PlaceKind::kSchemaFile);
    EXPECT_LT(schema.InodeNumber(), uint64_t{1} << 40);
  }
}

TEST(PlaceTest, InATableOfOneIdTheTablesNameDoesNotMatter) {
  const auto number = [](const Place& place, TableId id) {
    return place.InodeNumberIn(id, place.InodeNumber());
  };
  const Place renamed = CellPlace({"other", "u"}, "r", "f", "q");
  EXPECT_EQ(number(kCellPlace, 7), number(renamed, 7));
  EXPECT_NE(number(kCellPlace, 7), number(kCellPlace, 8));
  EXPECT_NE(number(kCellPlace, 7), number(RowPlace({"ns", "t"}, "r"), 7));
  EXPECT_EQ(number(kCellPlace, 0), kCellPlace.InodeNumber());
  EXPECT_EQ(number(NamespacePlace("ns"), 7), NamespacePlace("ns").InodeNumber());
  const Place schema = TablePlace({"ns", "t"}).As(PlaceKind::kSchemaFile);
  EXPECT_LT(number(schema, 7), uint64_t{1} << 40);
  Place seen = kCellPlace, seen_renamed = renamed;
  seen.view = Asof("5", {"ns", "t"});
  seen_renamed.view = Asof("5", {"other", "u"});
  EXPECT_NE(number(seen, 7), number(kCellPlace, 7));
}

// Backup programs recognize files by these numbers: they must not change from one version to the
// next.
TEST(PlaceTest, InodeNumbersArePinned) {
  EXPECT_EQ(RootPlace().InodeNumber(), 1u);
  EXPECT_EQ(kCellPlace.InodeNumber(), 10946512454662826660u);
  EXPECT_EQ(kCellPlace.As(PlaceKind::kVersion, 5).ColumnNumber(), kCellPlace.InodeNumber());
}

TEST(PlaceTest, ParentsLeadToTheRoot) {
  for (const PlaceKind kind :
       {PlaceKind::kCell, PlaceKind::kVersion, PlaceKind::kVersionsFile, PlaceKind::kCounter,
        PlaceKind::kDeletedCell, PlaceKind::kVersionsColumn, PlaceKind::kDeletedDirectory}) {
    Place place = kCellPlace.As(kind, kind == PlaceKind::kVersion ? 7 : 0);
    std::vector<Place> above;
    while (place.kind != PlaceKind::kRoot) above.push_back(place = place.Parent());
    ASSERT_GE(above.size(), 5u);
    EXPECT_TRUE(above[above.size() - 1] == RootPlace());
    EXPECT_TRUE(above[above.size() - 2] == NamespacePlace("ns"));
    EXPECT_TRUE(above[above.size() - 3] == TablePlace({"ns", "t"}));
    EXPECT_TRUE(above[above.size() - 4] == RowPlace({"ns", "t"}, "r"));
    EXPECT_TRUE(above[above.size() - 5] == FamilyPlace({"ns", "t"}, "r", "f"));
  }
}

TEST(PlaceTest, AColumnKnowsTheNumbersOfItsRowAndFamily) {
  const Place cell = CellPlace({"ns", "t"}, "r", "f", "q");
  for (const Place& column : {cell, cell.As(PlaceKind::kVersion, 5)}) {
    for (const Place& directory : {RowPlace(cell.table, "r"), FamilyPlace(cell.table, "r", "f")}) {
      EXPECT_EQ(column.NumberAbove(directory.kind), directory.InodeNumber());
      EXPECT_TRUE(column.IsIn(directory, directory.kind));
      EXPECT_FALSE(column.IsIn(cell, directory.kind));
    }
    EXPECT_FALSE(column.IsIn(RowPlace(cell.table, "other"), PlaceKind::kRow));
    EXPECT_FALSE(column.IsIn(FamilyPlace(cell.table, "r", "g"), PlaceKind::kFamily));
  }
}

TEST(PlaceTest, AViewEndsAtTheDirectoryItIsNamedIn) {
  Place row = RowPlace({"ns", "t"}, "r");
  row.view = Asof("5", {"ns", ""});
  const Place table = row.Parent();
  EXPECT_EQ(table.kind, PlaceKind::kTable);
  const Place top = table.Parent();
  EXPECT_EQ(top.kind, PlaceKind::kNamespace);
  EXPECT_NE(top.view, nullptr);
  EXPECT_EQ(top.Parent().kind, PlaceKind::kAsofDirectory);
  EXPECT_TRUE(top.Parent().Parent() == NamespacePlace("ns"));
}

TEST(PlaceTest, TheSameRowIsAnotherFileInAnotherView) {
  const Place row = RowPlace({"ns", "t"}, "r");
  Place in_table = row, in_namespace = row;
  in_table.view = Asof("5", {"ns", "t"});
  in_namespace.view = Asof("5", {"ns", ""});
  EXPECT_NE(row.InodeNumber(), in_table.InodeNumber());
  EXPECT_NE(in_namespace.InodeNumber(), in_table.InodeNumber());
  Place again = row;
  again.view = Asof("5", {"ns", "t"});
  EXPECT_EQ(again.InodeNumber(), in_table.InodeNumber());
  EXPECT_TRUE(again == in_table);
}

TEST(PlaceTraitsTest, AFixedNameIsFoundInTheDirectoriesThatHoldIt) {
  EXPECT_EQ(FixedChildOf(PlaceKind::kTable, ".schema.toml"), PlaceKind::kSchemaFile);
  EXPECT_EQ(FixedChildOf(PlaceKind::kNamespace, ".namespace.toml"), PlaceKind::kNamespaceFile);
  EXPECT_EQ(FixedChildOf(PlaceKind::kFamily, ".versions"), PlaceKind::kVersionsDirectory);
  EXPECT_EQ(FixedChildOf(PlaceKind::kSelfDirectory, "keys"), PlaceKind::kKeysDirectory);
  for (const PlaceKind scope : {PlaceKind::kRoot, PlaceKind::kNamespace, PlaceKind::kTable}) {
    EXPECT_EQ(FixedChildOf(scope, ".asof"), PlaceKind::kAsofDirectory);
  }
  EXPECT_EQ(FixedChildOf(PlaceKind::kNamespace, ".scan"), std::nullopt);
  EXPECT_EQ(FixedChildOf(PlaceKind::kFamily, ".asof"), std::nullopt);
  EXPECT_EQ(FixedChildOf(PlaceKind::kRow, ""), std::nullopt);
}

TEST(PlaceTraitsTest, WhatIsInMemoryIsWhereItsCoordinatesSay) {
  Place beside_toml = TablePlace({"ns", "t"}).As(PlaceKind::kMemoryFile);
  beside_toml.name = "x";
  EXPECT_TRUE(beside_toml.Parent() == TablePlace({"ns", "t"}));
  Place in_versions = FamilyPlace({"ns", "t"}, "r", "f").As(PlaceKind::kMemoryFile);
  in_versions.name = "x";
  EXPECT_EQ(in_versions.Parent().kind, PlaceKind::kVersionsDirectory);
  Place beside_versions = kCellPlace.As(PlaceKind::kMemoryFile, 1);
  beside_versions.name = "x";
  EXPECT_TRUE(beside_versions.Parent() == kCellPlace.As(PlaceKind::kVersionsColumn));
}

}  // namespace
}  // namespace cellfs::fs
