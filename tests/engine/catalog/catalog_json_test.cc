// SPDX-License-Identifier: MIT
#include "engine/catalog/catalog_json.h"

#include <gtest/gtest.h>

#include <random>

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

// All of its bytes: who changes the format sees it here.
constexpr char kExample[] =
    "{\n"
    " \"begun\": {\n"
    "  \"a:\303\250\302\241\302\250\": 2\n"
    " },\n"
    " \"document\": 0,\n"
    " \"dropped_namespaces\": [\n"
    "  {\n"
    "   \"changed\": 3,\n"
    "   \"created\": 2,\n"
    "   \"dropped\": 17,\n"
    "   \"name\": \"gone\",\n"
    "   \"properties\": {\n"
    "    \"k\": \"\303\277\"\n"
    "   }\n"
    "  }\n"
    " ],\n"
    " \"dropped_tables\": [\n"
    "  {\n"
    "   \"attributes\": {\n"
    "    \"READONLY\": \"true\"\n"
    "   },\n"
    "   \"begun\": 2,\n"
    "   \"created\": 1,\n"
    "   \"dropped\": 16,\n"
    "   \"emptied\": {\n"
    "    \"\303\276\": 3\n"
    "   },\n"
    "   \"enabled\": true,\n"
    "   \"families\": {\n"
    "    \"\303\276\": {\n"
    "     \"VERSIONS\": \"3\",\n"
    "     \"owner\": \"ann\"\n"
    "    }\n"
    "   },\n"
    "   \"id\": 6,\n"
    "   \"name\": \"a:\303\250\302\241\302\250\",\n"
    "   \"splits\": [\n"
    "    \"\\u0000\",\n"
    "    \"\303\277\303\277\"\n"
    "   ],\n"
    "   \"with_namespace\": 17\n"
    "  }\n"
    " ],\n"
    " \"emptied\": {\n"
    "  \"a:\303\250\302\241\302\250\": {\n"
    "   \"\": 13,\n"
    "   \"\303\276\": 14\n"
    "  }\n"
    " },\n"
    " \"emptied_forgotten\": 15,\n"
    " \"format\": 3,\n"
    " \"freed_early\": [],\n"
    " \"grants\": [\n"
    "  {\n"
    "   \"changed\": 9,\n"
    "   \"family\": \"\303\276\",\n"
    "   \"permissions\": \"RW\",\n"
    "   \"qualifier\": \"\302\200\",\n"
    "   \"table\": \"a:\303\250\302\241\302\250\",\n"
    "   \"user\": \"bob\"\n"
    "  },\n"
    "  {\n"
    "   \"changed\": 10,\n"
    "   \"namespace\": \"a\",\n"
    "   \"permissions\": \"A\",\n"
    "   \"user\": \"ann\"\n"
    "  },\n"
    "  {\n"
    "   \"changed\": 11,\n"
    "   \"permissions\": \"X\",\n"
    "   \"user\": \"eve\"\n"
    "  }\n"
    " ],\n"
    " \"namespace_quotas\": [\n"
    "  {\n"
    "   \"changed\": 8,\n"
    "   \"limit\": 1152921504606846976,\n"
    "   \"name\": \"a\",\n"
    "   \"policy\": \"NO_INSERTS\"\n"
    "  }\n"
    " ],\n"
    " \"namespaces\": [\n"
    "  {\n"
    "   \"changed\": 5,\n"
    "   \"created\": 4,\n"
    "   \"name\": \"a\",\n"
    "   \"properties\": {\n"
    "    \"k\": \"\\u0000\177\302\200\303\277\"\n"
    "   }\n"
    "  },\n"
    "  {\n"
    "   \"changed\": 0,\n"
    "   \"created\": 0,\n"
    "   \"name\": \"default\",\n"
    "   \"properties\": {}\n"
    "  },\n"
    "  {\n"
    "   \"changed\": 0,\n"
    "   \"created\": 0,\n"
    "   \"name\": \"hbase\",\n"
    "   \"properties\": {}\n"
    "  }\n"
    " ],\n"
    " \"next_table_id\": 8,\n"
    " \"past_namespaces\": [\n"
    "  {\n"
    "   \"changed\": 3,\n"
    "   \"created\": 2,\n"
    "   \"name\": \"gone\",\n"
    "   \"properties\": {\n"
    "    \"k\": \"\303\277\"\n"
    "   },\n"
    "   \"until\": 4\n"
    "  }\n"
    " ],\n"
    " \"past_tables\": [\n"
    "  {\n"
    "   \"attributes\": {\n"
    "    \"READONLY\": \"true\"\n"
    "   },\n"
    "   \"created\": 6,\n"
    "   \"enabled\": true,\n"
    "   \"families\": {\n"
    "    \"\303\276\": {\n"
    "     \"VERSIONS\": \"3\",\n"
    "     \"owner\": \"ann\"\n"
    "    }\n"
    "   },\n"
    "   \"id\": 7,\n"
    "   \"name\": \"a:\303\250\302\241\302\250\",\n"
    "   \"splits\": [\n"
    "    \"\\u0000\",\n"
    "    \"\303\277\303\277\"\n"
    "   ],\n"
    "   \"until\": 12\n"
    "  }\n"
    " ],\n"
    " \"table_quotas\": [\n"
    "  {\n"
    "   \"changed\": 7,\n"
    "   \"limit\": 1000,\n"
    "   \"name\": \"a:\303\250\302\241\302\250\",\n"
    "   \"policy\": \"DISABLE\"\n"
    "  }\n"
    " ],\n"
    " \"tables\": [\n"
    "  {\n"
    "   \"attributes\": {\n"
    "    \"READONLY\": \"true\"\n"
    "   },\n"
    "   \"brought_back\": 5,\n"
    "   \"created\": 6,\n"
    "   \"enabled\": false,\n"
    "   \"families\": {\n"
    "    \"\303\276\": {\n"
    "     \"VERSIONS\": \"3\",\n"
    "     \"owner\": \"ann\"\n"
    "    }\n"
    "   },\n"
    "   \"id\": 7,\n"
    "   \"name\": \"a:\303\250\302\241\302\250\",\n"
    "   \"splits\": [\n"
    "    \"\\u0000\",\n"
    "    \"\303\277\303\277\"\n"
    "   ]\n"
    "  }\n"
    " ],\n"
    " \"violations\": {\n"
    "  \"a:\303\250\302\241\302\250\": \"NO_WRITES_COMPACTIONS\"\n"
    " }\n"
    "}";

