// SPDX-License-Identifier: MIT
#include "engine/catalog/access_control.h"
#include "engine/open.h"
#include "tests/engine/embedded/table_fixture.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr auto kDenied = StatusCode::kAccessDenied;

class AccessTest : public TableFixture {
 protected:
  void SetUp() override {
    TurnAuthorizationOn();
    ASSERT_EQ(Create("t", {"f", "g"}), StatusCode::kOk);
    ASSERT_EQ(PutAs("", "t", "f:a", "fa"), StatusCode::kOk);
    ASSERT_EQ(PutAs("", "t", "f:b", "fb"), StatusCode::kOk);
    ASSERT_EQ(PutAs("", "t", "g:c", "gc"), StatusCode::kOk);
  }
  static GrantScope Family(const std::string& family) { return {"", ParseTableName("t"), family}; }
  static GrantScope Column(const std::string& family, const std::string& qualifier) {
    return {"", ParseTableName("t"), family, qualifier};
  }
};

TEST_F(AccessTest, AWiderScopeIncludesTheNarrower) {
  const TableName t = ParseTableName("a:t");
  const GrantScope scopes[] = {
      GlobalScope(), NamespaceScope("a"), TableScope(t), {"", t, "f"}, {"", t, "f", "q"}};
  for (size_t wide = 0; wide < std::size(scopes); ++wide) {
    for (size_t narrow = 0; narrow < std::size(scopes); ++narrow) {
      EXPECT_EQ(Covers(scopes[wide], scopes[narrow]), wide <= narrow) << wide << " " << narrow;
    }
  }
  EXPECT_FALSE(Covers(NamespaceScope("b"), TableScope(t)));
  EXPECT_FALSE(Covers({"", t, "f", "q"}, {"", t, "f", "r"}));
}

TEST_F(AccessTest, WithoutAGrantNothingIsAllowedAndWithoutAuthorizationEverything) {
  EXPECT_EQ(Get("t", {}, "bob"), "AccessDenied");
  EXPECT_EQ(PutAs("bob", "t", "f:a"), kDenied);
  EXPECT_EQ(store_->OpenScanner({"bob"}, ParseTableName("t"), Scan{}).status().code(), kDenied);
  options_.site.authorization = false;
  Reopen();
  EXPECT_EQ(PutAs("bob", "t", "f:a", "x"), StatusCode::kOk);
  EXPECT_EQ(Get("t", {}, "bob"), "f:a=x");
}

TEST_F(AccessTest, WhetherASchemaMayBeAlteredIsKnownBefore) {
  const GrantScope table = TableScope(ParseTableName("t"));
  const auto may_alter = [&](const Caller& caller, const GrantScope& scope) {
    return store_->CheckMayAlter(caller, scope).code();
  };
  EXPECT_EQ(may_alter({"bob"}, table), kDenied);
  ASSERT_EQ(GrantTo("bob", "RWX", table), StatusCode::kOk);
  EXPECT_EQ(may_alter({"bob"}, table), kDenied);
  ASSERT_EQ(GrantTo("bob", "C", table), StatusCode::kOk);
  EXPECT_EQ(may_alter({"bob"}, table), StatusCode::kOk);
  EXPECT_EQ(may_alter({"bob"}, NamespaceScope("default")), kDenied);
  EXPECT_EQ(may_alter(Caller::Superuser(), NamespaceScope("default")), StatusCode::kOk);
}

TEST_F(AccessTest, WhetherSomethingMayBePutIntoAPartIsKnownBefore) {
  const GrantScope table = TableScope(ParseTableName("t"));
  const auto may_put = [&](const GrantScope& scope) {
    return store_->CheckMayPutWithin({"bob"}, scope).code();
  };
  ASSERT_EQ(GrantTo("bob", "RXCA", table), StatusCode::kOk);
  EXPECT_EQ(may_put(table), kDenied);
  ASSERT_EQ(GrantTo("bob", "W", Column("f", "a")), StatusCode::kOk);
  for (const GrantScope& scope : {table, Family("f"), Column("f", "a")})
    EXPECT_EQ(may_put(scope), StatusCode::kOk);
  for (const GrantScope& scope : {Family("g"), Column("f", "b"), TableScope(ParseTableName("u"))})
    EXPECT_EQ(may_put(scope), kDenied);
  ASSERT_EQ(GrantTo("bob", "W", NamespaceScope("default")), StatusCode::kOk);
  EXPECT_EQ(may_put(Family("g")), StatusCode::kOk);
  EXPECT_EQ(store_->CheckMayPutWithin(Caller::Superuser(), Family("g")).code(), StatusCode::kOk);
}

