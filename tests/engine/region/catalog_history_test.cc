// SPDX-License-Identifier: MIT
#include "engine/region/catalog_history.h"

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
  static void Set(Catalog& to, const std::shared_ptr<const TableSchema>& schema, Timestamp created,
                  bool enabled = true) {
    to.tables[schema->name()] = {schema->id(), schema, enabled, created};
  }
  std::vector<std::string> Tables(Timestamp time, const std::string& name_space = "a") const {
    std::vector<std::string> names;
    for (const CatalogTable& table : TablesAt(catalog, name_space, time)) {
      names.push_back(table.schema->name().name + "#" + std::to_string(table.id));
    }
    return names;
  }
  std::vector<std::string> Namespaces(Timestamp time) const {
    std::vector<std::string> names;
    for (const NamespaceSchema& schema : NamespacesAt(catalog, time)) names.push_back(schema.name);
    return names;
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
  EXPECT_EQ(TablesAt(catalog, "a", 150).at(0).schema, was);
  EXPECT_EQ(TablesAt(catalog, "a", 200).at(0).schema, changed);
  EXPECT_TRUE(TablesAt(catalog, "a", 299).at(0).enabled);
  EXPECT_FALSE(TablesAt(catalog, "a", 300).at(0).enabled);
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
  At(50, [&](Catalog& to) { Set(to, Schema("n:t", 1), 50); });  // whose families keep what was
  At(100, [](Catalog& to) { to.namespaces["n"] = {{"n", {}}, 100}; });
  At(200, [](Catalog& to) { to.namespaces["n"] = {{"n", {{"k", "v"}}}, 200}; });
  At(300, [](Catalog& to) { EraseNamespace(to, "n"); });
  EXPECT_EQ(Namespaces(99), (Names{"default", "hbase"}));
  EXPECT_EQ(Namespaces(100), (Names{"default", "hbase", "n"}));
  EXPECT_TRUE(NamespacesAt(catalog, 199).at(2).properties.empty());
  EXPECT_EQ(NamespacesAt(catalog, 200).at(2).properties.size(), 1u);
  EXPECT_EQ(Namespaces(300), (Names{"default", "hbase"}));
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

TEST_F(CatalogHistoryTest, OfFamiliesThatKeepNothingNothingIsKept) {
  auto schema = std::make_shared<TableSchema>(ParseTableName("a:t"));
  schema->families.emplace("f", FamilySchema("f"));
  At(100, [&](Catalog& to) { to.tables[schema->name()] = {1, schema, true, 100}; });
  At(200, [&](Catalog& to) { EraseTable(to, schema->name()); });
  EXPECT_TRUE(catalog.past_tables.empty());
}

TEST_F(CatalogHistoryTest, ItIsBoundedInNumber) {
  const auto is_kept = [&](TableId id) {
    return std::count_if(catalog.past_tables.begin(), catalog.past_tables.end(),
                         [&](const auto& past) { return past.state.id == id; });
  };
  At(1, [&](Catalog& to) { Set(to, Schema("a:other", 9), 1); });
  At(2, [&](Catalog& to) { EraseTable(to, ParseTableName("a:other")); });
  for (Timestamp now = 10; now < 2000; ++now) {
    At(now, [&](Catalog& to) { Set(to, Schema("a:t", 1), 10); });
  }
  EXPECT_EQ(is_kept(1), static_cast<std::ptrdiff_t>(kMaxPastOfTable));
  EXPECT_EQ(is_kept(9), 1) << "many changes of one table leave the others their past";
  EXPECT_EQ(Tables(20), Names{"t#1"}) << "the oldest that is kept stands for what is not";
  for (TableId id = 10; id < 10 + kMaxPast; ++id) {
    const Timestamp now = 2000 + static_cast<Timestamp>(id);
    At(now, [&](Catalog& to) { Set(to, Schema("a:x", id), now); });
  }
  EXPECT_EQ(catalog.past_tables.size(), kMaxPast);
  EXPECT_EQ(is_kept(9), 0);
}

TEST_F(CatalogHistoryTest, ManySplitKeysAreKeptOfTheNewestStatesAlone) {
  auto cut = std::make_shared<TableSchema>(*Schema("a:t", 1));
  for (size_t i = 0; i < kMaxPastSplitBytes / 100; ++i)
    cut->split_keys.push_back(std::to_string(i));
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

TEST_F(CatalogHistoryTest, ItIsBoundedInBytes) {
  const auto told = [](const std::string& name, TableId id) {
    auto schema = std::make_shared<TableSchema>(*Schema(name, id));
    EXPECT_TRUE(schema->Set("note", std::string(kMaxPastBytesOfTable / 4, 'x')).ok());
    return schema;
  };
  At(1, [&](Catalog& to) { Set(to, Schema("a:small", 1), 1); });
  At(2, [&](Catalog& to) { Set(to, Schema("a:small", 1), 1); });
  for (Timestamp now = 10; now < 20; ++now) {
    At(now, [&](Catalog& to) { Set(to, told("a:t", 2), 10); });
  }
  EXPECT_EQ(catalog.past_tables.size(), 1u + 3u) << "a large one leaves the others their past";
  for (TableId id = 10; id < 100; ++id) {
    At(static_cast<Timestamp>(id), [&](Catalog& to) { Set(to, told("a:u", id), 10); });
  }
  EXPECT_LE(catalog.past_tables.size(), kMaxPastBytes / (kMaxPastBytesOfTable / 4));
  EXPECT_GT(catalog.past_tables.size(), 20u);
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