TEST(CatalogJsonTest, ACatalogIsThisText) {
  EXPECT_EQ(EncodeCatalog(Example()), kExample);
  const auto catalog = DecodeCatalog({kExample, {}});
  ASSERT_TRUE(catalog.ok()) << catalog.status().ToString();
  EXPECT_EQ(EncodeCatalog(*catalog), kExample);
}

TEST(CatalogJsonTest, AnEditIsThisText) {
  const Catalog before = Example();
  Catalog after = before;
  after.next_table_id = 9;
  after.tables.begin()->second.enabled = true;
  after.grants.erase(after.grants.begin());
  AddGrant(after, {"\xff", {"a"}, "R"}, true, 12);
  after.begun.clear();
  constexpr char kEdit[] =
      R"({"at":{"grants":[2]},"gone":{"begun":["a:è¡¨"],"grants":[0]},)"
      R"("grants":[{"changed":12,"namespace":"a","permissions":"R","user":"ÿ"}],)"
      R"("next_table_id":9,"tables":[{"attributes":{"READONLY":"true"},"brought_back":5,)"
      R"("created":6,"enabled":true,"families":{"þ":{"VERSIONS":"3","owner":"ann"}},)"
      R"("id":7,"name":"a:è¡¨","splits":["\u0000","ÿÿ"]}]})";
  EXPECT_EQ(EncodeCatalogEdit(before, after), kEdit);
  const auto catalog = DecodeCatalog({kExample, {kEdit}});
  ASSERT_TRUE(catalog.ok()) << catalog.status().ToString();
  EXPECT_EQ(EncodeCatalog(*catalog), EncodeCatalog(after));
}

TEST(CatalogJsonTest, ACatalogReadsBackAsItself) {
  const Catalog before = Example();
  const auto after = DecodeCatalog({EncodeCatalog(before), {}});
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
  const auto catalog = DecodeCatalog({});
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
    EXPECT_EQ(DecodeCatalog({bytes, {}}).status().code(), StatusCode::kCorruption);
  }
}

TEST(CatalogJsonTest, AnEditThatDoesNotFitIsCorruption) {
  const std::string whole = EncodeCatalog(Example());
  for (const char* edit : {"", "x", "[]", R"({"tables": [{}]})", R"({"gone": {"grants": [3]}})",
                           R"({"grants": [{"user": "x", "permissions": "R", "changed": 1}],
                               "at": {"grants": [4]}})"}) {
    EXPECT_EQ(DecodeCatalog({whole, {edit}}).status().code(), StatusCode::kCorruption) << edit;
  }
  EXPECT_TRUE(DecodeCatalog({whole, {"{}"}}).ok());
}

// Some acts of administration, of which none is possible in a real store that this could not be.
class RandomActs {
 public:
  explicit RandomActs(unsigned seed) : random_(seed) {}

  void Act(Catalog& catalog) {
    for (int n = Below(4); n >= 0; --n) One(catalog);
  }