TEST_F(AccessTest, AReaderIsToldWhetherSomethingWasHidden) {
  ASSERT_EQ(GrantTo("bob", "R", Family("f")), StatusCode::kOk);
  ASSERT_EQ(GrantTo("eve", "R", Column("f", "a")), StatusCode::kOk);
  const auto is_told = [&](const Caller& caller, const Columns& columns) {
    std::atomic<bool> passed_over = false;
    Scan scan;
    scan.raw = true;
    scan.columns = columns;
    scan.passed_over = &passed_over;
    auto scanner = store_->OpenScanner(caller, ParseTableName("t"), scan);
    EXPECT_TRUE(scanner.ok() && (*scanner)->Next({}).ok());
    return passed_over.load();
  };
  EXPECT_FALSE(is_told(Caller::Superuser(), {}));
  EXPECT_TRUE(is_told({"bob"}, {}));
  EXPECT_FALSE(is_told({"bob"}, {{"f", {}}}));
  EXPECT_TRUE(is_told({"eve"}, {{"f", {}}}));
  const Delete remove{"r", {{CellType::kDeleteColumn, "f", "b"}}};
  EXPECT_TRUE(store_
                  ->Mutate(Caller::Superuser(), ParseTableName("t"), RowMutations::Of(remove))
                  .ok());
  EXPECT_TRUE(is_told({"eve"}, {{"f", {}}})) << "a tombstone is something as well";
}

// What they hide is deleted for who may read one column, too.
TEST_F(AccessTest, AFamilysTombstonesAreSeenByWhoMayReadOneColumn) {
  ASSERT_EQ(GrantTo("eve", "R", Column("f", "a")), StatusCode::kOk);
  const Delete remove{"r",
                      {{CellType::kDeleteFamily, "f", "", 7},
                       {CellType::kDeleteFamilyVersion, "f", "", 9},
                       {CellType::kDeleteColumn, "f", "b", 7},
                       {CellType::kDeleteFamily, "g", "", 7}}};
  ASSERT_TRUE(store_
                  ->Mutate(Caller::Superuser(), ParseTableName("t"), RowMutations::Of(remove))
                  .ok());
  Scan scan;
  scan.raw = true;
  scan.max_versions = kAllVersions;
  const auto scanner = store_->OpenScanner({"eve"}, ParseTableName("t"), scan);
  ASSERT_TRUE(scanner.ok());
  const auto rows = (*scanner)->Next({});
  ASSERT_TRUE(rows.ok() && rows->size() == 1);
  std::vector<CellType> seen;
  for (const Cell& cell : rows->front()) {
    EXPECT_EQ(cell.family, "f");
    EXPECT_TRUE(IsFamilyTombstone(cell.type) || cell.qualifier == "a");
    seen.push_back(cell.type);
  }
  EXPECT_EQ(seen, (std::vector{CellType::kDeleteFamilyVersion, CellType::kDeleteFamily,
                               CellType::kPut}));
}

