// SPDX-License-Identifier: MIT
//
// What a catalog tells of its past, how long, and that acts of administration note it.
#include "engine/region/catalog_json.h"
#include "tests/engine/region/table_fixture.h"

namespace cellfs {
namespace {

constexpr Timestamp kLong = kLeastPastSeconds * 1000;

std::shared_ptr<const TableSchema> SchemaOf(const std::string& table, const std::string& versions) {
  auto schema = std::make_shared<TableSchema>(ParseTableName(table));
  FamilySchema family("f");
  EXPECT_TRUE(family.Set("VERSIONS", versions).ok());
  schema->families.emplace("f", family);
  return schema;
}

// Acts one after the other, each with its time.
class CatalogPastTest : public testing::Test {
 protected:
  void At(Timestamp time, const std::function<void(Catalog&)>& act) {
    Catalog after = catalog_;
    act(after);
    RecordChanges(catalog_, after, time);
    PrunePast(after, time);
    catalog_ = after;
  }
  void Set(Timestamp time, const std::string& table, TableId id, const std::string& versions) {
    At(time, [&](Catalog& after) {
      const auto schema = SchemaOf(table, versions);
      after.tables[schema->name()] = {id, schema};
    });
  }
  void Drop(Timestamp time, const std::string& table) {
    At(time, [&](Catalog& after) { EraseTable(after, ParseTableName(table)); });
  }
  // "name id VERSIONS" of each table.
  std::string Tables(Timestamp time) const {
    std::string text;
    for (const CatalogTable& table : TablesAt(catalog_, "default", time)) {
      text += table.schema->name().ToString() + " " + std::to_string(table.id) + " " +
              std::to_string(table.schema->families.at("f").max_versions()) + ";";
    }
    return text;
  }
  size_t Spaces(Timestamp time) const { return NamespacesAt(catalog_, time).size(); }

