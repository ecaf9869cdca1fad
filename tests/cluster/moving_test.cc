// SPDX-License-Identifier: MIT
//
// A real cluster whose regions are moved and split and whose servers are aborted while it is read
// and written: nothing is seen twice or missed, what was acknowledged is there, and what is unknown
// is said to be. Run by on_hbase.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/big_endian.h"
#include "engine/hbase/hbase_store.h"
#include "tests/support/test_cluster.h"

namespace cellfs::hbase {
namespace {

constexpr int kRows = 900;
const TableName kTable{.name = "moving"};
const TableName kPassing{.name = "passing"};

std::string RowOf(int number) { return "r" + std::to_string(1000 + number); }

class Moving : public testing::Test {
 protected:
  void SetUp() override {
    auto options = TestCluster();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_CLUSTER names no cluster";
    options->operation_timeout = std::chrono::seconds(40);
    auto opened = HBaseStore::Open(*options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = *std::move(opened);
    TableSchema schema(kTable);
    schema.families.emplace("f", FamilySchema("f"));
    schema.split_keys = {RowOf(300), RowOf(600)};
    const Status made = store_->CreateTable(me_, schema);
    ASSERT_TRUE(made.ok()) << made.ToString();
    std::vector<RowMutations> rows;
    for (int i = 0; i < kRows; ++i) rows.push_back(PutOf(RowOf(i), "q", 1, "v"));
    for (const auto& done : store_->Batch(me_, kTable, rows)) ASSERT_TRUE(done.ok());
    ASSERT_EQ(ControlTestCluster("add_server").substr(0, 2), "ok");
  }

  static RowMutations PutOf(const std::string& row, const std::string& qualifier,
                            Timestamp timestamp, const std::string& value) {
    return RowMutations::Of(Put{.row = row, .cells = {{"f", qualifier, timestamp, value, {}}}});
  }

  // Until the test has done what it does to the cluster.
  void Meanwhile(std::function<void()> act) {
    threads_.emplace_back([this, act = std::move(act)] {
      while (!is_over_) act();
    });
  }
  void End() {
    is_over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  void ScanAll(bool reversed) {
    Scan scan;
    scan.reversed = reversed;
    scan.columns["f"].insert("q");
    const auto scanner = store_->OpenScanner(me_, kTable, scan);
    ASSERT_TRUE(scanner.ok());
    int seen = 0;
    while (!(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({.max_rows = 50});
      ASSERT_TRUE(rows.ok()) << rows.status().ToString();
      for (const RowCells& cells : *rows) {
        ASSERT_EQ(cells.front().row, RowOf(reversed ? kRows - 1 - seen : seen));
        ++seen;
      }
    }
    EXPECT_EQ(seen, kRows);
    ++scans_;
  }

  void Increment() {
    const auto done = store_->Mutate(
        me_, kTable,
        RowMutations::Of(cellfs::Increment{.row = RowOf(450), .cells = {{"f", "n", 1}}}));
    if (done.ok()) {
      ++increments_;
    } else {
      ASSERT_EQ(done.status().code(), StatusCode::kOutcomeUnknown) << done.status().ToString();
      ++unknown_;
    }
  }

  void PutNext() {
    const int number = puts_;
    const auto done = store_->Mutate(
        me_, kTable, PutOf(RowOf(number % kRows), "p" + std::to_string(number / kRows), 7, "w"));
    ASSERT_TRUE(done.ok()) << done.status().ToString();
    ++puts_;
  }

  // With chosen timestamps each row of a batch may be made again, so all are answered in the end.
  void PutBatch() {
    std::vector<RowMutations> rows;
    for (int i = 0; i < kRows; i += 30) rows.push_back(PutOf(RowOf(i), "b", ++batches_, "w"));
    for (const auto& done : store_->Batch(me_, kTable, rows)) {
      ASSERT_TRUE(done.ok()) << done.status().ToString();
    }
  }

  void MakeAndDropATable() {
    TableSchema schema(kPassing);
    schema.families.emplace("f", FamilySchema("f"));
    const Status made = store_->CreateTable(me_, schema);
    ASSERT_TRUE(made.ok()) << made.ToString();
    const auto dropped = store_->DropEmptyTable(me_, kPassing);
    ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
    EXPECT_TRUE(*dropped);
    ++tables_;
  }

  const Caller& me_ = Caller::Superuser();
  std::unique_ptr<HBaseStore> store_;
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> threads_;
  std::atomic<int> scans_ = 0;
  std::atomic<int> increments_ = 0;
  std::atomic<int> unknown_ = 0;
  std::atomic<int> puts_ = 0;
  std::atomic<int> batches_ = 0;
  std::atomic<int> tables_ = 0;
};

TEST_F(Moving, NothingIsLostOrSeenTwice) {
  Meanwhile([&] { ScanAll(scans_ % 2 == 1); });
  Meanwhile([&] { Increment(); });
  Meanwhile([&] { PutNext(); });
  Meanwhile([&] { PutBatch(); });
  Meanwhile([&] { MakeAndDropATable(); });
  for (const std::string& command : std::vector<std::string>{
        "move moving", "split moving " + RowOf(100), "move moving", "restart_server",
        "move hbase:meta", "restart_master", "split moving " + RowOf(700), "restart_server"}) {
    const std::string answer = ControlTestCluster(command);
    EXPECT_EQ(answer.substr(0, 2), "ok") << command << ": " << answer;
  }
  End();

  EXPECT_GT(scans_, 0);
  EXPECT_GT(tables_, 0);
  const auto schema = store_->DescribeTable(kTable);
  ASSERT_TRUE(schema.ok()) << schema.status().ToString();
  EXPECT_EQ((*schema)->split_keys.size(), 4u);
  for (int number = 0; number < puts_; ++number) {
    Get get;
    get.row = RowOf(number % kRows);
    get.columns["f"].insert("p" + std::to_string(number / kRows));
    const auto cells = store_->Read(me_, kTable, get);
    ASSERT_TRUE(cells.ok()) << cells.status().ToString();
    ASSERT_EQ(cells->size(), 1u) << "put " << number;
  }
  Get counter;
  counter.row = RowOf(450);
  counter.columns["f"].insert("n");
  const auto cells = store_->Read(me_, kTable, counter);
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  ASSERT_EQ(cells->size(), 1u);
  const auto count = static_cast<int>(ReadBigEndian<uint64_t>(cells->front().value));
  EXPECT_GE(count, increments_);
  EXPECT_LE(count, increments_ + unknown_);
  RecordProperty("scans", scans_);
  RecordProperty("puts", puts_);
  RecordProperty("increments", increments_);
  RecordProperty("unknown", unknown_);
  RecordProperty("tables", tables_);
}

}  // namespace
}  // namespace cellfs::hbase
