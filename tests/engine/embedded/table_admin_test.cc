// SPDX-License-Identifier: MIT
#include <atomic>
#include <future>
#include <thread>

#include "engine/waiting.h"
#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

class TableAdminTest : public TableFixture {};

TEST_F(TableAdminTest, ATableIsMadeOnceAndInAnExistingNamespace) {
  EXPECT_EQ(Create("t"), StatusCode::kOk);
  EXPECT_EQ(Create("t"), StatusCode::kTableExists);
  EXPECT_EQ(Create("a:t"), StatusCode::kNamespaceNotFound);
  EXPECT_EQ(Create("-t"), StatusCode::kIllegalArgument);
  EXPECT_EQ(Create("u", {}), StatusCode::kDoNotRetry);
  EXPECT_EQ(Create("u", {"a:b"}), StatusCode::kIllegalArgument);
  EXPECT_EQ(Create("hbase:u"), StatusCode::kReadOnly);
  EXPECT_EQ(Get("u"), "TableNotFound");
  ASSERT_TRUE(store_->ListTables("default").ok());
  EXPECT_EQ(*store_->ListTables("default"), (std::vector<TableName>{ParseTableName("t")}));
  EXPECT_EQ(store_->ListTables("a").status().code(), StatusCode::kNamespaceNotFound);
}

TEST_F(TableAdminTest, SplitKeysAreSortedAndMustDiffer) {
  TableSchema schema = Schema("t");
  schema.split_keys = {"m", "b"};
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  const auto made = *store_->DescribeTable(schema.name());
  EXPECT_EQ(made->split_keys, (std::vector<std::string>{"b", "m"}));
  TableSchema twice = Schema("u");
  twice.split_keys = {"m", "m"};
  EXPECT_EQ(store_->CreateTable(root_, twice).code(), StatusCode::kIllegalArgument);
  // Altering does not cut anew.
  ASSERT_TRUE(store_->AlterTable(root_, Schema("t")).ok());
  EXPECT_EQ((*store_->DescribeTable(schema.name()))->split_keys, made->split_keys);
}

TEST_F(TableAdminTest, ATableThatIsMadeAnewIsSplitAndIsTheSame) {
  TableSchema schema = Schema("t", {"f"});
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  const TableId id = (*store_->DescribeTable(schema.name()))->id();
  schema = Schema("t", {"g"});
  schema.split_keys = {"m", "b"};
  ASSERT_TRUE(store_->RecreateTable(root_, schema).ok());
  const auto made = store_->DescribeTable(schema.name());
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->id(), id);
  EXPECT_EQ((*made)->split_keys, (std::vector<std::string>{"b", "m"}));
  EXPECT_EQ((*made)->families.size(), 1u);
  EXPECT_NE((*made)->FindFamily("g"), nullptr);
  EXPECT_EQ(store_->RecreateTable(root_, Schema("missing", {"f"})).code(),
            StatusCode::kTableNotFound);
  schema.split_keys = {"m", "m"};
  EXPECT_FALSE(store_->RecreateTable(root_, schema).ok());
}

TEST_F(TableAdminTest, ATableIsSplitWithItsCells) {
  const TableName t = ParseTableName("t");
  TableSchema schema = Schema("t");
  schema.split_keys = {"m"};
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  PutAs("", "t", "f:q");
  const auto split = [&](const std::string& key) {
    return store_->SplitTable(root_, t, key).code();
  };
  EXPECT_EQ(split("b"), StatusCode::kOk);
  EXPECT_EQ(split("r"), StatusCode::kOk);
  EXPECT_EQ((*store_->DescribeTable(t))->split_keys, (std::vector<std::string>{"b", "m", "r"}));
  EXPECT_EQ(Get("t"), "f:q=v");
  EXPECT_EQ(split("m"), StatusCode::kDoNotRetry);
  EXPECT_EQ(split(""), StatusCode::kIllegalArgument);
  EXPECT_EQ(split(std::string(kMaxRowLength + 1, 'x')), StatusCode::kIllegalArgument);
  EXPECT_EQ(store_->SplitTable(root_, ParseTableName("u"), "m").code(), StatusCode::kTableNotFound);
  EXPECT_EQ(store_->SplitTable(root_, ParseTableName("hbase:meta"), "m").code(),
            StatusCode::kReadOnly);
  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  EXPECT_EQ(split("x"), StatusCode::kTableNotEnabled);
  ASSERT_TRUE(store_->EnableTable(root_, t).ok());
  schema = *(*store_->DescribeTable(t));
  ASSERT_TRUE(schema.Set("SPLIT_ENABLED", "false").ok());
  ASSERT_TRUE(store_->AlterTable(root_, schema).ok());
  EXPECT_EQ(split("x"), StatusCode::kDoNotRetry);
  EXPECT_EQ((*store_->DescribeTable(t))->split_keys.size(), 3u);
}

