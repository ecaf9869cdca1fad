// SPDX-License-Identifier: MIT
//
// No column reads otherwise after a flush or a compaction that the observer was not told of,
// whatever lies in memstore and file; and where nothing can have changed, it is told of nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/contract/store_of_kind.h"

namespace cellfs {
namespace {

constexpr int kSteps = 1000;
constexpr int kFamilies = 4;

class Collector : public RewriteObserver {
 public:
  void Rewritten(const TableName&, const std::vector<RewrittenColumn>& columns) override {
    told.insert(told.end(), columns.begin(), columns.end());
  }
  void TableRewritten(const TableName&) override { ++whole_tables; }
  void LostTrack() noexcept override { ++whole_tables; }
  bool Knows(const std::string& row, const std::string& family,
             const std::string& qualifier) const {
    return std::any_of(told.begin(), told.end(), [&](const RewrittenColumn& column) {
      return column.row == row && column.family == family &&
             column.qualifier.value_or(qualifier) == qualifier;
    });
  }

  std::vector<RewrittenColumn> told;
  int whole_tables = 0;
};

class RewriteObserverTest : public StoreOfKind {
 protected:
  RewriteObserverTest() : StoreOfKind(1'000'000) {}

  // Row, family, qualifier; with the timestamp and the value.
  using Present =
      std::set<std::tuple<std::string, std::string, std::string, Timestamp, std::string>>;

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StoreOfKind::SetUp());
    MakeTable();
    store_->SetRewriteObserver(&collector_);
  }
  void TearDown() override { store_->SetRewriteObserver(nullptr); }

  void MakeTable() {
    const std::map<std::string, std::string> families[kFamilies] = {
        {{"VERSIONS", "1"}},
        {{"VERSIONS", "2"}, {"KEEP_DELETED_CELLS", "TRUE"}},
        {{"VERSIONS", "1"}, {"NEW_VERSION_BEHAVIOR", "true"}},
        {{"VERSIONS", "2"}, {"TTL", "1"}, {"MIN_VERSIONS", "1"}, {"KEEP_DELETED_CELLS", "TTL"}}};
    TableSchema schema(table_);
    for (int i = 0; i < kFamilies; ++i) {
      FamilySchema family("f" + std::to_string(i));
      for (const auto& [name, value] : families[i]) ASSERT_TRUE(family.Set(name, value).ok());
      schema.families.emplace(family.name(), family);
    }
    ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
  }

  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
  std::string AnyRow() { return Below(2) == 0 ? "r" : "s"; }
  std::string AnyFamily() { return "f" + std::to_string(Below(kFamilies)); }
  std::string AnyQualifier() { return std::string(1, "pqs"[Below(3)]); }
  Timestamp AnyTimestamp() { return clock_->Now() - 1500 + Below(6) * 300; }

  void Mutate(Mutation mutation) {
    const auto result =
        store_->Mutate(Caller::Superuser(), table_, RowMutations::Of(std::move(mutation)));
    ASSERT_TRUE(result.ok()) << result.status().ToString();
  }
  void PutAnything() {
    const std::string qualifier = Below(6) == 0 ? "" : AnyQualifier();
    Put put{AnyRow(), {{AnyFamily(), qualifier, AnyTimestamp(), std::to_string(++values_), {}}}};
    if (Below(5) == 0) put.time_to_live = 2000;
    Mutate(put);
  }
  void DeleteAnything() {
    constexpr CellType kTypes[] = {CellType::kDelete, CellType::kDeleteColumn,
                                   CellType::kDeleteFamily, CellType::kDeleteFamilyVersion};
    const CellType type = kTypes[Below(4)];
    const std::string qualifier = IsFamilyTombstone(type) ? "" : AnyQualifier();
    Mutate(Delete{AnyRow(), {{type, AnyFamily(), qualifier, AnyTimestamp()}}});
  }
  void Flush() { ASSERT_TRUE(store_->Flush(Caller::Superuser(), table_).ok()); }
  void Compact(CompactionKind kind) {
    ASSERT_TRUE(store_->Compact(Caller::Superuser(), table_, kind).ok());
  }

  // As whole families, and by the names of the columns, which HBase reads by another rule.
  Present ReadAll() {
    Present present;
    Columns named;
    for (int i = 0; i < kFamilies; ++i) named["f" + std::to_string(i)] = {"", "p", "q", "s"};
    for (const std::string row : {"r", "s"}) {
      for (const Columns& columns : {Columns(), named}) {
        Get get;
        get.row = row;
        get.columns = columns;
        const auto cells = store_->Read(Caller::Superuser(), table_, get);
        EXPECT_TRUE(cells.ok());
        for (const Cell& cell : *cells) {
          present.emplace(row, cell.family, cell.qualifier, cell.timestamp,
                          cell.value + (columns.empty() ? "" : " by name"));
        }
      }
    }
    return present;
  }

