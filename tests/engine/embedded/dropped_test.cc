// SPDX-License-Identifier: MIT
//
// Tables and namespaces that were dropped and are kept.
#include "engine/catalog/dropped.h"

#include "engine/catalog/catalog_json.h"
#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

class DroppedTest : public TableFixture {
 protected:
  void Make(const std::string& table, int64_t ttl = 100) {
    TableSchema schema = Schema(table);
    ASSERT_TRUE(schema.Set("DROPPED_TTL", std::to_string(ttl)).ok());
    ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  }
  void MakeFull(const std::string& table, int64_t ttl = 100, const std::string& value = "v") {
    Make(table, ttl);
    ASSERT_EQ(PutAs("", table, "f:q", value), StatusCode::kOk);
  }
  void Drop(const std::string& table) {
    ASSERT_TRUE(store_->DisableTable(root_, ParseTableName(table)).ok());
    ASSERT_TRUE(store_->DropTable(root_, ParseTableName(table)).ok());
  }
  TableId IdOf(const std::string& table) {
    return (*store_->DescribeTable(ParseTableName(table)))->id();
  }
  // "a:t b:u" and, behind a bar, the namespaces.
  std::string Kept() {
    const Dropped dropped = *store_->ListDropped();
    std::string text;
    for (const DroppedTable& table : dropped.tables)
      text += (text.empty() ? "" : " ") + table.schema->name().ToString();
    for (const DroppedNamespace& space : dropped.namespaces) text += "|" + space.schema.name;
    return text;
  }
  TableId KeptId(size_t i = 0) { return store_->ListDropped()->tables.at(i).schema->id(); }
  StatusCode BringBack(TableId id, const std::string& name) {
    return store_->BringBackTable(root_, id, ParseTableName(name)).code();
  }
};

TEST_F(DroppedTest, ItComesBackAsItWas) {
  MakeFull("t");
  const TableId id = IdOf("t");
  Drop("t");
  EXPECT_EQ(Get("t"), "TableNotFound");
  EXPECT_EQ(Kept(), "t");
  EXPECT_EQ(KeptId(), id);
  EXPECT_TRUE(state_->dropped.empty());
  EXPECT_TRUE(store_->ListTables("default")->empty());
  EXPECT_EQ(store_->GetStatistics().tables.size(), 0u);
  EXPECT_EQ(store_->GetStatistics().kept.size(), 1u);
  EXPECT_GT(BytesOfKept(store_->GetStatistics()), 0u);
  ASSERT_EQ(BringBack(id, "t"), StatusCode::kOk);
  EXPECT_EQ(Get("t"), "f:q=v");
  EXPECT_EQ(IdOf("t"), id);
  EXPECT_EQ(PutAs("", "t", "f:q", "w"), StatusCode::kOk);
  EXPECT_EQ(Kept(), "");
  EXPECT_EQ(BringBack(id, "t"), StatusCode::kTableNotFound);
}

TEST_F(DroppedTest, UnderAnotherNameToo) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  MakeFull("t");
  Drop("t");
  MakeFull("t", 100, "of another");
  EXPECT_EQ(BringBack(KeptId(), "t"), StatusCode::kTableExists);
  EXPECT_EQ(BringBack(KeptId(), "b:t"), StatusCode::kNamespaceNotFound);
  EXPECT_EQ(BringBack(KeptId(), "hbase:t"), StatusCode::kReadOnly);
  ASSERT_EQ(BringBack(KeptId(), "a:u"), StatusCode::kOk);
  EXPECT_EQ(Get("a:u"), "f:q=v");
  EXPECT_EQ(Get("t"), "f:q=of another");
  EXPECT_EQ((*store_->DescribeTable(ParseTableName("a:u")))->name(), ParseTableName("a:u"));
}

TEST_F(DroppedTest, SeveralOfOneNameAreToldFromEachOther) {
  for (const char* const value : {"one", "two"}) {
    MakeFull("t", 100, value);
    Drop("t");
  }
  const Dropped dropped = *store_->ListDropped();
  ASSERT_EQ(dropped.tables.size(), 2u);
  EXPECT_LT(dropped.tables[0].dropped, dropped.tables[1].dropped) << "in one millisecond";
  ASSERT_EQ(BringBack(KeptId(0), "t"), StatusCode::kOk);
  EXPECT_EQ(Get("t"), "f:q=one");
  ASSERT_EQ(BringBack(KeptId(0), "u"), StatusCode::kOk);
  EXPECT_EQ(Get("u"), "f:q=two");
}

