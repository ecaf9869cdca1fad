// SPDX-License-Identifier: MIT
#include "engine/catalog/system_tables.h"

#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

class SystemTablesTest : public TableFixture {
 protected:
  // "row family:qualifier" of each cell.
  std::vector<std::string> Scanned(std::string_view table) {
    auto scanner = store_->OpenScanner(root_, ParseTableName(table), Scan{});
    EXPECT_TRUE(scanner.ok());
    std::vector<std::string> cells;
    auto rows = (*scanner)->Next({});
    EXPECT_TRUE(rows.ok());
    for (const RowCells& row : *rows) {
      for (const Cell& cell : row) {
        cells.push_back(cell.row + " " + cell.family + ":" + cell.qualifier + "=" + cell.value);
      }
    }
    return cells;
  }
};

TEST_F(SystemTablesTest, MetaHasARowForEachRegionAndOneForTheTable) {
  TableSchema schema = Schema("t");
  schema.split_keys = {"m"};
  ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  const auto cells = Scanned("hbase:meta");
  ASSERT_EQ(cells.size(), 5u);
  EXPECT_EQ(cells[0], "t table:state=ENABLED");
  EXPECT_EQ(cells[1].substr(0, 11), "t,,1000000.");
  EXPECT_NE(cells[1].find(" info:regioninfo="), std::string::npos);
  EXPECT_NE(cells[1].find("STARTKEY => '', ENDKEY => 'm'"), std::string::npos);
  EXPECT_NE(cells[2].find(" info:state=OPEN"), std::string::npos);
  EXPECT_EQ(cells[3].substr(0, 12), "t,m,1000000.");
  const std::string row = cells[3].substr(0, cells[3].find(' '));
  EXPECT_EQ(row.size(), 12u + 32 + 1);
  cellfs::Get get;
  get.row = row;
  EXPECT_EQ(store_->Read(root_, ParseTableName("hbase:meta"), get)->size(), 2u);
  ASSERT_TRUE(store_->SplitTable(root_, schema.name(), "t").ok());
  EXPECT_EQ(Scanned("hbase:meta").size(), 7u);
}

TEST_F(SystemTablesTest, TheOthersShowNamespacesQuotasAndGrants) {
  Create("t");
  const TableName t = ParseTableName("t");
  ASSERT_TRUE(store_->CreateNamespace(root_, {"a", {{"k", "v"}}}).ok());
  ASSERT_TRUE(store_->SetTableSpaceQuota(root_, t, SpaceQuota{5}).ok());
  ASSERT_EQ(GrantTo("bob", "RW", {"", t, "f", "q"}), StatusCode::kOk);
  ASSERT_EQ(GrantTo("ann", "A", {}), StatusCode::kOk);
  ASSERT_EQ(GrantTo("eve", "C", {"a"}), StatusCode::kOk);
  EXPECT_EQ(Scanned("hbase:namespace"),
            (std::vector<std::string>{"a info:d={NAME => 'a', k => 'v'}",
                                      "default info:d={NAME => 'default'}",
                                      "hbase info:d={NAME => 'hbase'}"}));
  EXPECT_EQ(Scanned("hbase:quota"),
            (std::vector<std::string>{
                "t.t q:s={TYPE => SPACE, LIMIT => 5, VIOLATION_POLICY => NO_INSERTS}"}));
  EXPECT_EQ(Scanned("hbase:acl"),
            (std::vector<std::string>{"@a l:eve=C", "hbase:acl l:ann=A", "t l:bob,f,q=RW"}));
}

TEST_F(SystemTablesTest, TheyAreListedAndDescribedAndCannotBeChanged) {
  const TableName meta = ParseTableName("hbase:meta");
  std::string names;
  const auto tables = store_->ListTables("hbase");
  for (const TableName& name : *tables) names += name.name + " ";
  EXPECT_EQ(names, "acl meta namespace quota ");
  EXPECT_TRUE((*store_->DescribeTable(meta))->read_only());
  EXPECT_EQ(PutAs("", "hbase:meta", "info:q"), StatusCode::kReadOnly);
  EXPECT_EQ(DeleteRow("hbase:meta"), StatusCode::kReadOnly);
  EXPECT_EQ(store_->DisableTable(root_, meta).code(), StatusCode::kReadOnly);
  EXPECT_EQ(store_->AlterTable(root_, Schema("hbase:meta")).code(), StatusCode::kReadOnly);
  EXPECT_EQ(store_->AlterNamespace(root_, {"hbase", {{"k", "v"}}}).code(), StatusCode::kReadOnly);
  EXPECT_EQ(Get("hbase:nothing"), "TableNotFound");
  EXPECT_EQ(Get("hbase:meta", {{"z", {}}}), "NoSuchColumnFamily");
}

TEST_F(SystemTablesTest, AllMayReadWhereTablesAreButNotTheRights) {
  TurnAuthorizationOn();
  EXPECT_EQ(Get("hbase:meta", {}, "bob"), "");
  EXPECT_EQ(Get("hbase:acl", {}, "bob"), "AccessDenied");
}

}  // namespace
}  // namespace cellfs