  // How many columns read otherwise after it than before.
  size_t RewriteAndCompare() {
    const Present before = ReadAll();
    collector_.told.clear();
    switch (Below(3)) {
      case 0:
        Flush();
        break;
      case 1:
        Compact(CompactionKind::kMinor);
        break;
      default:
        Compact(CompactionKind::kMajor);
    }
    const Present after = ReadAll();
    Present changed;
    std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                  std::inserter(changed, changed.end()));
    for (const auto& [row, family, qualifier, timestamp, value] : changed) {
      EXPECT_TRUE(collector_.Knows(row, family, qualifier))
          << row << "/" << family << ":" << qualifier << "@" << timestamp;
    }
    return changed.size();
  }

  const TableName table_ = ParseTableName("t");
  Collector collector_;
  std::mt19937 random_;
  int values_ = 0;
};

TEST_P(RewriteObserverTest, NothingChangesUntold) {
  const char* const given = std::getenv("CELLFS_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1u;
  SCOPED_TRACE("CELLFS_SEED=" + std::to_string(seed));
  random_.seed(seed);
  size_t changes = 0;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    const int act = Below(10);
    if (act < 5) {
      PutAnything();
    } else if (act < 7) {
      DeleteAnything();
    } else if (act == 7) {
      clock_->Advance(Below(700));
    } else {
      changes += RewriteAndCompare();
    }
  }
  // Of other seeds one in twelve changes nothing.
  EXPECT_TRUE(changes > 0 || given != nullptr);
}

TEST_P(RewriteObserverTest, WhatIsAllKeptIsNotTold) {
  for (const char* qualifier : {"p", "q"}) Mutate(Put{"r", {{"f0", qualifier, 10, "v", {}}}});
  Flush();
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(collector_.told.size(), 0u);
}

// The memory store tells of every row that loses a cell.
class LocalRewriteTest : public RewriteObserverTest {
 protected:
  void PutTwiceInManyRows() {
    constexpr int kRowsWritten = 70000;
    for (int row = 0; row < kRowsWritten;) {
      std::vector<RowMutations> batch;
      for (; batch.size() < 50 && row < kRowsWritten; ++row) {
        const std::string name = "r" + std::to_string(row);
        RowMutations twice{.row = name};
        twice.mutations = {Put{name, {{"f0", "p", 10, "v", {}}}},
                           Put{name, {{"f0", "p", 20, "v", {}}}}};
        batch.push_back(std::move(twice));
      }
      store_->Batch(Caller::Superuser(), table_, batch);
    }
  }
};

TEST_P(LocalRewriteTest, VersionsTooManyAreNotTold) {
  for (const Timestamp version : {10, 20}) Mutate(Put{"r", {{"f0", "p", version, "v", {}}}});
  Flush();
  Mutate(Put{"r", {{"f0", "p", 30, "v", {}}}});
  Flush();
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(collector_.told.size(), 0u);
}

TEST_P(LocalRewriteTest, OfVeryManyColumnsTheTableIsTold) {
  PutTwiceInManyRows();
  Flush();
  EXPECT_EQ(collector_.whole_tables, 0) << "without a tombstone nobody reads anything else";
  PutTwiceInManyRows();
  Mutate(Delete{"r", {{CellType::kDelete, "f0", "p", 20}}});
  Flush();
  EXPECT_EQ(collector_.whole_tables, 1);
  EXPECT_EQ(collector_.told.size(), 0u);
}

// The version behind one that a tombstone in the memstore hides.
TEST_P(RewriteObserverTest, ACompactionThatDoesNotSeeATombstoneTells) {
  for (const Timestamp version : {10, 20}) {
    Mutate(Put{"r", {{"f0", "p", version, "v", {}}}});
    Flush();
  }
  Mutate(Delete{"r", {{CellType::kDelete, "f0", "p", 20}}});
  EXPECT_EQ(ReadAll().size(), 2u);  // by either way
  Compact(CompactionKind::kMinor);
  EXPECT_EQ(ReadAll().size(), 0u);
  EXPECT_TRUE(collector_.Knows("r", "f0", "p"));
  EXPECT_EQ(collector_.told.size(), 1u);
}

// A put of the memstore shows once the tombstone in the file has gone.
TEST_P(RewriteObserverTest, AFamilyTombstoneThatGoesIsToldForAllColumns) {
  Mutate(Delete{"r", {{CellType::kDeleteFamily, "f0", "", 30}}});
  Flush();
  Mutate(Put{"r", {{"f0", "p", 20, "v", {}}}});
  EXPECT_EQ(ReadAll().size(), 0u);
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(ReadAll().size(), 2u);  // by either way
  EXPECT_EQ(collector_.told, (std::vector<RewrittenColumn>{{"r", "f0", std::nullopt}}));
}

INSTANTIATE_TEST_SUITE_P(Stores, LocalRewriteTest, testing::Values(Kind::kLocal));
INSTANTIATE_TEST_SUITE_P(Stores, RewriteObserverTest, testing::Values(Kind::kMemory, Kind::kLocal),
                         NameOfKind);

}  // namespace
}  // namespace cellfs