TEST_F(TableAdminTest, ATableHasABoundedNumberOfRegions) {
  TableSchema most = Schema("t");
  for (size_t i = 1; i < kMaxRegionsOfTable; ++i)
    most.split_keys.push_back(std::to_string(100'000 + i));
  TableSchema many = most;
  many.split_keys.push_back("x");
  const Status refused = store_->CreateTable(root_, many);
  EXPECT_EQ(refused.code(), StatusCode::kIllegalArgument);
  EXPECT_NE(refused.message().find("10001 regions, and may have 10000"), std::string::npos)
      << refused.message();
  ASSERT_TRUE(store_->CreateTable(root_, most).ok());
  EXPECT_EQ(store_->SplitTable(root_, most.name(), "x").code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(store_->RecreateTable(root_, many).code(), StatusCode::kIllegalArgument);
  // What is over it already may be altered, and not grow.
  EXPECT_TRUE(CheckSchemaLimits(many, &many).ok());
  EXPECT_FALSE(CheckSchemaLimits(many, &most).ok());
}

TEST_F(TableAdminTest, ASchemaHasABoundedNumberOfBytes) {
  TableSchema wide = Schema("t");
  for (size_t i = 0; i <= kMaxSchemaBytes / 30'000; ++i)
    wide.split_keys.push_back(std::to_string(1000 + i) + std::string(30'000, 'x'));
  EXPECT_EQ(store_->CreateTable(root_, wide).code(), StatusCode::kIllegalArgument);
  TableSchema told = Schema("t");
  ASSERT_TRUE(told.Set("note", std::string(kMaxSchemaBytes - 1000, 'x')).ok());
  ASSERT_TRUE(store_->CreateTable(root_, told).ok());
  FamilySchema family("g");
  ASSERT_TRUE(family.Set("note", std::string(1000, 'x')).ok());
  const Status refused = store_->AddFamily(root_, told.name(), family);
  EXPECT_EQ(refused.code(), StatusCode::kIllegalArgument);
  EXPECT_NE(refused.message().find("bytes, and may have 1048576"), std::string::npos)
      << refused.message();
  EXPECT_TRUE(store_->AddFamily(root_, told.name(), FamilySchema("g")).ok());
}

TEST_F(TableAdminTest, ATableOfAnotherNameIsTheSameTable) {
  const TableName t = ParseTableName("t"), u = ParseTableName("a:u");
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  Create("t");
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kOk);
  ASSERT_TRUE(store_->SetTableSpaceQuota(root_, t, SpaceQuota{.limit = 5000}).ok());
  ASSERT_TRUE(store_->GrantPermissions(root_, {"ann", {"", t}, "RW"}, false).ok());
  const TableId id = (*store_->DescribeTable(t))->id();
  ASSERT_TRUE(store_->RenameTable(root_, t, u).ok());
  EXPECT_EQ(Get("a:u"), "f:q=v");
  for (int opening = 0; opening < 2; ++opening) {
    EXPECT_EQ(Get("t"), "TableNotFound");
    const auto schema = store_->DescribeTable(u);
    ASSERT_TRUE(schema.ok()) << schema.status().ToString();
    EXPECT_EQ((*schema)->id(), id);
    EXPECT_EQ((*schema)->name(), u);
    EXPECT_EQ(store_->ListTables("default")->size(), 0u);
    EXPECT_EQ(*store_->ListTables("a"), std::vector{u});
    EXPECT_EQ((*store_->TableSpaceQuota(u))->limit, 5000u);
    EXPECT_EQ(store_->ListGrants()->front().scope.table, u);
    EXPECT_EQ(store_->GetStatistics().tables.front().table, u);
    EXPECT_EQ(PutAs("", "a:u", "f:q" + std::to_string(opening)), StatusCode::kOk);
    Reopen();
  }
  Create("t");
  EXPECT_EQ(Get("t"), "");
  EXPECT_EQ(store_->RenameTable(root_, t, u).code(), StatusCode::kTableExists);
  EXPECT_EQ(store_->RenameTable(root_, t, t).code(), StatusCode::kTableExists);
  EXPECT_EQ(store_->RenameTable(root_, ParseTableName("x"), u).code(), StatusCode::kTableNotFound);
  EXPECT_EQ(store_->RenameTable(root_, t, ParseTableName("b:t")).code(),
            StatusCode::kNamespaceNotFound);
  EXPECT_EQ(store_->RenameTable(root_, t, ParseTableName("hbase:t")).code(),
            StatusCode::kReadOnly);
  EXPECT_EQ(store_->RenameTable(root_, t, ParseTableName("-t")).code(),
            StatusCode::kIllegalArgument);
}

TEST_F(TableAdminTest, ATableComesIntoANamespaceThatHasRoomForIt) {
  ASSERT_TRUE(
      store_->CreateNamespace(root_, {"a", {{"hbase.namespace.quota.maxtables", "1"}}}).ok());
  Create("a:t");
  Create("u");
  EXPECT_EQ(store_->RenameTable(root_, ParseTableName("u"), ParseTableName("a:u")).code(),
            StatusCode::kQuotaExceeded);
  EXPECT_TRUE(store_->RenameTable(root_, ParseTableName("a:t"), ParseTableName("a:u")).ok());
}

TEST_F(TableAdminTest, DroppingAndTruncatingWantTheTableDisabled) {
  const TableName t = ParseTableName("t");
  Create("t");
  PutAs("", "t", "f:q");
  EXPECT_EQ(store_->DropTable(root_, t).code(), StatusCode::kTableNotDisabled);
  EXPECT_EQ(store_->TruncateTable(root_, t).code(), StatusCode::kTableNotDisabled);
  EXPECT_EQ(store_->EnableTable(root_, t).code(), StatusCode::kTableNotDisabled);
  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  EXPECT_EQ(store_->DisableTable(root_, t).code(), StatusCode::kTableNotEnabled);
  EXPECT_EQ(Get("t"), "TableNotEnabled");
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kTableNotEnabled);
  EXPECT_EQ(store_->Flush(root_, t).code(), StatusCode::kTableNotEnabled);
  ASSERT_TRUE(store_->EnableTable(root_, t).ok());
  EXPECT_EQ(Get("t"), "f:q=v");

  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  ASSERT_TRUE(store_->TruncateTable(root_, t).ok());
  EXPECT_TRUE(*store_->IsTableEnabled(t));
  EXPECT_EQ(Get("t"), "");
  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  ASSERT_TRUE(store_->DropTable(root_, t).ok());
  EXPECT_EQ(Get("t"), "TableNotFound");
  EXPECT_EQ(state_->dropped, (std::vector<TableId>{1}));
}

TEST_F(TableAdminTest, DisablingFlushes) {
  Create("t");
  PutAs("", "t", "f:q");
  ASSERT_TRUE(store_->DisableTable(root_, ParseTableName("t")).ok());
  const Statistics statistics = store_->GetStatistics();
  ASSERT_EQ(statistics.tables.size(), 1u);
  EXPECT_EQ(statistics.tables[0].memstore_cells, 0u);
  EXPECT_EQ(statistics.tables[0].flushes, 1u);
}

TEST_F(TableAdminTest, FamiliesComeChangeAndGo) {
  const TableName t = ParseTableName("t");
  Create("t");
  EXPECT_EQ(store_->AddFamily(root_, t, FamilySchema("f")).code(),
            StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(store_->ModifyFamily(root_, t, FamilySchema("g")).code(),
            StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(store_->DropFamily(root_, t, "g").code(), StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(store_->DropFamily(root_, t, "f").code(), StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(PutAs("", "t", "g:q"), StatusCode::kNoSuchColumnFamily);
  ASSERT_TRUE(store_->AddFamily(root_, t, FamilySchema("g")).ok());
  EXPECT_EQ(PutAs("", "t", "g:q"), StatusCode::kOk);
  ASSERT_TRUE(store_->DropFamily(root_, t, "g").ok());
  ASSERT_TRUE(store_->AddFamily(root_, t, FamilySchema("g")).ok());
  EXPECT_EQ(Get("t"), "");  // the cells went with the family

  FamilySchema bad("f");
  ASSERT_TRUE(bad.Set("MIN_VERSIONS", "2").ok());
  EXPECT_EQ(store_->ModifyFamily(root_, t, bad).code(), StatusCode::kIllegalArgument);
  EXPECT_EQ((*store_->DescribeTable(t))->FindFamily("f")->min_versions(), 0);
}

TEST_F(TableAdminTest, TheSitesVersionsAreForNewFamiliesThatSayNone) {
  options_.site.default_max_versions = 4;
  Reopen();
  TableSchema schema = Schema("t", {"f", "g"});
  ASSERT_TRUE(schema.families.at("g").Set("VERSIONS", "1").ok());
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  EXPECT_EQ((*store_->DescribeTable(schema.name()))->FindFamily("f")->max_versions(), 4);
  EXPECT_EQ((*store_->DescribeTable(schema.name()))->FindFamily("g")->max_versions(), 1);
}

TEST_F(TableAdminTest, AReadOnlyTableRefusesWrites) {
  TableSchema schema = Schema("t");
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  ASSERT_TRUE(schema.Set("READONLY", "true").ok());
  ASSERT_TRUE(store_->AlterTable(root_, schema).ok());
  EXPECT_EQ(PutAs("", "t", "z:q"), StatusCode::kReadOnly);
}

TEST_F(TableAdminTest, AnActThatCannotBeSavedChangesNothing) {
  const TableName t = ParseTableName("t");
  Create("t");
  state_->save_error = {StatusCode::kStoreFull, "full"};
  EXPECT_EQ(Create("u"), StatusCode::kStoreFull);
  EXPECT_EQ(state_->dropped,
            state_->created.size() == 2 ? std::vector<TableId>{2} : std::vector<TableId>{});
  EXPECT_EQ(store_->CreateNamespace(root_, {"a", {}}).code(), StatusCode::kStoreFull);
  EXPECT_EQ(store_->DisableTable(root_, t).code(), StatusCode::kStoreFull);
  EXPECT_EQ(store_->DropFamily(root_, t, "f").code(), StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(store_->AddFamily(root_, t, FamilySchema("g")).code(), StatusCode::kStoreFull);
  EXPECT_EQ(PutAs("", "t", "g:q"), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kOk);
  EXPECT_EQ(Get("u"), "TableNotFound");
  EXPECT_EQ(store_->ListNamespaces()->size(), 2u);
  state_->save_error = {};
  EXPECT_EQ(Create("u"), StatusCode::kOk);
  EXPECT_EQ(state_->created, (std::vector<TableId>{1, 2, 3}));  // no id is given twice
}

// A flush takes as long as much is to be written.
TEST_F(TableAdminTest, OthersActWhileATableIsFlushedForAnAct) {
  const TableName t = ParseTableName("t");
  ASSERT_EQ(Create("t"), StatusCode::kOk);
  int spaces = 0;
  const auto acts_beside_the_first_flush = [&](const std::function<Status()>& act) {
    bool is_first = true;
    state_->on_flush = [&, is_first]() mutable {
      if (!std::exchange(is_first, false)) return;
      const std::string name = "n" + std::to_string(++spaces);
      EXPECT_TRUE(store_->CreateNamespace(root_, {name, {}}).ok());
    };
    const int before = spaces;
    EXPECT_TRUE(act().ok());
    state_->on_flush = nullptr;
    return spaces > before;
  };
  EXPECT_TRUE(acts_beside_the_first_flush(
      [&] { return store_->AddFamily(root_, t, FamilySchema("g")); }));
  EXPECT_TRUE(acts_beside_the_first_flush([&] { return store_->DropFamily(root_, t, "g"); }));
  EXPECT_TRUE(acts_beside_the_first_flush([&] { return store_->DisableTable(root_, t); }));
  ASSERT_TRUE(store_->EnableTable(root_, t).ok());
  EXPECT_FALSE(acts_beside_the_first_flush(
      [&] { return store_->RenameTable(root_, t, ParseTableName("u")); }))
      << "who is renamed needs no flush";
}

TEST_F(TableAdminTest, WhatWasSaidSurvivesReopening) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {{"k", "v"}}}).ok());
  Create("a:t");
  ASSERT_TRUE(store_->DisableTable(root_, ParseTableName("a:t")).ok());
  Reopen();
  EXPECT_EQ(store_->DescribeNamespace("a")->properties, (Attributes{{"k", "v"}}));
  EXPECT_FALSE(*store_->IsTableEnabled(ParseTableName("a:t")));
  Create("u");
  EXPECT_EQ(state_->created.back(), 2u);
}

TEST_F(TableAdminTest, ATableThatCannotBeOpenedSaysWhyAndOthersWork) {
  Create("t");
  state_->open_error = {StatusCode::kCorruption, "damaged"};
  Reopen();
  const TableName t = ParseTableName("t");
  EXPECT_EQ(Get("t"), "Corruption");
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kCorruption);
  EXPECT_EQ(store_->AlterTable(root_, Schema("t")).code(), StatusCode::kCorruption);
  const Statistics statistics = store_->GetStatistics();
  ASSERT_EQ(statistics.tables.size(), 1u);
  EXPECT_NE(statistics.tables[0].damage.find("damaged"), std::string::npos);
  EXPECT_EQ(Create("u"), StatusCode::kOk);
  EXPECT_EQ(PutAs("", "u", "f:q"), StatusCode::kOk);
  EXPECT_TRUE(store_->DisableTable(root_, t).ok());
  EXPECT_TRUE(store_->DropTable(root_, t).ok());
}

TEST_F(TableAdminTest, CellsAreReadAndWrittenWhileAnActIsUnderWay) {
  Create("t");
  int saves = 0;
  state_->on_save = [&] {
    ++saves;
    EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kOk);
    EXPECT_EQ(Get("t"), "f:q=v");
    EXPECT_TRUE(store_->ListTables("default").ok());
  };
  Create("u");
  ASSERT_TRUE(store_->AddFamily(root_, ParseTableName("t"), FamilySchema("g")).ok());
  EXPECT_EQ(saves, 2);
}

TEST_F(TableAdminTest, OperationsFindATableAllTheWhileOthersComeAndGo) {
  Create("t");
  std::atomic<bool> over{false};
  std::thread user([&] {
    while (!over) {
      EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kOk);
      EXPECT_EQ(Get("t"), "f:q=v");
      Get("u");  // there or not
    }
  });
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(Create("u"), StatusCode::kOk);
    EXPECT_TRUE(store_->AlterTable(root_, Schema("t")).ok());
    EXPECT_TRUE(store_->DisableTable(root_, ParseTableName("u")).ok());
    EXPECT_TRUE(store_->DropTable(root_, ParseTableName("u")).ok());
  }
  over = true;
  user.join();
}

TEST_F(TableAdminTest, AScanEndsWhenItsTableGoes) {
  const TableName t = ParseTableName("t");
  Create("t");
  PutAs("", "t", "f:q");
  auto scanner = store_->OpenScanner(root_, t, Scan{});
  ASSERT_TRUE(scanner.ok());
  ASSERT_TRUE(store_->DisableTable(root_, t).ok());
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kTableNotEnabled);
  ASSERT_TRUE(store_->DropTable(root_, t).ok());
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kTableNotFound);
  Create("t");
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kTableNotFound);
}

