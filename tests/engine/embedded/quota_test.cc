// SPDX-License-Identifier: MIT
#include "engine/catalog/space_quotas.h"
#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

using enum SpaceViolationPolicy;

class QuotaTest : public TableFixture {
 protected:
  const TableName t_ = ParseTableName("t");

  // The table "t" over a quota of 1000 bytes, with the cell f:q of 2000.
  void Violate(SpaceViolationPolicy policy) {
    Create("t");
    ASSERT_TRUE(store_->SetTableSpaceQuota(root_, t_, SpaceQuota{1000, policy}).ok());
    ASSERT_EQ(PutAs("", "t", "f:q", std::string(2000, 'x')), StatusCode::kOk);
    ASSERT_TRUE(store_->Flush(root_, t_).ok());
    ASSERT_EQ(PutAs("", "t", "f:before", "b"), StatusCode::kOk);  // not looked at yet
    ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  }
  StatusCode IncrementAs(const std::string& user) {
    const RowMutations mutation = RowMutations::Of(Increment{"r", {{"f", "n", 1}}});
    return store_->Mutate({user}, t_, mutation).status().code();
  }
};

TEST_F(QuotaTest, ANamespaceHoldsItsNumberOfTablesAndRegions) {
  ASSERT_TRUE(store_
                  ->CreateNamespace(root_, {"a",
                                            {{"hbase.namespace.quota.maxtables", "2"},
                                             {"hbase.namespace.quota.maxregions", "3"}}})
                  .ok());
  TableSchema two = Schema("a:1");
  two.split_keys = {"m"};
  ASSERT_TRUE(store_->CreateTable(root_, two).ok());
  TableSchema again = Schema("a:2");
  again.split_keys = {"m"};
  EXPECT_EQ(store_->CreateTable(root_, again).code(), StatusCode::kQuotaExceeded);
  EXPECT_EQ(Create("a:2"), StatusCode::kOk);
  EXPECT_EQ(Create("a:3"), StatusCode::kQuotaExceeded);
  // Lowering it touches nothing that is there.
  EXPECT_TRUE(
      store_->AlterNamespace(root_, {"a", {{"hbase.namespace.quota.maxtables", "1"}}}).ok());
  EXPECT_EQ(PutAs("", "a:2", "f:q"), StatusCode::kOk);
}

TEST_F(QuotaTest, ASplitIsOneRegionMore) {
  ASSERT_TRUE(
      store_->CreateNamespace(root_, {"a", {{"hbase.namespace.quota.maxregions", "3"}}}).ok());
  Create("a:1");
  Create("a:2");
  const TableName table = ParseTableName("a:1");
  EXPECT_EQ(store_->SplitTable(root_, table, "m").code(), StatusCode::kOk);
  EXPECT_EQ(store_->SplitTable(root_, table, "n").code(), StatusCode::kQuotaExceeded);
  EXPECT_EQ((*store_->DescribeTable(table))->split_keys, std::vector<std::string>{"m"});
  // How many tables there may be does not matter to it.
  ASSERT_TRUE(
      store_->AlterNamespace(root_, {"a", {{"hbase.namespace.quota.maxtables", "1"}}}).ok());
  EXPECT_EQ(store_->SplitTable(root_, table, "n").code(), StatusCode::kOk);
}

TEST_F(QuotaTest, NumbersThatAreNoneAreRefused) {
  for (const auto& [text, code] : {std::pair{"0", StatusCode::kConstraint},
                                   {"-1", StatusCode::kConstraint},
                                   {"arf", StatusCode::kDoNotRetry},
                                   {"1x", StatusCode::kDoNotRetry}}) {
    const NamespaceSchema schema{"a", {{"hbase.namespace.quota.maxregions", text}}};
    EXPECT_EQ(store_->CreateNamespace(root_, schema).code(), code) << text;
  }
  Create("t");
  EXPECT_EQ(store_->SetTableSpaceQuota(root_, t_, SpaceQuota{-1, kNoWrites}).code(),
            StatusCode::kIllegalArgument);
  EXPECT_EQ(store_->SetTableSpaceQuota(root_, ParseTableName("u"), SpaceQuota{1, kNoWrites}).code(),
            StatusCode::kTableNotFound);
  EXPECT_EQ(store_->SetNamespaceSpaceQuota(root_, "a", SpaceQuota{1, kNoWrites}).code(),
            StatusCode::kNamespaceNotFound);
}