TEST_F(AccessTest, APartlyReadableRowComesBackFiltered) {
  ASSERT_EQ(GrantTo("bob", "RW", Family("f")), StatusCode::kOk);
  EXPECT_EQ(Get("t", {}, "bob"), "f:a=fa f:b=fb");
  EXPECT_EQ(Get("t", {{"g", {"c"}}}, "bob"), "AccessDenied");
  EXPECT_EQ(Get("t", {{"z", {}}}, "bob"), "NoSuchColumnFamily");
  EXPECT_EQ(PutAs("bob", "t", "f:a", "x"), StatusCode::kOk);
  RowMutations both = RowMutations::Of(Put{"r", {Named("f:a", "y"), Named("g:c", "y")}});
  EXPECT_EQ(store_->Mutate({"bob"}, ParseTableName("t"), both).status().code(), kDenied);
  EXPECT_EQ(DeleteRow("t", "bob"), kDenied);
  EXPECT_EQ(Get("t"), "f:a=x f:b=fb g:c=gc");
}

TEST_F(AccessTest, AColumnsGrantIsForThatColumn) {
  ASSERT_EQ(GrantTo("bob", "RW", Column("f", "a")), StatusCode::kOk);
  EXPECT_EQ(Get("t", {}, "bob"), "f:a=fa");
  EXPECT_EQ(Get("t", {{"f", {"a", "b"}}}, "bob"), "f:a=fa");
  EXPECT_EQ(Get("t", {{"f", {"b"}}}, "bob"), "AccessDenied");
  EXPECT_EQ(PutAs("bob", "t", "f:b"), kDenied);
  RowMutations family = RowMutations::Of(Delete{"r", {{CellType::kDeleteFamily, "f"}}});
  EXPECT_EQ(store_->Mutate({"bob"}, ParseTableName("t"), family).status().code(), kDenied);
}

TEST_F(AccessTest, TheQuerysOwnFilterSeesOnlyWhatMayBeRead) {
  ASSERT_EQ(GrantTo("bob", "R", Column("f", "b")), StatusCode::kOk);
  cellfs::Get get;
  get.row = "r";
  get.filter = *MakeFirstKeyOnlyFilter();
  const auto cells = store_->Read({"bob"}, ParseTableName("t"), get);
  ASSERT_TRUE(cells.ok());
  ASSERT_EQ(cells->size(), 1u);
  EXPECT_EQ(cells->front().qualifier, "b");
}

// Lengths alone are read without the values, unless a filter looks at these.
TEST(AccessOfAStoreTest, AFilterThatLooksAtValuesSeesThemInAPartlyReadableRow) {
  const TemporaryDirectory directory;
  StoreOptions options;
  options.site.authorization = true;
  auto store = OpenLocalStore(directory.path() + "/store", options);
  ASSERT_TRUE(store.ok()) << store.status().ToString();
  const Caller& root = Caller::Superuser();
  const TableName table = ParseTableName("t");
  TableSchema schema(table);
  for (const char* name : {"f", "g"}) schema.families.emplace(name, FamilySchema(name));
  ASSERT_TRUE((*store)->CreateTable(root, schema).ok());
  const Put put{"r",
                {{"f", "a", kLatestTimestamp, "yes"},
                 {"f", "b", kLatestTimestamp, "no"},
                 {"g", "c", kLatestTimestamp, "yes"}}};
  ASSERT_TRUE((*store)->Mutate(root, table, RowMutations::Of(put)).ok());
  ASSERT_TRUE((*store)->Flush(root, table).ok());
  ASSERT_TRUE((*store)->GrantPermissions(root, {"bob", {"", table, "f"}, "R"}, true).ok());
  Get get;
  get.row = "r";
  get.lengths_only = true;
  get.filter = *MakeValueFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "yes"});
  const auto cells = (*store)->Read({"bob"}, table, get);
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  ASSERT_EQ(cells->size(), 1u);
  EXPECT_EQ(cells->front().qualifier, "a");
}

TEST_F(AccessTest, BatchesAreJudgedRowByRow) {
  ASSERT_EQ(GrantTo("bob", "W", Family("f")), StatusCode::kOk);
  const auto answers = store_->Batch({"bob"}, ParseTableName("t"),
                                     {PutOf("g:c", "1"), PutOf("f:a", "2"), PutOf("g:c", "3")});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status().code(), kDenied);
  EXPECT_TRUE(answers[1].ok());
  EXPECT_EQ(answers[2].status().code(), kDenied);
  EXPECT_EQ(Get("t"), "f:a=2 f:b=fb g:c=gc");
}

