// SPDX-License-Identifier: MIT
//
// Layout: a fixture with a store on the database of the test run, with a clock set by hand, and a
// session of its own, in which others' tables are made and looked at: those of `layout`.htable1.
#ifndef CELLFS_TESTS_OBKV_LAYOUT_H_
#define CELLFS_TESTS_OBKV_LAYOUT_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/obkv/connection.h"
#include "engine/obkv/obkv_store.h"
#include "tests/support/test_database.h"

namespace cellfs::obkv {

using Texts = std::vector<std::string>;
inline const TableName kTable{"layout", "htable1"};

class Layout : public testing::Test {
 protected:
  void SetUp() override {
    const auto options = TestDatabase();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_DATABASE names no database";
    options_ = *options;
    options_.max_staleness_ms = 0;
    auto connection = Connection::Open(options_, Soon());
    ASSERT_TRUE(connection.ok()) << connection.status().ToString();
    connection_ = *std::move(connection);
    Do("DROP DATABASE IF EXISTS layout");
    Do("CREATE DATABASE layout");
    store_ = OpenStore();
    ASSERT_NE(store_, nullptr);
  }

  static Patience Soon() { return Patience::For(std::chrono::seconds(60)); }
  std::unique_ptr<ObkvStore> OpenStore() {
    StoreOptions store_options;
    store_options.clock = clock_;
    auto store = ObkvStore::Open(options_, store_options);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void Do(const std::string& sql) {
    const Status done = connection_->Command(sql, Soon());
    ASSERT_TRUE(done.ok()) << sql << ": " << done.ToString();
  }
  // As OBKV-HBase's documents make one.
  void MakeTheirs(const std::string& family, const std::string& more = "") {
    Do("CREATE TABLE layout.`htable1$" + family +
       "` (K varbinary(1024) NOT NULL, Q varbinary(256) NOT NULL, T bigint(20) NOT NULL,"
       " V varbinary(1024)" + more + ", PRIMARY KEY (K, Q, T)) PARTITION BY KEY(K) PARTITIONS 5");
  }
  // "k/q/t=v", as the table has them.
  Texts Rows(const std::string& family) {
    Texts texts;
    const auto rows = connection_->Query(
        "SELECT K, Q, T, V FROM layout.`htable1$" + family + "` ORDER BY K, Q, T", {}, Soon());
    EXPECT_TRUE(rows.ok()) << rows.status().ToString();
    if (!rows.ok()) return texts;
    for (const SqlRow& row : *rows) {
      texts.push_back(BytesOf(row[0]) + "/" + BytesOf(row[1]) + "/" +
                      std::to_string(NumberOf(row[2])) + "=" + BytesOf(row[3]));
    }
    return texts;
  }
  // "row/family:qualifier/timestamp=value"
  Texts Cells(Scan scan) {
    Texts texts;
    scan.max_versions = kAllVersions;
    const auto scanner = store_->OpenScanner(me_, kTable, scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().ToString();
    while (scanner.ok() && !(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({.max_rows = 2});
      EXPECT_TRUE(rows.ok()) << rows.status().ToString();
      if (!rows.ok()) break;
      for (const RowCells& cells : *rows) {
        for (const Cell& cell : cells) {
          texts.push_back(cell.row + "/" + cell.family + ":" + cell.qualifier + "/" +
                          std::to_string(cell.timestamp) + "=" + cell.value);
        }
      }
    }
    return texts;
  }
  Status Mutate(Mutation mutation) {
    return store_->Mutate(me_, kTable, RowMutations::Of(std::move(mutation))).status();
  }
  static Put PutOf(const std::string& row, const std::string& qualifier,
                   const std::string& value, Timestamp timestamp = kLatestTimestamp) {
    return {.row = row, .cells = {{"f", qualifier, timestamp, value, std::nullopt}}};
  }

  const Caller& me_ = Caller::Superuser();
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1'000'000);
  ObkvOptions options_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<ObkvStore> store_;
};

}  // namespace cellfs::obkv

#endif  // CELLFS_TESTS_OBKV_LAYOUT_H_