TEST_F(QuotaTest, NoInsertsLetsDeletesThrough) {
  Violate(kNoInserts);
  EXPECT_EQ(PutAs("", "t", "f:q"), StatusCode::kSpaceLimiting);
  EXPECT_EQ(IncrementAs(""), StatusCode::kSpaceLimiting);
  RowMutations both{"r", {Delete{"r"}, Put{"r", {Named("f:q", "v")}}}};
  EXPECT_EQ(store_->Mutate(root_, t_, both).status().code(), StatusCode::kSpaceLimiting);
  CheckAndMutate check{"r", ColumnCondition{"f", "none"}, {}, PutOf("f:q", "v")};
  EXPECT_EQ(store_->CheckAndMutate(root_, t_, check).status().code(), StatusCode::kSpaceLimiting);
  const auto answers = store_->Batch(
      root_, t_, {PutOf("f:q", "v"), RowMutations::Of(Delete{"r"}), PutOf("f:q", "v")});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].status().code(), StatusCode::kSpaceLimiting);
  EXPECT_TRUE(answers[1].ok());
  EXPECT_EQ(answers[2].status().code(), StatusCode::kSpaceLimiting);
  EXPECT_EQ(Get("t"), "");
}

TEST_F(QuotaTest, NoWritesRefusesDeletesToo) {
  Violate(kNoWrites);
  EXPECT_EQ(DeleteRow("t"), StatusCode::kSpaceLimiting);
  EXPECT_EQ(Get("t", {{"f", {"before"}}}), "f:before=b");
  ASSERT_TRUE(store_->Compact(root_, t_, CompactionKind::kMajor).ok());
  EXPECT_EQ(store_->GetStatistics().tables[0].compactions, 1u);
  // Without the quota, and after the next check, it takes writes again.
  ASSERT_TRUE(store_->SetTableSpaceQuota(root_, t_, std::nullopt).ok());
  EXPECT_EQ(*store_->TableSpaceQuota(t_), std::nullopt);
  EXPECT_EQ(DeleteRow("t"), StatusCode::kSpaceLimiting);
  ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  EXPECT_EQ(DeleteRow("t"), StatusCode::kOk);
}

TEST_F(QuotaTest, NoWritesCompactionsPassesOverCompactionsInSilence) {
  Violate(kNoWritesCompactions);
  ASSERT_TRUE(store_->Compact(root_, t_, CompactionKind::kMajor).ok());
  EXPECT_EQ(store_->GetStatistics().tables[0].compactions, 0u);
}

TEST_F(QuotaTest, DisableDisablesAndKeepsDisabledUntilThereIsRoom) {
  Violate(kDisable);
  EXPECT_EQ(Get("t"), "TableNotEnabled");
  EXPECT_EQ(store_->EnableTable(root_, t_).code(), StatusCode::kAccessDenied);
  Reopen();  // the violation is remembered; the memory engine's cells are not
  EXPECT_EQ(store_->EnableTable(root_, t_).code(), StatusCode::kAccessDenied);
  ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  EXPECT_TRUE(*store_->IsTableEnabled(t_));
}

TEST_F(QuotaTest, ATablesOwnViolationGoesBeforeItsNamespaces) {
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {}}).ok());
  Catalog catalog = NewCatalog();
  for (const char* name : {"a:kept", "a:over", "b:x"}) {
    auto schema = std::make_shared<TableSchema>(ParseTableName(name));
    catalog.tables[schema->name()] = {0, schema};
  }
  const TableName kept = ParseTableName("a:kept");
  const TableName over = ParseTableName("a:over");
  catalog.table_quotas[kept] = {{1000, kDisable}};
  catalog.table_quotas[over] = {{10, kNoWrites}};
  catalog.namespace_quotas["a"] = {{100, kNoInserts}};
  const std::map<TableName, uint64_t> sizes = {
      {kept, 90}, {over, 11}, {ParseTableName("b:x"), 999}};
  using Violations = std::map<TableName, SpaceViolationPolicy>;
  EXPECT_EQ(FindViolations(catalog, sizes), (Violations{{kept, kNoInserts}, {over, kNoWrites}}));
  // At the limit is not over it.
  EXPECT_EQ(FindViolations(catalog, {{kept, 90}, {over, 10}}), Violations{});
}

}  // namespace
}  // namespace cellfs