TEST_F(DroppedTest, WhatHoldsNothingOrIsNotToBeKeptGoesAtOnce) {
  Make("empty");
  MakeFull("plain", 0);
  Drop("empty");
  Drop("plain");
  EXPECT_EQ(Kept(), "");
  EXPECT_EQ(state_->dropped.size(), 2u);
}

TEST_F(DroppedTest, OneThatShowsNothingIsKeptForWhatItHides) {
  MakeFull("t");
  clock_->Advance(10);
  ASSERT_EQ(DeleteRow("t"), StatusCode::kOk);
  const auto dropped = store_->DropEmptyTable(root_, ParseTableName("t"));
  ASSERT_TRUE(dropped.ok() && *dropped);
  EXPECT_EQ(Kept(), "t");
  ASSERT_EQ(BringBack(KeptId(), "t"), StatusCode::kOk);
  EXPECT_EQ(PutAs("", "t", "f:q", "w"), StatusCode::kOk) << "it takes writes again";
}

TEST_F(DroppedTest, WhoFoundItBeforeWritesNoMoreAndReadsByItsId) {
  MakeFull("t");
  const TableId id = IdOf("t");
  Drop("t");
  cellfs::Get get;
  get.row = "r";
  get.table_id = id;
  const auto cells = store_->Read(root_, ParseTableName("t"), get);
  ASSERT_TRUE(cells.ok());
  EXPECT_EQ(cells->at(0).value, "v");
  EXPECT_EQ((*store_->FindTable(id))->name(), ParseTableName("t"));
}

TEST_F(DroppedTest, ItGoesWhenItsTimeHasCome) {
  MakeFull("t", 100);
  MakeFull("u", 200);
  const TableId id = IdOf("t");
  Drop("t");
  Drop("u");
  clock_->Advance(100 * 1000 - 1);
  ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  EXPECT_EQ(Kept(), "t u");
  clock_->Advance(1);
  ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  EXPECT_EQ(Kept(), "u");
  EXPECT_EQ(state_->dropped, std::vector{id});
  EXPECT_TRUE(store_->GetStatistics().freed_early.empty());
}

TEST_F(DroppedTest, OneCanBeFreedAtOnce) {
  MakeFull("t");
  Drop("t");
  const TableId id = KeptId();
  ASSERT_TRUE(store_->FreeDroppedTable(root_, id).ok());
  EXPECT_EQ(Kept(), "");
  EXPECT_EQ(state_->dropped, std::vector{id});
  EXPECT_EQ(store_->FreeDroppedTable(root_, id).code(), StatusCode::kTableNotFound);
}

TEST_F(DroppedTest, TheOldestGoFirstWhereTheNamespaceIsOverItsQuota) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  for (const char* const name : {"a:t", "a:u", "b"}) MakeFull(name, 100, std::string(2000, 'x'));
  MakeFull("a:v", 100, std::string(2000, 'x'));
  for (const char* const name : {"a:t", "a:u", "a:v", "b"})
    ASSERT_TRUE(store_->Flush(root_, ParseTableName(name)).ok());
  for (const char* const name : {"a:t", "a:u", "b"}) Drop(name);
  ASSERT_TRUE(store_->SetNamespaceSpaceQuota(root_, "a", SpaceQuota{.limit = 5000}).ok());
  ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  EXPECT_EQ(Kept(), "a:u b");
  ASSERT_EQ(store_->GetStatistics().freed_early.size(), 1u);
  EXPECT_NE(store_->GetStatistics().freed_early[0].find("table 'a:t'"), std::string::npos);
  EXPECT_EQ(PutAs("", "a:v", "f:p"), StatusCode::kOk) << "what is kept hinders nobody";
}

TEST_F(DroppedTest, OnAFullDiskTheOldestGoUntilThereIsRoom) {
  for (const char* const name : {"t", "u", "v"}) {
    MakeFull(name);
    Drop(name);
  }
  MakeFull("w");
  const TableName w = ParseTableName("w");
  size_t wanted = 1;  // so many have to go
  state_->on_apply = [&] {
    return state_->dropped.size() < wanted ? Status(StatusCode::kStoreFull, "full") : Status();
  };
  EXPECT_EQ(PutAs("", "w", "f:p"), StatusCode::kOk);
  EXPECT_EQ(Kept(), "u v");
  wanted = 2;
  EXPECT_TRUE(store_->CheckRoom(w, 10).ok());
  EXPECT_EQ(Kept(), "v");
  EXPECT_EQ(store_->GetStatistics().freed_early.size(), 2u);
  wanted = 3;
  const auto answers =
      store_->Batch(root_, w, {PutOf("f:a", "1"), RowMutations::Of(cellfs::Put{"s", {}})});
  EXPECT_TRUE(answers.at(0).ok());
  EXPECT_EQ(Kept(), "");
  wanted = 4;
  EXPECT_EQ(PutAs("", "w", "f:q"), StatusCode::kStoreFull);
  EXPECT_EQ(Get("w"), "f:a=1 f:p=v f:q=v");
  Reopen();
  EXPECT_EQ(store_->GetStatistics().freed_early.size(), 3u);
}

