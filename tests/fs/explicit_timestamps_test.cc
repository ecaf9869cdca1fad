// SPDX-License-Identifier: MIT
//
// How much of a column is read for the timestamp that goes above it.
#include "fs/store/explicit_timestamps.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/forwarding_store.h"
#include "engine/open.h"
#include "fs/store/column_mutations.h"
#include "tests/fs/names.h"
#include "tests/support/remote_store.h"

namespace cellfs::fs {
namespace {

// Counts the cells that scans bring.
class CountedCells : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto scanner, ForwardingStore::OpenScanner(caller, table, scan));
    return std::unique_ptr<Scanner>(std::make_unique<Counting>(*this, std::move(scanner)));
  }
  size_t cells = 0;

 private:
  class Counting : public Scanner {
   public:
    Counting(CountedCells& store, std::unique_ptr<Scanner> scanner)
        : store_(store), scanner_(std::move(scanner)) {}
    StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
      auto rows = scanner_->Next(batch);
      if (rows.ok()) {
        for (const RowCells& row : *rows) store_.cells += row.size();
      }
      return rows;
    }
    bool at_end() const override { return scanner_->at_end(); }

   private:
    CountedCells& store_;
    const std::unique_ptr<Scanner> scanner_;
  };
};

class ExplicitTimestampsTest : public testing::Test {
 protected:
  static constexpr Timestamp kNow = 1'000'000;
  static constexpr int kTimes = 500;

  ExplicitTimestampsTest() {
    TableSchema schema(kTable);
    schema.families.emplace("f", FamilySchema("f"));
    EXPECT_TRUE(store_.CreateTable(me_, schema).ok());
  }
  static std::unique_ptr<Store> MakeStore(const std::shared_ptr<ManualClock>& clock) {
    StoreOptions options;
    options.clock = clock;
    return std::make_unique<RemoteStore>(OpenMemoryStore(options));
  }

  void Write(Mutation mutation) {
    ASSERT_TRUE(store_.Mutate(me_, kTable, RowMutations::Of(std::move(mutation))).ok());
  }
  void PutAt(Timestamp timestamp) { Write(Put{"r", {{"f", "q", timestamp, "v", {}}}}); }
  void DeleteAt(CellType type, Timestamp timestamp) {
    Write(Delete{"r", {{type, "f", IsFamilyTombstone(type) ? "" : "q", timestamp}}});
  }
  // The timestamp that a put above all of it gets.
  Timestamp Stamp() {
    Put put{"r", {{"f", "q", kLatestTimestamp, "new", {}}}};
    put.stamping = Stamping::kAboveColumn;
    RowStep step{RowMutations::Of(std::move(put)), {}, {}};
    store_.cells = 0;
    const auto done = ColumnMutations(store_, *clock_).Do(me_, kTable, step);
    if (!done.ok()) return -1;
    Get get;
    get.row = "r";
    const auto shown = store_.Read(me_, kTable, get);
    EXPECT_TRUE(shown.ok() && !shown->empty() && shown->front().value == "new");
    return done->result.timestamps.front();
  }

  const Caller& me_ = Caller::Superuser();
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(kNow);
  const std::unique_ptr<Store> inner_ = MakeStore(clock_);
  CountedCells store_{*inner_};
};

TEST_F(ExplicitTimestampsTest, OfAFileThatWasRemovedVeryOftenTheLastTimeDoes) {
  for (int i = 0; i < kTimes; ++i) {
    PutAt(i);
    DeleteAt(CellType::kDeleteColumn, i);
  }
  EXPECT_EQ(Stamp(), kNow);
  EXPECT_LE(store_.cells, 100u);
  DeleteAt(CellType::kDeleteColumn, kNow + 50);
  EXPECT_EQ(Stamp(), kNow + 51);
  EXPECT_LE(store_.cells, 100u);
}

TEST_F(ExplicitTimestampsTest, OfAFamilyThatWasRemovedVeryOftenLikewise) {
  for (int i = 0; i < kTimes; ++i) DeleteAt(CellType::kDeleteFamily, i);
  PutAt(kNow + 7);
  EXPECT_EQ(Stamp(), kNow + 8);
  EXPECT_LE(store_.cells, 200u);
  DeleteAt(CellType::kDeleteFamily, kNow + 50);
  EXPECT_EQ(Stamp(), kNow + 51);
  EXPECT_LE(store_.cells, 200u);
}

// Each of these hides one timestamp alone, so none of them does for the others.
TEST_F(ExplicitTimestampsTest, OfVersionsThatWereRemovedEachIsHeeded) {
  for (int i = 0; i < 2 * kTimes; ++i) DeleteAt(CellType::kDelete, kNow + i);
  EXPECT_EQ(Stamp(), kNow + 2 * kTimes);
}

TEST_F(ExplicitTimestampsTest, WhatLiesBeneathManyVersionsThatWereRemovedIsHeeded) {
  DeleteAt(CellType::kDeleteColumn, kNow + 10);
  for (int i = 0; i < kTimes; ++i) DeleteAt(CellType::kDelete, kNow + 1000 + i);
  EXPECT_EQ(Stamp(), kNow + 11);
}

}  // namespace
}  // namespace cellfs::fs
