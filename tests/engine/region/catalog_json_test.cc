// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_json.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

Catalog Example() {
  Catalog catalog = NewCatalog();
  catalog.next_table_id = 8;
  catalog.namespaces["a"] = {{"a", {{"k", std::string("\0\x7f\x80\xff", 4)}}}, 5, 4};
  auto schema = std::make_shared<TableSchema>(ParseTableName("a:表"));
  EXPECT_TRUE(schema->Set("READONLY", "true").ok());
  FamilySchema family("\xfe");
  EXPECT_TRUE(family.Set("VERSIONS", "3").ok());
  EXPECT_TRUE(family.Set("owner", "ann").ok());
  schema->families.emplace("\xfe", family);
  schema->split_keys = {std::string(1, '\0'), "\xff\xff"};
  catalog.tables[schema->name()] = {7, schema, false, 6, 5};
  catalog.dropped_tables.push_back({{6, schema, true, 1}, 16, 17, {{"\xfe", 3}}, 2});
  catalog.dropped_namespaces.push_back({{{"gone", {{"k", "\xff"}}}, 3, 2}, 17});
  catalog.table_quotas[schema->name()] = {{1000, SpaceViolationPolicy::kDisable}, 7};
  catalog.namespace_quotas["a"] = {{int64_t{1} << 60, SpaceViolationPolicy::kNoInserts}, 8};
  catalog.violations[schema->name()] = SpaceViolationPolicy::kNoWritesCompactions;
  catalog.past_tables.push_back({{7, schema, true, 6}, 12});
  catalog.past_namespaces.push_back({{{"gone", {{"k", "\xff"}}}, 3, 2}, 4});
  catalog.emptied[schema->name()] = {{"", 13}, {"\xfe", 14}};
  catalog.emptied_forgotten = 15;
  catalog.begun = {{schema->name(), 2}};
  AddGrant(catalog, {"bob", {"", schema->name(), "\xfe", "\x80"}, "RW"}, true, 9);
  AddGrant(catalog, {"ann", {"a"}, "A"}, true, 10);
  AddGrant(catalog, {"eve", {}, "X"}, true, 11);
  return catalog;
}

TEST(CatalogJsonTest, ACatalogReadsBackAsItself) {
  const Catalog before = Example();
  const auto after = DecodeCatalog(EncodeCatalog(before));
  ASSERT_TRUE(after.ok()) << after.status().ToString();
  EXPECT_EQ(after->next_table_id, 8u);
  EXPECT_EQ(after->namespaces.at("a").value.properties, before.namespaces.at("a").value.properties);
  EXPECT_EQ(after->namespaces.count("hbase"), 1u);
  const CatalogTable& table = after->tables.at(ParseTableName("a:表"));
  EXPECT_EQ(*table.schema, *before.tables.begin()->second.schema);
  EXPECT_TRUE(table.schema->read_only());
  EXPECT_EQ(table.schema->families.at("\xfe").max_versions(), 3);
  EXPECT_EQ(table.id, 7u);
  EXPECT_EQ(table.schema->id(), 7u);
  ASSERT_EQ(after->past_tables.size(), 1u);
  EXPECT_EQ(*after->past_tables[0].state.schema, *table.schema);
  EXPECT_EQ(after->past_tables[0].until, 12);
  ASSERT_EQ(after->past_namespaces.size(), 1u);
  EXPECT_EQ(after->past_namespaces[0].state.value.name, "gone");
  EXPECT_EQ(after->past_namespaces[0].state.created, 2);
  EXPECT_EQ(after->namespaces.at("a").created, 4);
  EXPECT_EQ(table.brought_back, 5);
  ASSERT_EQ(after->dropped_tables.size(), 1u);
  const CatalogDroppedTable& dropped = after->dropped_tables[0];
  EXPECT_EQ(*dropped.table.schema, *table.schema);
  EXPECT_EQ(dropped.table.id, 6u);
  EXPECT_EQ(dropped.dropped, 16);
  EXPECT_EQ(dropped.with_namespace, 17);
  EXPECT_EQ(dropped.emptied, before.dropped_tables[0].emptied);
  EXPECT_EQ(dropped.begun, 2);
  ASSERT_EQ(after->dropped_namespaces.size(), 1u);
  EXPECT_EQ(after->dropped_namespaces[0].space.value.name, "gone");
  EXPECT_EQ(after->dropped_namespaces[0].dropped, 17);
  EXPECT_EQ(after->emptied, before.emptied);
  EXPECT_EQ(after->emptied_forgotten, 15);
  EXPECT_EQ(after->begun, before.begun);
  EXPECT_FALSE(table.enabled);
  EXPECT_EQ(table.created, 6);
  EXPECT_EQ(after->table_quotas.begin()->second.value, before.table_quotas.begin()->second.value);
  EXPECT_EQ(after->namespace_quotas.at("a").value.limit, int64_t{1} << 60);
  EXPECT_EQ(after->violations, before.violations);
  ASSERT_EQ(after->grants.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after->grants[i].value.scope, before.grants[i].value.scope);
    EXPECT_EQ(after->grants[i].value.permissions, before.grants[i].value.permissions);
    EXPECT_EQ(after->grants[i].changed, before.grants[i].changed);
  }
  EXPECT_EQ(EncodeCatalog(*after), EncodeCatalog(before));
}