TEST_F(DroppedTest, WhatIsFreedUnaskedIsToldWithTheReason) {
  for (const char* const name : {"t", "u"}) {
    MakeFull(name);
    Drop(name);
  }
  const TableId id = KeptId();
  ASSERT_TRUE(store_->FreeDroppedEarly(root_, id, "of many").ok());
  EXPECT_EQ(Kept(), "u");
  EXPECT_EQ(store_->FreeDroppedEarly(root_, id, "of many").code(), StatusCode::kTableNotFound);
  ASSERT_TRUE(store_->FreeDroppedTable(root_, KeptId()).ok());
  Reopen();
  const std::vector<std::string> told = store_->GetStatistics().freed_early;
  ASSERT_EQ(told.size(), 1u) << "who asks for it knows";
  EXPECT_NE(told[0].find("'t', dropped at"), std::string::npos) << told[0];
  EXPECT_NE(told[0].find("of many"), std::string::npos) << told[0];
}

TEST_F(DroppedTest, TheOldestGoForACompactionThatFindsNoRoom) {
  for (const char* const name : {"t", "u", "v"}) {
    MakeFull(name);
    Drop(name);
  }
  MakeFull("w");
  const auto compact = [&] {
    return store_->Compact(root_, ParseTableName("w"), CompactionKind::kMajor);
  };
  size_t wanted = 2;  // so many have to go
  state_->on_compact = [&] {
    return state_->dropped.size() < wanted ? Status(StatusCode::kStoreFull, "full") : Status();
  };
  EXPECT_TRUE(compact().ok());
  EXPECT_EQ(Kept(), "v");
  EXPECT_EQ(store_->GetStatistics().freed_early.size(), 2u);
  wanted = 3;
  state_->lacked = 1 << 20;
  const Status refused = compact();
  EXPECT_EQ(refused.code(), StatusCode::kStoreFull);
  EXPECT_NE(refused.message().find("dropped and are kept take"), std::string::npos)
      << refused.message();
  EXPECT_EQ(Kept(), "v") << "it would not be enough";
}

TEST_F(DroppedTest, NothingGoesForAPutThatFindsNoRoomAllTheSame) {
  MakeFull("t");
  Drop("t");
  MakeFull("w");
  state_->on_apply = [&] { return Status(StatusCode::kStoreFull, "full"); };
  state_->lacked = 1 << 20;
  EXPECT_EQ(PutAs("", "w", "f:q"), StatusCode::kStoreFull);
  EXPECT_EQ(Kept(), "t");
}

TEST_F(DroppedTest, ATableThatIsMadeFindsRoom) {
  for (const char* const name : {"t", "u"}) {
    MakeFull(name);
    Drop(name);
  }
  state_->on_create = [&] {
    return state_->dropped.empty() ? Status(StatusCode::kStoreFull, "full") : Status();
  };
  EXPECT_TRUE(store_->CreateTable(root_, Schema("w")).ok());
  EXPECT_EQ(Kept(), "u");
}

TEST_F(DroppedTest, NoMoreAreKeptThanTheCatalogCanCarry) {
  Catalog catalog = NewCatalog();
  for (size_t i = 0; i < kMostKeptTables; ++i) {
    CatalogDroppedTable& kept = catalog.dropped_tables.emplace_back();
    TableSchema schema = Schema(i == 0 ? "first" : "t");
    ASSERT_TRUE(schema.Set("DROPPED_TTL", "100").ok());
    kept.table.id = catalog.next_table_id++;
    kept.table.schema = std::make_shared<TableSchema>(schema);
    kept.dropped = 1000 + static_cast<Timestamp>(i);
  }
  state_->catalog = {EncodeCatalog(catalog), {}};
  Reopen();
  EXPECT_EQ(store_->ListDropped()->tables.size(), kMostKeptTables);
  MakeFull("t");
  Drop("t");
  EXPECT_EQ(store_->ListDropped()->tables.size(), kMostKeptTables);
  EXPECT_EQ(Kept().find("first"), std::string::npos);
  EXPECT_EQ(store_->GetStatistics().freed_early.size(), 1u);
  EXPECT_EQ(state_->dropped.size(), 1u);
}