TEST_F(TableAdminTest, NamespacesAreDroppedEmptyAndNotTheReservedOnes) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  EXPECT_EQ(store_->CreateNamespace(root_, {"a", {}}).code(), StatusCode::kNamespaceExists);
  EXPECT_EQ(store_->CreateNamespace(root_, {"a-b", {}}).code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(store_->AlterNamespace(root_, {"b", {}}).code(), StatusCode::kNamespaceNotFound);
  Create("a:t");
  EXPECT_EQ(store_->DropNamespace(root_, "a").code(), StatusCode::kConstraint);
  EXPECT_EQ(store_->DropNamespace(root_, "default").code(), StatusCode::kConstraint);
  EXPECT_EQ(store_->DropNamespace(root_, "hbase").code(), StatusCode::kConstraint);
  EXPECT_EQ(store_->DropNamespace(root_, "b").code(), StatusCode::kNamespaceNotFound);
  ASSERT_TRUE(store_->DisableTable(root_, ParseTableName("a:t")).ok());
  ASSERT_TRUE(store_->DropTable(root_, ParseTableName("a:t")).ok());
  EXPECT_TRUE(store_->DropNamespace(root_, "a").ok());
  EXPECT_EQ(*store_->ListNamespaces(), (std::vector<std::string>{"default", "hbase"}));
}

// Else a few who wait for it keep all threads of a daemon.
TEST_F(TableAdminTest, WhoWaitsForAnActOfAnotherCountsAsWaiting) {
  struct CountedWaits : WaitObserver {
    void WaitBegins(Wait) noexcept override { begun = true; }
    void WaitEnds() noexcept override { ended = true; }
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
  };
  CountedWaits waits;
  std::future<StatusCode> made;
  state_->on_save = [&] {
    if (made.valid()) return;
    made = std::async(std::launch::async, [&] {
      WaitObserver::OfThisThread() = &waits;
      return Create("u");
    });
    EXPECT_EQ(made.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
    EXPECT_TRUE(waits.begun);
  };
  EXPECT_EQ(Create("t"), StatusCode::kOk);
  ASSERT_TRUE(made.valid());
  EXPECT_EQ(made.get(), StatusCode::kOk);
  EXPECT_TRUE(waits.ended);
}

}  // namespace
}  // namespace cellfs