TEST(CatalogJsonTest, NothingIsTheCatalogOfANewStore) {
  const auto catalog = DecodeCatalog("");
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(catalog->namespaces.size(), 2u);
  EXPECT_EQ(catalog->next_table_id, 1u);
}

TEST(CatalogJsonTest, WhatIsNoCatalogIsCorruption) {
  const std::string whole = EncodeCatalog(Example());
  std::string newer = whole;
  newer.replace(newer.find("\"format\": 3"), 11, "\"format\": 4");
  std::string wrong = whole;
  wrong.replace(wrong.find("\"VERSIONS\": \"3\""), 15, "\"VERSIONS\": \"0\"");
  std::string policy = whole;
  policy.replace(policy.find("NO_INSERTS"), 10, "NO_INSERTZ");
  for (const std::string& bytes : {newer, wrong, policy, whole.substr(0, whole.size() / 2),
                                   std::string("{}"), std::string("[]"), std::string("x")}) {
    EXPECT_EQ(DecodeCatalog(bytes).status().code(), StatusCode::kCorruption);
  }
}

TEST(CatalogTest, GrantsAtOneScopeAreMergedOrReplaced) {
  Catalog catalog = NewCatalog();
  AddGrant(catalog, {"bob", {"a"}, "W"}, true, 1);
  AddGrant(catalog, {"bob", {"a"}, "RA"}, true, 2);
  AddGrant(catalog, {"bob", {"b"}, "R"}, true, 2);
  ASSERT_EQ(catalog.grants.size(), 2u);
  EXPECT_EQ(catalog.grants[0].value.permissions, "RWA");
  AddGrant(catalog, {"bob", {"a"}, "X"}, false, 3);
  EXPECT_EQ(catalog.grants[0].value.permissions, "X");
}

TEST(CatalogTest, TheGrantsOfATableAreBounded) {
  Catalog catalog = NewCatalog();
  const GrantScope table{"", ParseTableName("t"), "f", std::string(30'000, 'q')};
  const size_t most = kMaxGrantBytes / 30'100;
  for (size_t i = 0; i < most; ++i) AddGrant(catalog, {std::to_string(i), table, "R"}, true, 1);
  EXPECT_TRUE(CheckGrantLimit(catalog, table).ok());
  for (const char* user : {"ann", "bob"}) AddGrant(catalog, {user, table, "R"}, true, 1);
  const Status refused = CheckGrantLimit(catalog, table);
  EXPECT_EQ(refused.code(), StatusCode::kIllegalArgument);
  EXPECT_NE(refused.message().find("of table 't' would take"), std::string::npos)
      << refused.message();
  EXPECT_TRUE(CheckGrantLimit(catalog, {"", ParseTableName("u")}).ok());
  EXPECT_TRUE(CheckGrantLimit(catalog, {"default"}).ok());
}

}  // namespace
}  // namespace cellfs
