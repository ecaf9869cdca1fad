// SPDX-License-Identifier: MIT
//
// What a store tells of the tables it had, and how these are read by their ids.
#include "engine/past_catalog.h"

#include "tests/engine/embedded/table_fixture.h"

namespace cellfs {
namespace {

class PastCatalogTest : public TableFixture {
 protected:
  void SetUp() override {
    CreateKeeping("keeps");  // whose families keep what was, of all tables
  }

  void CreateKeeping(const std::string& table) {
    FamilySchema family("f");
    ASSERT_TRUE(family.Set("KEEP_DELETED_CELLS", "TRUE").ok());
    TableSchema schema(ParseTableName(table));
    schema.families.emplace("f", family);
    ASSERT_TRUE(store_->CreateTable(root_, schema).ok());
  }
  TableId IdOf(const std::string& table) {
    return (*store_->DescribeTable(ParseTableName(table)))->id();
  }
  Timestamp Later() {
    clock_->Advance(1000);
    return clock_->Now() - 500;
  }
  std::string TablesAt(Timestamp time) {
    std::string names;
    const auto past = store_->CatalogAt(time);
    EXPECT_TRUE(past.ok());
    for (const auto& [name, table] : (*past)->tables) names += name.ToString() + " ";
    return names;
  }
  std::string GetById(TableId id, const std::string& family = "") {
    cellfs::Get get;
    get.row = "r";
    get.table_id = id;
    if (!family.empty()) get.columns[family] = {};
    return Shown(store_->Read(root_, ParseTableName("whatever"), get));
  }
  std::string ScanById(TableId id) {
    Scan scan;
    scan.table_id = id;
    auto scanner = store_->OpenScanner(root_, ParseTableName("whatever"), scan);
    if (!scanner.ok()) return std::string(CodeName(scanner.status().code()));
    auto rows = (*scanner)->Next({});
    if (!rows.ok()) return std::string(CodeName(rows.status().code()));
    return std::to_string(rows->size()) + " rows";
  }

 private:
  static std::string Shown(const StatusOr<RowCells>& cells) {
    if (!cells.ok()) return std::string(CodeName(cells.status().code()));
    std::string text;
    for (const Cell& cell : *cells) text += cell.qualifier + "=" + cell.value;
    return text;
  }
};

TEST_F(PastCatalogTest, ARenamedTableIsThereUnderItsOldNameWithItsCells) {
  const Timestamp before = Later();
  Create("t");
  PutAs("", "t", "f:q");
  const TableId id = IdOf("t");
  const Timestamp then = Later();
  ASSERT_TRUE(store_->RenameTable(root_, ParseTableName("t"), ParseTableName("u")).ok());
  Create("t");
  EXPECT_EQ(TablesAt(before), "keeps ");
  EXPECT_EQ(TablesAt(then), "keeps t ");
  EXPECT_EQ(TablesAt(Later()), "keeps t u ");
  EXPECT_EQ((*store_->CatalogAt(then))->Find(ParseTableName("t"))->schema->id(), id);
  EXPECT_EQ(GetById(id), "q=v");
  EXPECT_EQ(ScanById(id), "1 rows");
  EXPECT_EQ(GetById(IdOf("t")), "") << "another table";
}

TEST_F(PastCatalogTest, FamiliesThatAreGoneHoldNothing) {
  ASSERT_EQ(Create("t", {"f", "g"}), StatusCode::kOk);
  PutAs("", "t", "f:q");
  const TableId id = IdOf("t");
  const Timestamp then = Later();
  ASSERT_TRUE(store_->DropFamily(root_, ParseTableName("t"), "g").ok());
  const auto past = (*store_->CatalogAt(then))->Find(ParseTableName("t"))->schema;
  EXPECT_NE(past->FindFamily("g"), nullptr);
  EXPECT_EQ(GetById(id, "g"), "");
  EXPECT_EQ(GetById(id, "f"), "q=v");
}

TEST_F(PastCatalogTest, OfDroppedTablesThoseAreToldThatHeldNothing) {
  Create("empty");
  Create("full");
  PutAs("", "full", "f:q");
  const TableId empty = IdOf("empty"), full = IdOf("full");
  const Timestamp then = Later();
  for (const char* const name : {"empty", "full"}) {
    ASSERT_TRUE(store_->DisableTable(root_, ParseTableName(name)).ok());
    ASSERT_TRUE(store_->DropTable(root_, ParseTableName(name)).ok());
  }
  EXPECT_EQ(TablesAt(then), "empty keeps ");
  EXPECT_EQ(GetById(empty), "");
  EXPECT_EQ(ScanById(empty), "0 rows");
  EXPECT_EQ(GetById(full), "Unavailable");
  EXPECT_EQ(ScanById(full), "Unavailable");
}

TEST_F(PastCatalogTest, StatisticsCountIt) {
  EXPECT_EQ(store_->GetStatistics().past_states, 0u);
  ASSERT_TRUE(store_->DisableTable(root_, ParseTableName("keeps")).ok());
  EXPECT_EQ(store_->GetStatistics().past_states, 1u);
  EXPECT_GT(store_->GetStatistics().past_bytes, 100u);
  Reopen();
  EXPECT_EQ(store_->GetStatistics().past_states, 1u);
}

}  // namespace
}  // namespace cellfs