TEST_F(DroppedTest, StatisticsTellWhatIsKeptAndOfWhatIsDamaged) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  MakeFull("a:t", 100, std::string(2000, 'x'));
  MakeFull("u", 100, std::string(2000, 'x'));
  for (const char* const name : {"a:t", "u"}) {
    ASSERT_TRUE(store_->Flush(root_, ParseTableName(name)).ok());
    Drop(name);
  }
  EXPECT_GT(BytesOfKeptIn(store_->GetStatistics(), "a"), 1000u);
  EXPECT_GT(BytesOfKept(store_->GetStatistics()), 2 * 1000u);
  ASSERT_TRUE(store_->DropNamespace(root_, "a").ok());
  EXPECT_EQ(BytesOfKeptIn(store_->GetStatistics(), "a"), 0u) << "that namespace is another's";
  state_->open_error = Status(StatusCode::kCorruption, "its manifest is gone");
  Reopen();
  const Statistics statistics = store_->GetStatistics();
  ASSERT_EQ(statistics.kept.size(), 2u);
  EXPECT_EQ(statistics.kept[1].table.ToString(), "u");
  EXPECT_EQ(statistics.kept[1].damage, "its manifest is gone");
}

TEST_F(DroppedTest, ANamespaceTakesWhatIsKeptAlong) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {{"k", "v"}}}).ok());
  MakeFull("a:t");
  Drop("a:t");
  ASSERT_TRUE(store_->DropNamespace(root_, "a").ok());
  EXPECT_EQ(Kept(), "a:t|a");
  const Timestamp dropped = store_->ListDropped()->namespaces[0].dropped;
  EXPECT_EQ(store_->ListDropped()->tables[0].with_namespace, dropped);
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  EXPECT_EQ(store_->BringBackNamespace(root_, dropped, "a").code(), StatusCode::kNamespaceExists);
  ASSERT_TRUE(store_->BringBackNamespace(root_, dropped, "b").ok());
  EXPECT_EQ(Kept(), "b:t");
  EXPECT_EQ(store_->DescribeNamespace("b")->properties.at("k"), "v");
  EXPECT_EQ(store_->ListDropped()->tables[0].with_namespace, 0);
  ASSERT_EQ(BringBack(KeptId(), "b:t"), StatusCode::kOk);
  EXPECT_EQ(Get("b:t"), "f:q=v");
}

TEST_F(DroppedTest, ANamespaceGoesWithTheLastThatIsKeptInIt) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  MakeFull("a:t");
  MakeFull("a:u");
  Drop("a:t");
  Drop("a:u");
  ASSERT_TRUE(store_->DropNamespace(root_, "a").ok());
  ASSERT_TRUE(store_->FreeDroppedTable(root_, KeptId()).ok());
  EXPECT_EQ(Kept(), "a:u|a");
  ASSERT_TRUE(
      store_->FreeDroppedNamespace(root_, store_->ListDropped()->namespaces[0].dropped).ok());
  EXPECT_EQ(Kept(), "");
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  ASSERT_TRUE(store_->DropNamespace(root_, "a").ok());
  EXPECT_EQ(Kept(), "") << "an empty one leaves nothing";
}

TEST_F(DroppedTest, ItWasThereWhenItWasThere) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("KEEP_DELETED_CELLS", "TRUE").ok());
  TableSchema schema(ParseTableName("t"));
  schema.families.emplace("f", family);
  ASSERT_TRUE(schema.Set("DROPPED_TTL", "100").ok());
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  PutAs("", "t", "f:q");
  const Timestamp first = clock_->Now();
  clock_->Advance(1000);
  Drop("t");
  const Timestamp between = clock_->Now();
  clock_->Advance(1000);
  const auto is_there = [&](Timestamp time) {
    return (*store_->CatalogAt(time))->Find(ParseTableName("t")) != nullptr;
  };
  EXPECT_TRUE(is_there(first));
  ASSERT_EQ(BringBack(KeptId(), "t"), StatusCode::kOk);
  const Timestamp second = clock_->Now();
  EXPECT_TRUE(is_there(first));
  EXPECT_FALSE(is_there(between));
  EXPECT_TRUE(is_there(second));
  clock_->Advance(1000);
  Drop("t");
  ASSERT_TRUE(store_->FreeDroppedTable(root_, KeptId()).ok());
  EXPECT_FALSE(is_there(first)) << "its cells are gone";
}

