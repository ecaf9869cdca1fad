// SPDX-License-Identifier: MIT
//
// Tables are made, altered and dropped beside statistics, scans, flushes, compactions and look-ups:
// each of these sees every table that is there all the time, whole, and nothing that never was.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/store_of_kind.h"

namespace cellfs {
namespace {

constexpr int kActs = 120;
constexpr int kLastingTables = 20;
constexpr int kPassingTables = 8;
constexpr int kRows = 20;

const Caller& Admin() { return Caller::Superuser(); }

TableName Lasting(int number) { return {"default", "lasting" + std::to_string(number)}; }
TableName Passing(int number) { return {"default", "passing" + std::to_string(number)}; }

TableSchema SchemaOf(const TableName& table) {
  TableSchema schema(table);
  schema.families.emplace("f0", FamilySchema("f0"));
  return schema;
}

class AdministrationRaces : public StoreOfKind {
 protected:
  AdministrationRaces() : StoreOfKind(1'000'000) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StoreOfKind::SetUp());
    for (int i = 0; i < kLastingTables; ++i) {
      ASSERT_TRUE(store_->CreateTable(Admin(), SchemaOf(Lasting(i))).ok());
      lasting_.insert(Lasting(i));
    }
    for (int i = 0; i < kRows; ++i) PutRow(Lasting(0), i);
  }

  void PutRow(const TableName& table, int number) {
    Put put{.row = "row" + std::to_string(number), .cells = {}};
    put.cells.push_back({.family = "f0", .qualifier = "q", .value = "v", .rewrites = {}});
    ASSERT_TRUE(store_->Mutate(Admin(), table, RowMutations::Of(put)).ok());
  }

  // What the administrator does is known to him exactly, for nobody else does such things.
  void Administer() {
    std::mt19937 random(7);
    std::vector<int> families(kPassingTables, 0);  // 0: there is no such table
    for (int act = 0; act < kActs; ++act) {
      const size_t chosen = random() % kPassingTables;
      const TableName table = Passing(static_cast<int>(chosen));
      if (families[chosen] == 0) {
        ASSERT_TRUE(store_->CreateTable(Admin(), SchemaOf(table)).ok());
        families[chosen] = 1;
        PutRow(table, act);
      } else if (random() % 2 == 0) {
        const FamilySchema family("f" + std::to_string(families[chosen]++));
        ASSERT_TRUE(store_->AddFamily(Admin(), table, family).ok());
      } else {
        ASSERT_TRUE(store_->DisableTable(Admin(), table).ok());
        ASSERT_TRUE(store_->DropTable(Admin(), table).ok());
        families[chosen] = 0;
      }
      const auto described = store_->DescribeTable(table);
      ASSERT_EQ(described.ok(), families[chosen] != 0);
      if (described.ok()) {
        ASSERT_EQ((*described)->families.size(), static_cast<size_t>(families[chosen]));
      }
    }
  }

  void LookAtStatistics() {
    const Statistics statistics = store_->GetStatistics();
    std::set<TableName> seen;
    for (const TableStatistics& table : statistics.tables) {
      ASSERT_TRUE(seen.insert(table.table).second) << table.table.ToString() << " twice";
      ASSERT_TRUE(table.table.name.starts_with("lasting") ||
                  table.table.name.starts_with("passing"));
    }
    ASSERT_TRUE(std::includes(seen.begin(), seen.end(), lasting_.begin(), lasting_.end()));
  }

  void ScanRows() {
    auto scanner = store_->OpenScanner(Admin(), Lasting(0), Scan());
    ASSERT_TRUE(scanner.ok());
    int rows = 0;
    while (!(*scanner)->at_end()) {
      const auto batch = (*scanner)->Next({.max_rows = 3});
      ASSERT_TRUE(batch.ok());
      rows += static_cast<int>(batch->size());
    }
    ASSERT_EQ(rows, kRows);
  }

  void LookUp() {
    const auto tables = store_->ListTables("default");
    ASSERT_TRUE(tables.ok());
    const std::set<TableName> seen(tables->begin(), tables->end());
    ASSERT_EQ(seen.size(), tables->size());
    ASSERT_TRUE(std::includes(seen.begin(), seen.end(), lasting_.begin(), lasting_.end()));
    ASSERT_TRUE(store_->DescribeTable(Lasting(1)).ok());
    auto meta = store_->OpenScanner(Admin(), {"hbase", "meta"}, Scan());
    ASSERT_TRUE(meta.ok());
    ASSERT_TRUE((*meta)->Next({.max_rows = 5}).ok());
    ASSERT_TRUE(store_->ListGrants().ok());
    ASSERT_TRUE(store_->CheckSpaceQuotas().ok());
  }

  // Of a table that may go meanwhile: an error is allowed, but no other than that.
  void MaintainPassing() {
    for (int i = 0; i < kPassingTables; ++i) {
      for (const Status& done : {store_->Flush(Admin(), Passing(i)),
                                 store_->Compact(Admin(), Passing(i), CompactionKind::kMajor)}) {
        ASSERT_TRUE(done.ok() || done.code() == StatusCode::kTableNotFound ||
                    done.code() == StatusCode::kTableNotEnabled)
            << done.ToString();
      }
    }
  }

  void MaintainLasting() {
    PutRow(Lasting(0), 0);
    ASSERT_TRUE(store_->Flush(Admin(), Lasting(0)).ok());
    ASSERT_TRUE(store_->CompactSelected(Admin(), Lasting(0)).ok());
  }

  std::set<TableName> lasting_;
};

TEST_P(AdministrationRaces, NobodySeesAnotherTableOrLessThanThereIs) {
  std::atomic<bool> ended = false;
  std::vector<std::jthread> others;
  const std::function<void()> looks[] = {[this] { LookAtStatistics(); }, [this] { ScanRows(); },
                                         [this] { LookUp(); }, [this] { MaintainPassing(); },
                                         [this] { MaintainLasting(); }};
  for (const auto& look : looks) {
    others.emplace_back([&ended, &look] {
      while (!ended && !testing::Test::HasFatalFailure()) look();
    });
  }
  Administer();
  ended = true;
}

INSTANTIATE_TEST_SUITE_P(Kinds, AdministrationRaces, testing::Values(Kind::kMemory, Kind::kLocal),
                         NameOfKind);

}  // namespace
}  // namespace cellfs