  Catalog catalog_ = NewCatalog();
};

TEST_F(CatalogPastTest, TablesAreAsTheyWere) {
  Set(10, "t", 1, "3");
  Set(20, "t", 1, "5");
  Set(30, "u", 2, "1");
  Drop(40, "t");
  Set(50, "t", 3, "7");
  const std::string t = SchemaOf("t", "1")->name().ToString();
  const std::string u = SchemaOf("u", "1")->name().ToString();
  EXPECT_EQ(Tables(9), "");
  EXPECT_EQ(Tables(10), t + " 1 3;");
  EXPECT_EQ(Tables(19), t + " 1 3;");
  EXPECT_EQ(Tables(20), t + " 1 5;");
  EXPECT_EQ(Tables(39), t + " 1 5;" + u + " 2 1;");
  EXPECT_EQ(Tables(40), u + " 2 1;");
  EXPECT_EQ(Tables(50), t + " 3 7;" + u + " 2 1;");
}

TEST_F(CatalogPastTest, ATableOfAnotherNameIsTheSame) {
  Set(10, "t", 1, "3");
  At(20, [](Catalog& after) {
    EraseTable(after, ParseTableName("t"));
    const auto schema = SchemaOf("v", "3");
    after.tables[schema->name()] = {1, schema};
  });
  ASSERT_EQ(TablesAt(catalog_, "default", 15).size(), 1u);
  EXPECT_EQ(TablesAt(catalog_, "default", 15)[0].schema->name().name, "t");
  ASSERT_EQ(TablesAt(catalog_, "default", 20).size(), 1u);
  EXPECT_EQ(TablesAt(catalog_, "default", 20)[0].schema->name().name, "v");
}

TEST_F(CatalogPastTest, NamespacesAreAsTheyWere) {
  At(10, [](Catalog& after) { after.namespaces["a"] = {{"a", {{"k", "1"}}}, 10}; });
  At(20, [](Catalog& after) { after.namespaces["a"] = {{"a", {{"k", "2"}}}, 20}; });
  At(30, [](Catalog& after) { EraseNamespace(after, "a"); });
  EXPECT_EQ(Spaces(9), 2u);
  ASSERT_EQ(Spaces(10), 3u);
  EXPECT_EQ(NamespacesAt(catalog_, 19)[0].properties.at("k"), "1");
  EXPECT_EQ(NamespacesAt(catalog_, 20)[0].properties.at("k"), "2");
  EXPECT_EQ(Spaces(30), 2u);
}

TEST_F(CatalogPastTest, WhatNeverChangedHasNoPast) {
  Set(10, "t", 1, "3");
  Set(20, "t", 1, "3");
  EXPECT_TRUE(catalog_.past_tables.empty());
  EXPECT_EQ(catalog_.tables.begin()->second.changed, 10);
}

TEST_F(CatalogPastTest, ThePastEndsWithTheLongestDeletedTtl) {
  Set(10, "t", 1, "3");
  Drop(20, "t");
  Set(20 + kLong - 1, "u", 2, "1");
  EXPECT_EQ(catalog_.past_tables.size(), 1u);
  Set(20 + kLong, "u", 2, "2");
  EXPECT_EQ(catalog_.past_tables.size(), 1u) << "u's alone";
  EXPECT_EQ(Tables(15), "");
}

TEST_F(CatalogPastTest, AFamilyThatKeepsWhatIsDeletedForEverKeepsItsPast) {
  auto schema = std::make_shared<TableSchema>(*SchemaOf("t", "3"));
  EXPECT_TRUE(schema->families.at("f").Set("KEEP_DELETED_CELLS", "TRUE").ok());
  At(10, [&](Catalog& after) { after.tables[schema->name()] = {1, schema}; });
  Drop(20, "t");
  Set(20 + 100 * kLong, "u", 2, "1");
  EXPECT_EQ(TablesAt(catalog_, "default", 15).size(), 1u);
}

TEST_F(CatalogPastTest, ThePastIsBounded) {
  Set(1, "u", 1, "1");
  Set(2, "u", 1, "2");
  Timestamp time = 10;
  for (int i = 0; i < 2000; ++i) Set(++time, "t", 2, std::to_string(1 + i % 2));
  EXPECT_EQ(catalog_.past_tables.size(), kMostPastOfOne + 1);
  EXPECT_EQ(catalog_.past_tables.front().table.id, 1u) << "another table's stays";
  EXPECT_EQ(catalog_.past_tables.back().until, time);
  for (TableId id = 3; id < 1500; ++id) Set(++time, "t", id, "1");
  EXPECT_EQ(catalog_.past_tables.size(), kMostPast);
}

TEST_F(CatalogPastTest, AClockThatIsSetBackMakesNoPast) {
  Set(10, "t", 1, "3");
  Set(5, "t", 1, "4");
  EXPECT_TRUE(catalog_.past_tables.empty());
}

class StorePastTest : public TableFixture {};

TEST_F(StorePastTest, ActsOfAnAdministratorNoteThePast) {
  const TableName t = ParseTableName("t");
  Create("t");
  const Timestamp created = clock_->Now();
  clock_->Set(clock_->Now() + 5);
  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  clock_->Set(clock_->Now() + 5);
  ASSERT_TRUE(store_->DropTable(root_, t).ok());
  const auto saved = DecodeCatalog(state_->catalog);
  ASSERT_TRUE(saved.ok());
  EXPECT_TRUE(TablesAt(*saved, "default", created - 1).empty());
  ASSERT_EQ(TablesAt(*saved, "default", created).size(), 1u);
  EXPECT_TRUE(TablesAt(*saved, "default", created)[0].enabled);
  ASSERT_EQ(TablesAt(*saved, "default", created + 5).size(), 1u);
  EXPECT_FALSE(TablesAt(*saved, "default", created + 5)[0].enabled);
  EXPECT_TRUE(TablesAt(*saved, "default", created + 10).empty());
}

}  // namespace
}  // namespace cellfs
