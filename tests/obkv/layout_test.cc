// SPDX-License-Identifier: MIT
//
// What is in the database by itself: tables that others made, rows that others put, and what is
// there in SQL after what this store has done.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/obkv/layout.h"

namespace cellfs::obkv {
namespace {

class LayoutTest : public Layout {};

TEST_F(LayoutTest, TablesOfOthersAreKnownByTheirShape) {
  MakeTheirs("f");
  MakeTheirs("g", ", TTL bigint(20)");
  Do("CREATE TABLE layout.plain (K varbinary(9) PRIMARY KEY)");
  Do("CREATE TABLE layout.`other$f` (K int, Q int, T int, V int, PRIMARY KEY (K, Q, T))");
  EXPECT_EQ(*store_->ListTables("layout"), std::vector{kTable});
  const auto schema = store_->DescribeTable(kTable);
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  ASSERT_EQ((*schema)->families.size(), 2u);
  EXPECT_EQ((*schema)->families.at("f").max_versions(), kAllVersions);
  EXPECT_EQ(store_->DescribeTable({"layout", "other"}).status().code(),
            StatusCode::kTableNotFound);
  EXPECT_EQ(store_->DropNamespace(me_, "layout").code(), StatusCode::kConstraint);
}

TEST_F(LayoutTest, RowsOfOthersAreCells) {
  MakeTheirs("f");
  Do("INSERT INTO layout.`htable1$f` VALUES ('a', 'q', -5, 'five'), ('a', 'q', -7, 'seven'),"
     " ('a', 'p', -1, ''), ('b', '', -3, NULL), ('c', 'q', -2, 'c')");
  EXPECT_EQ(Cells({}), (Texts{"a/f:p/1=", "a/f:q/7=seven", "a/f:q/5=five", "b/f:/3=",
                              "c/f:q/2=c"}));
  Scan back;
  back.reversed = true;
  EXPECT_EQ(Cells(back), (Texts{"c/f:q/2=c", "b/f:/3=", "a/f:p/1=", "a/f:q/7=seven",
                                "a/f:q/5=five"}));
  Scan some;
  some.start_row = "a";
  some.include_start_row = false;
  some.stop_row = "c";
  EXPECT_EQ(Cells(some), (Texts{"b/f:/3="}));
  for (const bool reversed : {false, true}) {
    Scan one;
    one.start_row = one.stop_row = "b";
    one.include_stop_row = true;
    one.reversed = reversed;
    EXPECT_EQ(Cells(one), (Texts{"b/f:/3="})) << reversed;
    one.start_row = one.stop_row = "none";
    EXPECT_EQ(Cells(one), Texts()) << reversed;
  }
}

TEST_F(LayoutTest, APutIsARowAndADeleteRemovesRows) {
  MakeTheirs("f");
  for (const Timestamp timestamp : {1, 2, 3, 4})
    ASSERT_TRUE(Mutate(PutOf("r", "q", std::to_string(timestamp), timestamp)).ok());
  ASSERT_TRUE(Mutate(PutOf("r", "p", "p", 2)).ok());
  ASSERT_TRUE(Mutate(PutOf("r", "q", "again", 4)).ok());
  EXPECT_EQ(Rows("f"), (Texts{"r/p/-2=p", "r/q/-4=again", "r/q/-3=3", "r/q/-2=2", "r/q/-1=1"}));
  const auto remove = [&](CellType type, const std::string& qualifier, Timestamp timestamp) {
    return Mutate(Delete{.row = "r", .markers = {{type, "f", qualifier, timestamp}}});
  };
  ASSERT_TRUE(remove(CellType::kDelete, "q", 3).ok());
  EXPECT_EQ(Rows("f"), (Texts{"r/p/-2=p", "r/q/-4=again", "r/q/-2=2", "r/q/-1=1"}));
  ASSERT_TRUE(remove(CellType::kDelete, "q", kLatestTimestamp).ok());
  ASSERT_TRUE(remove(CellType::kDeleteColumn, "q", 1).ok());
  EXPECT_EQ(Rows("f"), (Texts{"r/p/-2=p", "r/q/-2=2"}));
  ASSERT_TRUE(remove(CellType::kDeleteFamilyVersion, "", 2).ok());
  EXPECT_EQ(Rows("f"), Texts());
  ASSERT_TRUE(Mutate(PutOf("r", "q", "below", 1)).ok());
  EXPECT_EQ(Rows("f"), (Texts{"r/q/-1=below"})) << "nothing hides it";
  ASSERT_TRUE(Mutate(Delete{.row = "r"}).ok());
  EXPECT_EQ(Rows("f"), Texts());
}

TEST_F(LayoutTest, WhatIsLongerThanItsColumnIsRefused) {
  MakeTheirs("f");
  EXPECT_EQ(Mutate(PutOf(std::string(1025, 'r'), "q", "v")).code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(Mutate(PutOf("r", std::string(257, 'q'), "v")).code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(Mutate(PutOf("r", "q", std::string(1025, 'v'))).code(), StatusCode::kValueTooLarge);
  EXPECT_EQ(Mutate(PutOf(std::string(1024, 'r'), std::string(256, 'q'), std::string(1024, 'v')))
                .code(),
            StatusCode::kOk);
  Put mortal = PutOf("r", "q", "v");
  mortal.time_to_live = 5;
  EXPECT_EQ(Mutate(mortal).code(), StatusCode::kUnsupportedOperation);
}

TEST_F(LayoutTest, ARowThatDoesNotFitIsRefusedAlone) {
  MakeTheirs("f");
  const std::vector<RowMutations> rows = {
      RowMutations::Of(PutOf("a", "q", "v", 1)),
      RowMutations::Of(PutOf(std::string(1025, 'r'), "q", "v", 1)),
      RowMutations::Of(PutOf("c", "q", "v", 1))};
  const auto answers = store_->Batch(me_, kTable, rows);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0].ok() && answers[2].ok());
  EXPECT_EQ(answers[1].status().code(), StatusCode::kIllegalArgument);
  EXPECT_EQ(Rows("f"), (Texts{"a/q/-1=v", "c/q/-1=v"}));
}

// Of new rows beside each other, by stores of their own: nobody waits for a gap.
TEST_F(LayoutTest, NeighboursAreMadeAtTheSameTime) {
  MakeTheirs("f");
  ASSERT_TRUE(Mutate(PutOf("a", "q", "v", 1)).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto store = OpenStore();
      for (int n = 0; n < 50; ++n) {
        Put put = PutOf("row" + std::to_string(4 * n + i), "q", "v");
        put.stamping = Stamping::kAboveColumn;
        const auto done = store->Mutate(me_, kTable, RowMutations::Of(put));
        EXPECT_TRUE(done.ok()) << done.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Rows("f").size(), 201u);
}

TEST_F(LayoutTest, ACellDiesByTheColumnTtl) {
  MakeTheirs("f", ", TTL bigint(20)");
  Put mortal = PutOf("r", "q", "v");
  mortal.time_to_live = 500;
  ASSERT_TRUE(Mutate(mortal).ok());
  ASSERT_TRUE(Mutate(PutOf("r", "p", "stays")).ok());
  EXPECT_EQ(Cells({}).size(), 2u);
  clock_->Advance(501);
  EXPECT_EQ(Cells({}), (Texts{"r/f:p/1000000=stays"}));
}

TEST_F(LayoutTest, MaxVersionsAndTimeToLiveStandInTheComment) {
  TableSchema schema(kTable);
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("VERSIONS", "2").ok());
  ASSERT_TRUE(family.Set("TTL", "3600").ok());
  schema.families.emplace("f", family);
  ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  const auto comment = connection_->Query(
      "SELECT table_comment FROM information_schema.tables WHERE table_schema = 'layout'", {},
      Soon());
  ASSERT_TRUE(comment.ok());
  EXPECT_EQ(BytesOf(comment->front().front()),
            R"({"Hbase":{"MaxVersions":2,"TimeToLive":3600},"cellfs":{"id":1000000}})");
  for (const Timestamp timestamp : {999'001, 999'002, 999'003})
    ASSERT_TRUE(Mutate(PutOf("r", "q", "v", timestamp)).ok());
  EXPECT_EQ(Cells({}), (Texts{"r/f:q/999003=v", "r/f:q/999002=v"}));
  clock_->Advance(3600 * 1000);
  EXPECT_EQ(Cells({}), Texts());
}

TEST_F(LayoutTest, LongValuesAndLongRowsComeWhole) {
  TableSchema schema(kTable);
  schema.families.emplace("f", FamilySchema("f"));
  ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  Texts expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string qualifier = "q" + std::to_string(10'000 + i);
    const std::string value = i % 1000 == 7 ? std::string(100'000, 'v') : std::to_string(i);
    ASSERT_TRUE(Mutate(PutOf("r", qualifier, value, 5)).ok());
    expected.push_back("r/f:" + qualifier + "/5=" + value);
  }
  EXPECT_EQ(Cells({}), expected);
  Get get;
  get.row = "r";
  get.columns["f"] = {"q10007", "q12999", "q99999"};
  const auto cells = store_->Read(me_, kTable, get);
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  ASSERT_EQ(cells->size(), 2u);
  EXPECT_EQ(cells->front().value.size(), 100'000u);
}

// Through stores of their own, as mounts on several machines are.
TEST_F(LayoutTest, NoIncrementIsLostAmongSeveralStores) {
  TableSchema schema(kTable);
  schema.families.emplace("f", FamilySchema("f"));
  ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  constexpr int kStores = 4;
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  for (int i = 0; i < kStores; ++i) {
    threads.emplace_back([&] {
      const auto store = OpenStore();
      ASSERT_NE(store, nullptr);
      for (int n = 0; n < kEach; ++n) {
        const Increment increment{.row = "r", .cells = {{"f", "counter", 1, kLatestTimestamp}}};
        const auto done = store->Mutate(me_, kTable, RowMutations::Of(increment));
        EXPECT_TRUE(done.ok()) << done.status().ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Get get;
  get.row = "r";
  const auto cells = store_->Read(me_, kTable, get);
  ASSERT_TRUE(cells.ok() && cells->size() == 1u);
  EXPECT_EQ(cells->front().value, std::string("\0\0\0\0\0\0\0\x64", 8));
}

TEST_F(LayoutTest, AReaderSeesAllOfAMutationOrNothing) {
  TableSchema schema(kTable);
  for (const char* const name : {"f", "g"}) schema.families.emplace(name, FamilySchema(name));
  ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    const auto store = OpenStore();
    for (int i = 0; i < 200; ++i) {
      const std::string value = std::to_string(i);
      const Put put{.row = "r",
                    .cells = {{"f", "q", 1 + i, value, std::nullopt},
                              {"g", "q", 1 + i, value, std::nullopt}}};
      EXPECT_TRUE(store->Mutate(me_, kTable, RowMutations::Of(put)).ok());
    }
    is_over = true;
  });
  Get get;
  get.row = "r";
  while (!is_over) {
    const auto cells = store_->Read(me_, kTable, get);
    ASSERT_TRUE(cells.ok()) << cells.status().ToString();
    ASSERT_TRUE(cells->empty() || cells->size() == 2u);
    if (!cells->empty()) {
      EXPECT_EQ(cells->front().value, cells->back().value);
    }
  }
  writer.join();
}

TEST_F(LayoutTest, DefaultIsThereBeforeItsDatabase) {
  Do("DROP DATABASE IF EXISTS `default`");
  EXPECT_TRUE(store_->DescribeNamespace("default").ok());
  EXPECT_TRUE(store_->ListTables("default")->empty());
  EXPECT_EQ(store_->CreateNamespace(me_, {"default", {}}).code(), StatusCode::kNamespaceExists);
  EXPECT_EQ(store_->DropNamespace(me_, "default").code(), StatusCode::kConstraint);
  TableSchema schema(ParseTableName("first"));
  schema.families.emplace("f", FamilySchema("f"));
  ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  EXPECT_EQ(*store_->ListTables("default"), std::vector{schema.name()});
}

TEST_F(LayoutTest, SaysWhatItDoesNotKeep) {
  EXPECT_EQ(store_->PinMoment("").status().code(), StatusCode::kUnsupportedOperation);
  EXPECT_EQ(store_->CreateNamespace(me_, {"mysql", {}}).code(), StatusCode::kConstraint);
  EXPECT_EQ(store_->DescribeNamespace("mysql").status().code(), StatusCode::kNamespaceNotFound);
  const auto difference = store_->ClockDifference();
  ASSERT_TRUE(difference.ok()) << difference.status().ToString();
  EXPECT_LT(difference->count(), -1000) << "this test's clock has stopped long ago";
}

}  // namespace
}  // namespace cellfs::obkv