TEST_F(AccessTest, ACheckAsksForItsColumnAndOnlyADoneActionForItsOwn) {
  const TableName t = ParseTableName("t");
  ASSERT_EQ(GrantTo("bob", "RW", Family("f")), StatusCode::kOk);
  ASSERT_EQ(GrantTo("ann", "W", TableScope(t)), StatusCode::kOk);
  const auto check = [&](const char* user, const char* column, const char* value) {
    const PutCell checked = Named(column, value);
    CheckAndMutate request{
        "r",
        ColumnCondition{checked.family, checked.qualifier, CompareOperator::kEqual, value},
        {},
        PutOf("g:c", "x")};
    const auto result = store_->CheckAndMutate({user}, t, request);
    if (!result.ok()) return std::string(CodeName(result.status().code()));
    return std::string(result->done ? "done" : "not done");
  };
  EXPECT_EQ(check("ann", "f:a", "fa"), "AccessDenied");
  EXPECT_EQ(check("bob", "f:a", "other"), "not done");
  EXPECT_EQ(check("bob", "f:a", "fa"), "AccessDenied");
  EXPECT_EQ(check("bob", "g:c", "gc"), "AccessDenied");
  EXPECT_EQ(Get("t", {{"g", {}}}), "g:c=gc");
  EXPECT_EQ(check("", "f:a", "fa"), "done");
}

TEST_F(AccessTest, AFilterIsCheckedOnWhatMayBeRead) {
  const TableName t = ParseTableName("t");
  ASSERT_EQ(GrantTo("bob", "RW", Family("f")), StatusCode::kOk);
  ASSERT_EQ(GrantTo("ann", "W", TableScope(t)), StatusCode::kOk);
  const auto check = [&](const char* user, const char* value) {
    const FilterPtr filter =
        *MakeValueFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, value});
    const auto result =
        store_->CheckAndMutate({user}, t, CheckAndMutate{"r", filter, {}, PutOf("f:a", "x")});
    if (!result.ok()) return std::string(CodeName(result.status().code()));
    return std::string(result->done ? "done" : "not done");
  };
  EXPECT_EQ(check("ann", "fa"), "AccessDenied");
  EXPECT_EQ(check("bob", "gc"), "not done");
  EXPECT_EQ(check("", "gc"), "done");
  EXPECT_EQ(check("bob", "fb"), "done");
}

TEST_F(AccessTest, DeletingARowWantsEveryFamily) {
  ASSERT_EQ(GrantTo("bob", "W", Family("f")), StatusCode::kOk);
  EXPECT_EQ(DeleteRow("t", "bob"), kDenied);
  ASSERT_EQ(GrantTo("bob", "W", Family("g")), StatusCode::kOk);
  EXPECT_EQ(DeleteRow("t", "bob"), StatusCode::kOk);
  EXPECT_EQ(Get("t"), "");
}

TEST_F(AccessTest, WhoMakesATableOwnsItUntilItIsDropped) {
  const TableName t = ParseTableName("a:t");
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  EXPECT_EQ(store_->CreateTable({"eve"}, Schema("a:t")).code(), kDenied);
  ASSERT_EQ(GrantTo("eve", "C", NamespaceScope("a")), StatusCode::kOk);
  ASSERT_TRUE(store_->CreateTable({"eve"}, Schema("a:t")).ok());
  EXPECT_EQ(PutAs("eve", "a:t", "f:q"), StatusCode::kOk);
  EXPECT_EQ(GrantTo("bob", "R", TableScope(t), "eve"), StatusCode::kOk);
  EXPECT_EQ(Get("a:t", {}, "bob"), "f:q=v");
  EXPECT_EQ(GrantTo("tom", "R", TableScope(t), "bob"), kDenied);
  ASSERT_TRUE(store_->RevokePermissions({"eve"}, "bob", TableScope(t)).ok());
  EXPECT_EQ(Get("a:t", {}, "bob"), "AccessDenied");
  ASSERT_TRUE(store_->DisableTable({"eve"}, t).ok());
  ASSERT_TRUE(store_->DropTable({"eve"}, t).ok());
  ASSERT_EQ(Create("a:t"), StatusCode::kOk);
  EXPECT_EQ(PutAs("eve", "a:t", "f:q"), kDenied);
}

