// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_history.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cellfs {
namespace {

constexpr Timestamp kDay = 86'400'000;

std::shared_ptr<const TableSchema> Schema(const std::string& name, TableId id,
                                          const std::string& deleted_ttl = "2592000") {
  auto schema = std::make_shared<TableSchema>(ParseTableName(name));
  FamilySchema family("f");
  EXPECT_TRUE(family.Set("KEEP_DELETED_CELLS", "TRUE").ok());
  EXPECT_TRUE(family.Set("DELETED_TTL", deleted_ttl).ok());
  schema->families.emplace("f", family);
  schema->set_id(id);
  return schema;
}

class CatalogHistoryTest : public testing::Test {
 protected:
  // An act at that time.
  template <typename Change>
  void At(Timestamp now, const Change& change) {
    Catalog after = catalog;
    change(after);
    NotePast(catalog, now, after);
    PrunePast(now, after);
    catalog = std::move(after);
  }
  static constexpr size_t kLarge = 4000;
  static std::shared_ptr<const TableSchema> Large(const std::string& name, TableId id) {
    auto schema = std::make_shared<TableSchema>(*Schema(name, id));
    EXPECT_TRUE(schema->Set("note", std::string(kLarge, 'x')).ok());
    return schema;
  }
  static void Set(Catalog& to, const std::shared_ptr<const TableSchema>& schema, Timestamp created,
                  bool enabled = true) {
    to.tables[schema->name()] = {schema->id(), schema, enabled, created};
  }
  std::vector<std::string> Tables(Timestamp time, const std::string& name_space = "a") const {
    std::vector<std::string> names;
    for (const auto& [name, table] : CatalogAt(catalog, time).tables) {
      if (name.namespace_name == name_space)
        names.push_back(name.name + "#" + std::to_string(table.schema->id()));
    }
    return names;
  }
  PastTable Table(Timestamp time) const {
    const PastCatalog past = CatalogAt(catalog, time);
    return past.tables.at(ParseTableName("a:t"));
  }
  std::vector<std::string> Namespaces(Timestamp time) const {
    std::vector<std::string> names;
    for (const auto& [name, space] : CatalogAt(catalog, time).namespaces) names.push_back(name);
    return names;
  }
  Attributes PropertiesOfN(Timestamp time) const {
    const PastCatalog past = CatalogAt(catalog, time);
    return past.namespaces.at("n").schema.properties;
  }
  using Names = std::vector<std::string>;

