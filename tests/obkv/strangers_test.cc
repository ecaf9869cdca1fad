// SPDX-License-Identifier: MIT
//
// What other programs may have made or do meanwhile: rows that are no cells, columns that are
// computed, transactions that come into each other's way.
#include <cstdlib>
#include <string_view>

#include "tests/obkv/layout.h"

namespace cellfs::obkv {
namespace {

class StrangersTest : public Layout {};

TEST_F(StrangersTest, RowsThatAreNoCellsArePassedOver) {
  MakeTheirs("f");
  Do("INSERT INTO layout.`htable1$f` VALUES ('', 'q', -5, 'no row'), ('a', 'p', 7, 'before all time'),"
     " ('a', 'q', -9223372036854775808, 'after it'), ('a', 'q', -9223372036854775807, 'never'),"
     " ('a', 'q', -5, 'five'), ('a', 'q', 9223372036854775807, 'least'), ('b', 'q', 0, 'zero'),"
     " ('c', 'q', 1, 'alone')");
  const Texts cells = {"a/f:q/5=five", "b/f:q/0=zero"};
  EXPECT_EQ(Cells({}), cells);
  Scan back;
  back.reversed = true;
  EXPECT_EQ(Cells(back), (Texts{"b/f:q/0=zero", "a/f:q/5=five"}));
  Get get;
  get.row = "a";
  const auto row = store_->Read(me_, kTable, get);
  ASSERT_TRUE(row.ok()) << row.status().ToString();
  EXPECT_EQ(row->size(), 1u);
  Put put = PutOf("a", "q", "above");
  put.stamping = Stamping::kAboveColumn;
  ASSERT_TRUE(Mutate(put).ok());
  EXPECT_EQ(Cells({}), (Texts{"a/f:q/1000000=above", "a/f:q/5=five", "b/f:q/0=zero"}));
  ASSERT_TRUE(Mutate(Increment{.row = "a", .cells = {{"f", "n", 3}}}).ok());
}

TEST_F(StrangersTest, ColumnsThatAreComputedAreLeftAlone) {
  MakeTheirs("f", ", G bigint GENERATED ALWAYS AS (ABS(T)) VIRTUAL,"
                  " K_PREFIX varbinary(1024) GENERATED ALWAYS AS (SUBSTRING(K, 1, 2)) VIRTUAL");
  EXPECT_EQ(*store_->ListTables("layout"), std::vector{kTable});
  ASSERT_TRUE(Mutate(PutOf("row", "q", "v", 5)).ok());
  ASSERT_TRUE(Mutate(PutOf("row", "q", "w", 5)).ok());
  EXPECT_EQ(Cells({}), (Texts{"row/f:q/5=w"}));
  const auto computed =
      connection_->Query("SELECT G, K_PREFIX FROM layout.`htable1$f`", {}, Soon());
  ASSERT_TRUE(computed.ok()) << computed.status().ToString();
  EXPECT_EQ(computed->front(), (SqlRow{int64_t{5}, std::string("ro")}));
  ASSERT_TRUE(Mutate(Delete{.row = "row"}).ok());
  EXPECT_EQ(Rows("f"), Texts());
}

TEST_F(StrangersTest, ATableWithAColumnThatOthersHaveToFillIsNone) {
  MakeTheirs("f", ", owner bigint NOT NULL");
  EXPECT_TRUE(store_->ListTables("layout")->empty());
}

// A deadlock, as the server says it, before each third insertion of a session.
TEST_F(StrangersTest, AWriteThatTheServerRolledBackIsTriedAgain) {
  const char* const kind = std::getenv("CELLFS_TEST_DATABASE_KIND");
  if (kind == nullptr || std::string_view(kind) != "mariadb") GTEST_SKIP() << "it has no SIGNAL";
  MakeTheirs("f");
  for (const int number : {1213, 1205}) {
    Do("CREATE OR REPLACE TRIGGER layout.rolls_back BEFORE INSERT ON layout.`htable1$f` FOR EACH ROW"
       " BEGIN SET @tries = IFNULL(@tries, 0) + 1;"
       " IF @tries % 3 <> 0 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = " +
       std::to_string(number) + "; END IF; END");
    EXPECT_TRUE(Mutate(PutOf("r", "q", "v")).ok()) << number;
    EXPECT_TRUE(Mutate(Increment{.row = "r", .cells = {{"f", "n", 3}}}).ok()) << number;
    for (const auto& answer : store_->Batch(me_, kTable, {RowMutations::Of(PutOf("s", "q", "v"))}))
      EXPECT_TRUE(answer.ok()) << answer.status().ToString();
  }
  Get get;
  get.row = "r";
  get.columns["f"] = {"n"};
  EXPECT_EQ(store_->Read(me_, kTable, get)->front().value, std::string("\0\0\0\0\0\0\0\6", 8));
  Do("CREATE OR REPLACE TRIGGER layout.rolls_back BEFORE INSERT ON layout.`htable1$f` FOR EACH ROW"
     " SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213");
  EXPECT_EQ(Mutate(PutOf("never", "q", "v")).code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace cellfs::obkv
