// SPDX-License-Identifier: MIT
#include "engine/catalog/emptied.h"

#include <gtest/gtest.h>

#include <memory>

namespace cellfs {
namespace {

using Times = std::map<std::string, Timestamp>;

const TableName kTable{.name = "t"};

void Make(Catalog& catalog, Timestamp created) {
  auto schema = std::make_shared<TableSchema>(kTable);
  for (const char* const family : {"f", "g"}) schema->families.emplace(family, family);
  catalog.tables[kTable] = {1, schema, true, created};
}

TEST(EmptiedTest, ATableThatKeptAllSaysNothing) {
  Catalog catalog = NewCatalog();
  Make(catalog, 10);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), Times());
  EXPECT_EQ(EmptiedFamilies(catalog, {.name = "absent"}), Times());
}

TEST(EmptiedTest, TheLatestTimeCounts) {
  Catalog catalog = NewCatalog();
  Make(catalog, 10);
  NoteFamilyEmptied(kTable, "f", 20, catalog);
  NoteFamilyEmptied(kTable, "gone", 21, catalog);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"f", 20}, {"gone", 21}}));
  NoteFamilyEmptied(kTable, "f", 19, catalog);
  NoteTableEmptied(kTable, 15, catalog);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"", 21}}))
      << "though the clock was set back";
  NoteFamilyEmptied(kTable, "f", 30, catalog);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"", 21}, {"f", 30}}));
}

TEST(EmptiedTest, TheFirstOfANameIsKnownUnlessOneMayBeForgotten) {
  Catalog catalog = NewCatalog();
  EXPECT_EQ(TableBegun(catalog, kTable), 0);
  Make(catalog, 10);
  EXPECT_EQ(TableBegun(catalog, kTable), 10);
  NoteFamilyEmptied(kTable, "f", 15, catalog);
  NoteTableEmptied(kTable, 20, catalog);
  catalog.tables.erase(kTable);
  Make(catalog, 30);
  NoteTableEmptied(kTable, 40, catalog);
  EXPECT_EQ(TableBegun(catalog, kTable), 10);
  catalog.begun.clear();  // as of a catalog that has not noted it
  NoteTableEmptied(kTable, 50, catalog);
  EXPECT_EQ(TableBegun(catalog, kTable), 0);
  Catalog forgetful = NewCatalog();
  forgetful.emptied_forgotten = 5;
  Make(forgetful, 10);
  EXPECT_EQ(TableBegun(forgetful, kTable), 0);
}

TEST(EmptiedTest, ATableBringsItsTimesToAnotherName) {
  const TableName renamed{.name = "u"};
  Catalog catalog = NewCatalog();
  Make(catalog, 10);
  NoteTableRenamed(kTable, renamed, 20, catalog);
  MoveTable(catalog, kTable, std::make_shared<TableSchema>(renamed));
  EXPECT_EQ(EmptiedFamilies(catalog, renamed), Times());
  EXPECT_EQ(TableBegun(catalog, renamed), 10);
  EXPECT_EQ(DroppedTables(catalog), (std::map<TableName, Timestamp>{{kTable, 20}}));
  NoteFamilyEmptied(renamed, "f", 30, catalog);
  NoteTableRenamed(renamed, kTable, 40, catalog);
  MoveTable(catalog, renamed, std::make_shared<TableSchema>(kTable));
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"f", 30}}))
      << "nothing else has had the name";
  EXPECT_EQ(TableBegun(catalog, kTable), 10);
}

TEST(EmptiedTest, OthersOfTheNameSayWhatWasBeforeItWasMade) {
  const TableName renamed{.name = "u"};
  const auto rename = [](Catalog& catalog, const TableName& from, const TableName& to,
                         Timestamp now) {
    NoteTableRenamed(from, to, now, catalog);
    MoveTable(catalog, from, std::make_shared<TableSchema>(to));
  };
  Catalog between = NewCatalog();
  Make(between, 10);
  rename(between, kTable, renamed, 20);
  Make(between, 30);  // another one of the name, meanwhile
  NoteTableEmptied(kTable, 40, between);
  between.tables.erase(kTable);
  rename(between, renamed, kTable, 50);
  EXPECT_EQ(EmptiedFamilies(between, kTable), Times());
  EXPECT_EQ(TableBegun(between, kTable), 10);

  Catalog before = NewCatalog();
  Make(before, 5);
  NoteTableEmptied(kTable, 8, before);
  before.tables.erase(kTable);
  Make(before, 10);
  rename(before, kTable, renamed, 20);
  rename(before, renamed, kTable, 30);
  EXPECT_EQ(EmptiedFamilies(before, kTable), (Times{{"", 10}})) << "of the one before";
  EXPECT_EQ(TableBegun(before, kTable), 5);
}

TEST(EmptiedTest, OfTablesThatAreNotThereItIsSaidWhenTheyWere) {
  Catalog catalog = NewCatalog();
  Make(catalog, 10);
  NoteTableEmptied(kTable, 15, catalog);
  EXPECT_TRUE(DroppedTables(catalog).empty()) << "it was truncated";
  catalog.tables.erase(kTable);
  NoteTableEmptied(kTable, 20, catalog);
  EXPECT_EQ(DroppedTables(catalog), (std::map<TableName, Timestamp>{{kTable, 20}}));
}

TEST(EmptiedTest, OfManyDroppedTablesOneTimeStandsForTheOldest) {
  Catalog catalog = NewCatalog();
  for (size_t i = 1; i <= kMaxEmptiedTables + 2; ++i)
    NoteTableEmptied({.name = "t" + std::to_string(i)}, static_cast<Timestamp>(i), catalog);
  PruneEmptied(catalog);
  EXPECT_EQ(catalog.emptied.size(), kMaxEmptiedTables);
  EXPECT_EQ(catalog.emptied_forgotten, 2);
  Make(catalog, 1000);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"", 2}}));
  Make(catalog, 1);
  EXPECT_EQ(EmptiedFamilies(catalog, kTable), (Times{{"", 1}}));
}

TEST(EmptiedTest, OfManyFamiliesOneTimeStandsForTheOldest) {
  Catalog catalog = NewCatalog();
  Make(catalog, 1);
  for (size_t i = 0; i < kMaxEmptiedFamilies + 2; ++i)
    NoteFamilyEmptied(kTable, "x" + std::to_string(i), static_cast<Timestamp>(10 + i), catalog);
  PruneEmptied(catalog);
  EXPECT_EQ(catalog.emptied.at(kTable).size(), kMaxEmptiedFamilies);
  const Times times = EmptiedFamilies(catalog, kTable);
  EXPECT_EQ(times.at(""), 12);
  EXPECT_EQ(times.at("x65"), 75);
}

}  // namespace
}  // namespace cellfs