TEST_F(DroppedTest, WhatIsKnownOfANameIsWhatItWas) {
  const auto emptied = [&] { return store_->GetStatistics().tables.at(0).emptied; };
  MakeFull("t");
  const auto before = emptied();
  clock_->Advance(10);
  Drop("t");
  EXPECT_EQ(store_->GetStatistics().dropped.size(), 1u);
  clock_->Advance(10);
  ASSERT_EQ(BringBack(KeptId(), "t"), StatusCode::kOk);
  EXPECT_EQ(emptied(), before);
  EXPECT_EQ(store_->GetStatistics().dropped.size(), 0u);
  Drop("t");
  clock_->Advance(10);
  const Timestamp second = clock_->Now();
  MakeFull("t");
  clock_->Advance(10);
  Drop("t");  // another one of that name
  ASSERT_EQ(BringBack(KeptId(0), "t"), StatusCode::kOk);
  EXPECT_EQ(emptied(), before) << "it had all its cells all along";
  ASSERT_TRUE(store_->RenameTable(root_, ParseTableName("t"), ParseTableName("u")).ok());
  EXPECT_EQ(emptied(), before);
  ASSERT_EQ(BringBack(KeptId(0), "t"), StatusCode::kOk);
  EXPECT_EQ(emptied().at(""), second) << "before it was made the name had another one";
}

TEST_F(DroppedTest, OnlyAnAdministratorOfTheNamespaceBringsBack) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  MakeFull("a:t");
  ASSERT_EQ(GrantTo("ann", "RW", {"", ParseTableName("a:t")}), StatusCode::kOk);
  TurnAuthorizationOn();
  ASSERT_EQ(GrantTo("bob", "C", {"a"}), StatusCode::kOk);
  ASSERT_EQ(GrantTo("eve", "A", {"a"}), StatusCode::kOk);
  MakeFull("a:u");
  Drop("a:u");
  const TableId id = KeptId();
  const auto back = [&](const std::string& user) {
    return store_->BringBackTable({user}, id, ParseTableName("a:u")).code();
  };
  EXPECT_EQ(back("bob"), StatusCode::kAccessDenied);
  EXPECT_EQ(store_->FreeDroppedTable({"bob"}, id).code(), StatusCode::kAccessDenied);
  EXPECT_EQ(back("eve"), StatusCode::kOk);
  EXPECT_EQ(Get("a:u", {}, "eve"), "f:q=v");
  EXPECT_EQ(Get("a:u", {}, "bob"), "AccessDenied");
}

TEST_F(DroppedTest, TheCatalogKnowsWhatIsKept) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  MakeFull("a:t");
  MakeFull("t");
  Drop("a:t");
  Drop("t");
  ASSERT_TRUE(store_->DropNamespace(root_, "a").ok());
  const TableId id = KeptId(0);
  Reopen();
  EXPECT_EQ(Kept(), "a:t t|a");
  EXPECT_EQ(KeptId(0), id);
  EXPECT_EQ(BringBack(KeptId(1), "t"), StatusCode::kOk);
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kOk);
  ASSERT_TRUE(store_->FreeDroppedTable(root_, id).ok());
}

TEST_F(DroppedTest, WhoMissesATableIsToldThatItIsKept) {
  const auto why = [&] { return store_->DescribeTable(ParseTableName("t")).status().message(); };
  MakeFull("t");
  Drop("t");
  EXPECT_EQ(why(), "table 't' does not exist; one of that name was dropped, and is kept");
  ASSERT_TRUE(store_->FreeDroppedTable(root_, KeptId()).ok());
  EXPECT_EQ(why(), "table 't' does not exist");
}

TEST_F(DroppedTest, WhatCannotBeSavedHasNotHappened) {
  MakeFull("t");
  Drop("t");
  state_->save_error = Status(StatusCode::kIoError, "no");
  EXPECT_EQ(BringBack(KeptId(), "u"), StatusCode::kIoError);
  EXPECT_EQ(store_->FreeDroppedTable(root_, KeptId()).code(), StatusCode::kIoError);
  EXPECT_EQ(Kept(), "t");
  state_->save_error = {};
  EXPECT_EQ(BringBack(KeptId(), "t"), StatusCode::kOk);
  EXPECT_EQ(Get("t"), "f:q=v");
}

}  // namespace
}  // namespace cellfs