 private:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
  TableName Table() {
    return {Below(2) == 0 ? "default" : "a", "\xc3\xa4" + std::to_string(Below(5))};
  }
  CatalogTable MakeTable(const TableName& name, TableId id) {
    auto schema = std::make_shared<TableSchema>(name);
    for (int n = Below(3); n >= 0; --n) {
      FamilySchema family(std::string(1, static_cast<char>('f' + n)));
      EXPECT_TRUE(family.Set("VERSIONS", std::to_string(1 + Below(9))).ok());
      schema->families.emplace(family.name(), family);
    }
    if (Below(3) == 0) schema->split_keys = {std::string("\0\xff", 2), "k"};
    schema->set_id(id);
    return {id, schema, Below(4) != 0, Below(100), Below(3)};
  }
  template <typename T>
  void EraseOne(std::vector<T>& list) {
    if (!list.empty()) list.erase(list.begin() + Below(static_cast<int>(list.size())));
  }

  void One(Catalog& catalog) {
    const TableName name = Table();
    switch (Below(14)) {
      case 0:
      case 1:
        catalog.tables.insert_or_assign(name, MakeTable(name, catalog.next_table_id++));
        break;
      case 2:
        if (const auto found = catalog.tables.find(name); found != catalog.tables.end()) {
          catalog.dropped_tables.push_back({found->second, Below(100), Below(2), {{"f", 3}}, 1});
          catalog.tables.erase(found);
        }
        break;
      case 3:
        if (const auto found = catalog.tables.find(name); found != catalog.tables.end())
          catalog.past_tables.push_back({found->second, Below(100)});
        break;
      case 4:
        for (auto& past : catalog.past_tables)
          if (Below(2) == 0) past.state = MakeTable(name, past.state.id);
        break;
      case 5:
        EraseOne(catalog.past_tables);
        EraseOne(catalog.past_tables);
        EraseOne(catalog.dropped_tables);
        break;
      case 6:
        AddGrant(catalog, {"u" + std::to_string(Below(4)), {"", name}, "RW"}, Below(2) == 0,
                 Below(100));
        break;
      case 7:
        EraseOne(catalog.grants);
        break;
      case 8: {
        const std::string space = "n" + std::to_string(Below(3));
        catalog.namespaces[space] = {{space, {{"k", "v"}}}, Below(9), 1, 0};
        break;
      }
      case 9:
        catalog.namespaces.erase("n" + std::to_string(Below(3)));
        break;
      case 10:
        catalog.table_quotas[name] = {{Below(1000), SpaceViolationPolicy::kNoWrites}, Below(9)};
        catalog.violations[name] = SpaceViolationPolicy::kNoInserts;
        break;
      case 11:
        catalog.table_quotas.erase(name);
        catalog.violations.erase(name);
        catalog.emptied.erase(name);
        break;
      case 12:
        catalog.emptied[name]["f"] = Below(100);
        catalog.begun[name] = Below(100);
        catalog.emptied_forgotten = Below(100);
        break;
      default:
        catalog.freed_early.push_back(std::to_string(Below(9)));
        if (catalog.freed_early.size() > 3) catalog.freed_early.erase(catalog.freed_early.begin());
        catalog.dropped_namespaces.push_back({{{"gone", {}}, 1, 2, 0}, Below(100)});
    }
  }

  std::mt19937 random_;
};

TEST(CatalogJsonTest, EditsAreWhatWasDone) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomActs acts(seed);
    Catalog catalog = NewCatalog();
    SavedCatalog saved;
    for (int i = 0; i < 40; ++i) {
      const Catalog before = catalog;
      acts.Act(catalog);
      saved.edits.push_back(EncodeCatalogEdit(before, catalog));
      EXPECT_EQ(saved.edits.back().find('\n'), std::string::npos);
      if (i == 20) saved = {EncodeCatalog(catalog), {}};
    }
    const auto read = DecodeCatalog(saved);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    ASSERT_EQ(EncodeCatalog(*read), EncodeCatalog(catalog));
  }
}

TEST(CatalogJsonTest, AnEditIsAsLongAsWhatItChanges) {
  Catalog catalog = NewCatalog();
  for (int i = 0; i < 1000; ++i) {
    auto schema = std::make_shared<TableSchema>(TableName("default", "t" + std::to_string(i)));
    schema->families.emplace("f", FamilySchema("f"));
    catalog.tables[schema->name()] = {static_cast<TableId>(i), schema};
    AddGrant(catalog, {"u", {"", schema->name()}, "R"}, true, 1);
    catalog.past_tables.push_back({{static_cast<TableId>(i), schema}, i});
  }
  EXPECT_EQ(EncodeCatalogEdit(catalog, catalog), "{}");
  Catalog after = catalog;
  AddGrant(after, {"u", {"", {{"default", "t500"}}}, "W"}, true, 2);
  after.tables.at({"default", "t7"}).enabled = false;
  after.tables.erase({"default", "t8"});
  after.past_tables.erase(after.past_tables.begin(), after.past_tables.begin() + 2);
  after.past_tables.push_back(catalog.past_tables.front());
  EXPECT_LT(EncodeCatalogEdit(catalog, after).size(), 1000u);
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