  Catalog catalog = NewCatalog();
};

TEST_F(CatalogHistoryTest, ATableIsThereFromItsCreationUntilItIsDropped) {
  const auto first = Schema("a:t", 1), second = Schema("a:t", 2);
  At(100, [&](Catalog& to) { Set(to, first, 100); });
  At(200, [&](Catalog& to) { EraseTable(to, first->name()); });
  At(300, [&](Catalog& to) { Set(to, second, 300); });
  EXPECT_EQ(Tables(99), Names());
  EXPECT_EQ(Tables(100), Names{"t#1"});
  EXPECT_EQ(Tables(199), Names{"t#1"});
  EXPECT_EQ(Tables(200), Names());
  EXPECT_EQ(Tables(300), Names{"t#2"});
  EXPECT_EQ(Tables(150, "b"), Names());
}

TEST_F(CatalogHistoryTest, ATableHasTheNameTheSchemaAndTheStateOfThatTime) {
  const auto was = Schema("a:t", 1), changed = Schema("a:t", 1, "7"), renamed = Schema("b:u", 1);
  At(100, [&](Catalog& to) { Set(to, was, 100); });
  At(200, [&](Catalog& to) { Set(to, changed, 100); });
  At(300, [&](Catalog& to) { Set(to, changed, 100, /*enabled=*/false); });
  At(400, [&](Catalog& to) {
    to.tables.erase(changed->name());
    Set(to, renamed, 100);
  });
  EXPECT_EQ(Table(150).schema, was);
  EXPECT_EQ(Table(200).schema, changed);
  EXPECT_TRUE(Table(299).enabled);
  EXPECT_FALSE(Table(300).enabled);
  EXPECT_EQ(Tables(400, "a"), Names());
  EXPECT_EQ(Tables(399, "b"), Names());
  EXPECT_EQ(Tables(400, "b"), Names{"u#1"});
}

TEST_F(CatalogHistoryTest, WhatChangedNothingLeavesNoPast) {
  At(100, [&](Catalog& to) { Set(to, Schema("a:t", 1), 100); });
  At(200, [](Catalog& to) { AddGrant(to, {"bob", {}, "R"}, true, 200); });
  EXPECT_TRUE(catalog.past_tables.empty());
  EXPECT_TRUE(catalog.past_namespaces.empty());
}

TEST_F(CatalogHistoryTest, NamespacesAreTold) {
  At(50, [&](Catalog& to) { Set(to, Schema("b:t", 1), 50); });  // whose families keep what was
  At(100, [](Catalog& to) { to.namespaces["n"] = {{"n", {}}, 100, 100}; });
  At(200, [](Catalog& to) { to.namespaces["n"] = {{"n", {{"k", "v"}}}, 200, 100}; });
  At(300, [](Catalog& to) { EraseNamespace(to, "n"); });
  EXPECT_EQ(Namespaces(99), (Names{"default", "hbase"}));
  EXPECT_EQ(Namespaces(100), (Names{"default", "hbase", "n"}));
  EXPECT_TRUE(PropertiesOfN(199).empty());
  EXPECT_EQ(PropertiesOfN(200).size(), 1u);
  EXPECT_EQ(Namespaces(300), (Names{"default", "hbase"}));
}

TEST_F(CatalogHistoryTest, ANamespaceWhosePastIsForgottenIsThereFromItsCreation) {
  At(100, [](Catalog& to) { to.namespaces["n"] = {{"n", {}}, 100, 100}; });
  At(200, [](Catalog& to) { to.namespaces["n"] = {{"n", {{"k", "v"}}}, 200, 100}; });
  ASSERT_TRUE(catalog.past_namespaces.empty()) << "no family keeps anything";
  EXPECT_EQ(Namespaces(99), (Names{"default", "hbase"}));
  EXPECT_EQ(PropertiesOfN(150).size(), 1u) << "the next that is kept stands for what was";
}

TEST_F(CatalogHistoryTest, ANamespaceThatWasMadeAnewIsAnother) {
  At(50, [&](Catalog& to) { Set(to, Schema("b:t", 1), 50); });
  At(100, [](Catalog& to) { to.namespaces["n"] = {{"n", {}}, 100, 100}; });
  EXPECT_TRUE(CatalogAt(catalog, 150).namespaces.at("n").is_there);
  At(200, [](Catalog& to) {
    to.dropped_namespaces.push_back({to.namespaces.at("n"), 200});
    EraseNamespace(to, "n");
  });
  At(300, [](Catalog& to) { to.namespaces["n"] = {{"n", {}}, 300, 300}; });
  EXPECT_FALSE(CatalogAt(catalog, 150).namespaces.at("n").is_there);
  EXPECT_EQ(CatalogAt(catalog, 150).namespaces.at("n").dropped, 200);
  EXPECT_FALSE(CatalogAt(catalog, 250).namespaces.contains("n"));
  EXPECT_TRUE(CatalogAt(catalog, 300).namespaces.at("n").is_there);
  EXPECT_EQ(CatalogAt(catalog, 300).namespaces.at("n").dropped, 0);
}

TEST_F(CatalogHistoryTest, AQuotaIsToldWhereItWasInForceThen) {
  At(100, [&](Catalog& to) { Set(to, Schema("a:t", 1), 100); });
  At(200, [&](Catalog& to) { to.table_quotas[ParseTableName("a:t")] = {{7, {}}, 200}; });
  EXPECT_FALSE(Table(199).space_quota);
  ASSERT_TRUE(Table(200).space_quota);
  EXPECT_EQ(Table(200).space_quota->limit, 7);
}

TEST_F(CatalogHistoryTest, ItLastsAsLongAsTheLongestThatAFamilyKeepsOrKept) {
  const Timestamp start = 100 * kDay;
  At(start, [&](Catalog& to) { Set(to, Schema("a:t", 1, "2592000"), start); });
  At(start + 1, [&](Catalog& to) { Set(to, Schema("a:t", 1, "1"), start); });
  At(start + 2, [](Catalog& to) { EraseTable(to, ParseTableName("a:t")); });
  At(start + 30 * kDay, [](Catalog&) {});
  EXPECT_EQ(Tables(start), Names{"t#1"});
  At(start + 30 * kDay + 2, [](Catalog&) {});
  EXPECT_TRUE(catalog.past_tables.empty());
}

TEST_F(CatalogHistoryTest, AFamilyThatKeepsItsPastKeepsThatOfAllTables) {
  auto schema = std::make_shared<TableSchema>(ParseTableName("a:t"));
  schema->families.emplace("f", FamilySchema("f"));
  schema->set_id(1);
  At(100, [&](Catalog& to) { to.tables[schema->name()] = {1, schema, true, 100}; });
  At(200, [&](Catalog& to) { EraseTable(to, schema->name()); });
  EXPECT_TRUE(catalog.past_tables.empty()) << "no family keeps anything";
  At(300, [&](Catalog& to) { Set(to, Schema("a:other", 2), 300); });
  At(400, [&](Catalog& to) { to.tables[schema->name()] = {1, schema, true, 400}; });
  At(500, [&](Catalog& to) { EraseTable(to, schema->name()); });
  EXPECT_EQ(Tables(450), (Names{"other#2", "t#1"}));
}

TEST_F(CatalogHistoryTest, WhatIsForgottenIsToldNoMore) {
  At(100, [&](Catalog& to) { Set(to, Schema("a:t", 1), 100); });
  At(200, [&](Catalog& to) { EraseTable(to, ParseTableName("a:t")); });
  EXPECT_EQ(Tables(150), Names{"t#1"});
  ForgetPast(1, catalog);
  EXPECT_EQ(Tables(150), Names());
}

TEST_F(CatalogHistoryTest, ItIsBoundedInBytesByWhatChangesMost) {
  const auto is_kept = [&](TableId id) {
    return std::count_if(catalog.past_tables.begin(), catalog.past_tables.end(),
                         [&](const auto& past) { return past.state.id == id; });
  };
  At(1, [&](Catalog& to) { Set(to, Schema("a:other", 9), 1); });
  At(2, [&](Catalog& to) { EraseTable(to, ParseTableName("a:other")); });
  for (Timestamp now = 10; now < 500; ++now) {
    At(now, [&](Catalog& to) { Set(to, Large("a:t", 1), 10); });
  }
  EXPECT_LE(PastBytes(catalog), kMaxPastBytes);
  EXPECT_GT(PastBytes(catalog), kMaxPastBytes - kLarge * 2);
  EXPECT_GT(is_kept(1), 200);
  EXPECT_EQ(is_kept(9), 1) << "many changes of one table leave the others their past";
  EXPECT_EQ(Tables(20), Names{"t#1"}) << "the oldest that is kept stands for what is not";
  for (TableId id = 10; id < 500; ++id) {  // made anew again and again
    const Timestamp now = 10000 + static_cast<Timestamp>(id);
    At(now, [&](Catalog& to) { Set(to, Large("a:x", id), now); });
  }
  EXPECT_LE(PastBytes(catalog), kMaxPastBytes);
  EXPECT_EQ(is_kept(9), 1);
  EXPECT_GT(is_kept(1), 100) << "of two names each has a half";
  EXPECT_EQ(is_kept(498), 1) << "the newest stay";
}

TEST_F(CatalogHistoryTest, OfTablesThatTakeAsMuchTheOldestGoes) {
  for (TableId id = 100; id < 600; ++id) {
    const std::string name = "a:t" + std::to_string(id);
    const auto now = static_cast<Timestamp>(id);
    At(now, [&](Catalog& to) { Set(to, Large(name, id), now); });
    At(now, [&](Catalog& to) { EraseTable(to, ParseTableName(name)); });
  }
  ASSERT_LT(catalog.past_tables.size(), 499u);
  EXPECT_EQ(catalog.past_tables.back().state.id, 599u);
  EXPECT_EQ(catalog.past_tables.front().state.id, 600u - catalog.past_tables.size());
}

TEST_F(CatalogHistoryTest, SplitKeysOfOldStatesGoFirst) {
  auto cut = std::make_shared<TableSchema>(*Schema("a:t", 1));
  for (size_t i = 0; i < kMaxPastBytes / 100; ++i) cut->split_keys.push_back(std::to_string(i));
  for (Timestamp now = 1; now <= 20; ++now) {
    At(now, [&](Catalog& to) { Set(to, std::make_shared<TableSchema>(*cut), 1); });
  }
  ASSERT_EQ(catalog.past_tables.size(), 19u);
  const auto kept = [&](size_t i) {
    return catalog.past_tables.at(i).state.schema->split_keys.size();
  };
  EXPECT_EQ(kept(18), cut->split_keys.size());
  EXPECT_EQ(kept(0), 0u);
  EXPECT_EQ(catalog.past_tables.at(0).state.schema->id(), 1u) << "the rest of the state stays";
  EXPECT_EQ(catalog.tables.begin()->second.schema->split_keys.size(), cut->split_keys.size());
}

TEST_F(CatalogHistoryTest, NamespacesHaveAShareOfIt) {
  At(1, [&](Catalog& to) { Set(to, Schema("a:t", 1), 1); });
  At(2, [&](Catalog& to) { Set(to, Schema("a:t", 1), 1); });
  for (Timestamp now = 3; now < 200; ++now) {
    At(now, [&](Catalog& to) {
      to.namespaces["n"] = {{"n", {{"k", std::string(2000, 'x')}}}, now, 3};
    });
  }
  EXPECT_LE(PastBytes(catalog), kMaxPastBytes / 4);
  EXPECT_GT(catalog.past_namespaces.size(), 50u);
  EXPECT_EQ(catalog.past_tables.size(), 1u);
}

TEST_F(CatalogHistoryTest, AClockThatWasSetBackTurnsNoOrderRound) {
  At(100, [&](Catalog& to) { Set(to, Schema("a:t", 1), 100); });
  At(200, [&](Catalog& to) { Set(to, Schema("a:t", 1, "7"), 100); });
  At(150, [&](Catalog& to) { EraseTable(to, ParseTableName("a:t")); });
  EXPECT_EQ(catalog.past_tables.at(1).until, 200);
  EXPECT_EQ(Tables(200), Names());
}

}  // namespace
}  // namespace cellfs