TEST_F(AccessTest, AdministrationWantsItsRights) {
  const TableName t = ParseTableName("t");
  const Caller bob{"bob"};
  ASSERT_EQ(GrantTo("bob", "RWX", TableScope(t)), StatusCode::kOk);
  EXPECT_EQ(store_->AlterTable(bob, Schema("t")).code(), kDenied);
  EXPECT_EQ(store_->Flush(bob, t).code(), kDenied);
  EXPECT_EQ(store_->Compact(bob, t, CompactionKind::kMajor).code(), kDenied);
  EXPECT_EQ(store_->DisableTable(bob, t).code(), kDenied);
  EXPECT_EQ(store_->CreateNamespace(bob, {"b", {}}).code(), kDenied);
  ASSERT_EQ(GrantTo("bob", "C", TableScope(t)), StatusCode::kOk);
  EXPECT_TRUE(store_->Flush(bob, t).ok());
  EXPECT_EQ(store_->SetTableSpaceQuota(bob, t, SpaceQuota{1}).code(), kDenied);
  // Who alters a table owns it from then on.
  EXPECT_TRUE(store_->AddFamily(bob, t, FamilySchema("h")).ok());
  EXPECT_TRUE(store_->SetTableSpaceQuota(bob, t, SpaceQuota{1}).ok());
  EXPECT_EQ(store_->SetNamespaceSpaceQuota(bob, "default", SpaceQuota{1}).code(), kDenied);
  ASSERT_EQ(GrantTo("bob", "A", GlobalScope()), StatusCode::kOk);
  EXPECT_TRUE(store_->CreateNamespace(bob, {"b", {}}).ok());
}

TEST_F(AccessTest, ASplitWantsAAndMakesNobodyAnOwner) {
  const TableName t = ParseTableName("t");
  const Caller bob{"bob"};
  ASSERT_EQ(GrantTo("bob", "RWXC", TableScope(t)), StatusCode::kOk);
  EXPECT_EQ(store_->SplitTable(bob, t, "m").code(), kDenied);
  ASSERT_EQ(GrantTo("eve", "A", TableScope(t)), StatusCode::kOk);
  EXPECT_TRUE(store_->SplitTable({"eve"}, t, "m").ok());
  for (const Grant& grant : *store_->ListGrants()) {
    if (grant.user == "eve") {
      EXPECT_EQ(grant.permissions, "A");
    }
  }
}

TEST_F(AccessTest, GrantsMustMakeSense) {
  const TableName t = ParseTableName("t");
  EXPECT_EQ(GrantTo("bob", "", TableScope(t)), StatusCode::kIllegalArgument);
  EXPECT_EQ(GrantTo("bob", "RZ", TableScope(t)), StatusCode::kIllegalArgument);
  EXPECT_EQ(GrantTo("", "R", TableScope(t)), StatusCode::kIllegalArgument);
  EXPECT_EQ(GrantTo("bob", "R", TableScope(ParseTableName("u"))), StatusCode::kTableNotFound);
  EXPECT_EQ(GrantTo("bob", "R", NamespaceScope("b")), StatusCode::kNamespaceNotFound);
  EXPECT_EQ(GrantTo("bob", "R", Family("z")), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(GrantTo("bob", "R", {"", t, "", "q"}), StatusCode::kIllegalArgument);
  EXPECT_EQ(store_->ListGrants()->size(), 0u);
  ASSERT_EQ(GrantTo("bob", "WR", {"default", t}), StatusCode::kOk);
  EXPECT_EQ(store_->ListGrants()->at(0).permissions, "RW");
  EXPECT_EQ(store_->ListGrants()->at(0).scope, TableScope(t));
}

}  // namespace
}  // namespace cellfs
