// SPDX-License-Identifier: MIT
//
// Random mutations and reads, done to a real cluster and to the store in memory: all answers are the
// same. All timestamps are chosen, for the two have different clocks; what HBase is known to do wrong
// (tests/conformance/hbase/README.md) is not asked. Run by on_hbase.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "engine/filters.h"
#include "engine/hbase/hbase_store.h"
#include "engine/open.h"
#include "tests/support/test_cluster.h"

namespace cellfs::hbase {
namespace {

const TableName kTable{.name = "differential"};
constexpr int kTables = 12;
constexpr int kSteps = 250;

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}

  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }
  bool OneIn(int count) { return Below(count) == 0; }
  std::string OneOf(const std::vector<std::string>& choices) {
    return choices[static_cast<size_t>(Below(static_cast<int>(choices.size())))];
  }
  std::string Row() { return OneOf({"a", "b", "bc", "c", std::string("c\0", 2), "d\xff"}); }
  std::string Family() { return OneOf({"f", "g"}); }
  // The empty one not: a filter that seeks from there passes by the family tombstones behind it.
  std::string Qualifier() { return OneOf({"o", "p", "q", "qq", "\x80"}); }
  std::string Value() { return OneOf({"", "v", "w", std::string(2000, 'x')}); }
  Timestamp Time() { return 1 + Below(12); }

 private:
  std::mt19937 random_;
};

// ---- What is done -------------------------------------------------------------------------------

Put RandomPut(Dice& dice, const std::string& row) {
  Put put{.row = row, .cells = {}};
  do {
    put.cells.push_back({dice.Family(), dice.Qualifier(), dice.Time(), dice.Value(), {}});
  } while (dice.OneIn(2));
  return put;
}

Delete RandomDelete(Dice& dice, const std::string& row) {
  Delete deletion{.row = row, .markers = {}};
  if (dice.OneIn(6)) {
    deletion.timestamp = dice.Time();
    return deletion;
  }
  constexpr CellType kTypes[] = {CellType::kDelete, CellType::kDeleteColumn,
                                 CellType::kDeleteFamily, CellType::kDeleteFamilyVersion};
  const CellType type = kTypes[dice.Below(4)];
  const std::string qualifier = IsFamilyTombstone(type) ? "" : dice.Qualifier();
  deletion.markers.push_back({type, dice.Family(), qualifier, dice.Time()});
  return deletion;
}

RowMutations RandomMutations(Dice& dice, const std::string& row) {
  RowMutations mutations{.row = row};
  do {
    mutations.mutations.push_back(dice.OneIn(3) ? Mutation(RandomDelete(dice, row))
                                                : Mutation(RandomPut(dice, row)));
  } while (dice.OneIn(4));
  return mutations;
}

// Sets the filter, and says which.
std::string SetRandomFilter(Dice& dice, Query& query) {
  static const std::vector<std::string> kFilters = {
      "ValueFilter(=, 'binary:v')",
      "QualifierFilter(>, 'binary:p')",
      "RowFilter(<=, 'binary:b')",
      "PrefixFilter('b')",
      "ColumnPrefixFilter('q')",
      "FirstKeyOnlyFilter()",
      "InclusiveStopFilter('bc')",
      "ColumnPaginationFilter(2, 1)",
      "TimestampsFilter(2, 5, 7)",
      "SingleColumnValueFilter('f', 'q', =, 'binary:v')",
      "DependentColumnFilter('f', 'p')",
      "SKIP ValueFilter(!=, 'binary:w')",
      "(FamilyFilter(=, 'binary:f') AND KeyOnlyFilter()) OR ValueFilter(=, 'regexstring:^w')"};
  const std::string text = dice.OneOf(kFilters);
  query.filter = *ParseFilter(text);
  if (!dice.OneIn(3)) return text;
  query.filter = MakeVisibleCellsFilter(
      [](const CellView& cell) { return cell.qualifier != "qq"; }, query.filter);
  return text + " without qq";
}

// Says which filter it has.
std::string Narrow(Dice& dice, Query& query) {
  query.max_versions = dice.OneIn(3) ? kAllVersions : 1 + dice.Below(3);
  if (dice.OneIn(4)) query.columns[dice.Family()];
  if (dice.OneIn(6)) query.columns["f"].insert(dice.Qualifier());
  if (dice.OneIn(4)) query.time_range = {.min = dice.Below(5), .max = 5 + dice.Below(9)};
  if (dice.OneIn(8)) query.family_time_ranges["f"] = {.min = dice.Below(5), .max = 9};
  if (dice.OneIn(6)) query.store_limit = 1 + dice.Below(3);
  if (dice.OneIn(8)) query.store_offset = dice.Below(3);
  if (dice.OneIn(5)) query.lengths_only = true;
  return dice.OneIn(3) ? SetRandomFilter(dice, query) : "none";
}

// Likewise.
std::string SetRandomScan(Dice& dice, Scan& scan) {
  std::string filter = Narrow(dice, scan);
  if (dice.OneIn(3)) scan.start_row = dice.Row();
  if (dice.OneIn(3)) scan.stop_row = dice.Row();
  scan.include_start_row = !dice.OneIn(4);
  scan.include_stop_row = dice.OneIn(2);
  scan.reversed = dice.OneIn(4);
  if (dice.OneIn(4)) scan.limit = 1 + dice.Below(4);
  return filter;
}

// ---- What comes of it ---------------------------------------------------------------------------

std::string Told(const Status& status) { return std::string(CodeName(status.code())); }

std::string Told(const RowCells& cells) {
  std::string text;
  for (const Cell& cell : cells) {
    text += cell.row + "/" + cell.family + ":" + cell.qualifier + "@" +
            std::to_string(cell.timestamp) + std::string(TypeName(cell.type)) + "=" +
            cell.value.substr(0, 3) + "(" + std::to_string(cell.value_length) + ") ";
  }
  return text;
}

std::string Told(const StatusOr<RowCells>& cells) {
  return cells.ok() ? Told(*cells) : Told(cells.status());
}

std::string AllOf(Store& store, const Scan& scan, const ScanBatch& batch) {
  const auto scanner = store.OpenScanner(Caller::Superuser(), kTable, scan);
  if (!scanner.ok()) return Told(scanner.status());
  std::string text;
  while (!(*scanner)->at_end()) {
    const auto rows = (*scanner)->Next(batch);
    if (!rows.ok()) return text + Told(rows.status());
    for (const RowCells& cells : *rows) text += Told(cells);
  }
  return text;
}

std::string TableText(const TableSchema& schema) {
  std::string text;
  for (const auto& [name, family] : schema.families) {
    for (const auto& [attribute, value] : family.attributes()) {
      text += name + " " + attribute + " " + value + ", ";
    }
  }
  return text;
}

class Differential : public testing::Test {
 protected:
  void SetUp() override {
    const auto options = TestCluster();
    if (!options) GTEST_SKIP() << "CELLFS_TEST_CLUSTER names no cluster";
    auto opened = HBaseStore::Open(*options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    cluster_ = *std::move(opened);
  }

  void MakeTable(Dice& dice) {
    TableSchema schema(kTable);
    // It would drop versions when it likes.
    ASSERT_TRUE(schema.Set("COMPACTION_ENABLED", "false").ok());
    for (const char* name : {"f", "g"}) {
      FamilySchema family(name);
      ASSERT_TRUE(family.Set("VERSIONS", std::to_string(1 + dice.Below(4))).ok());
      ASSERT_TRUE(
          family.Set("KEEP_DELETED_CELLS", dice.OneOf({"FALSE", "FALSE", "TRUE"})).ok());
      schema.families.emplace(name, family);
    }
    if (dice.OneIn(2)) schema.split_keys = {"b", "c"};
    description_ = TableText(schema);
    static_cast<void>(cluster_->DisableTable(me_, kTable));
    static_cast<void>(cluster_->DropTable(me_, kTable));
    const Status made = cluster_->CreateTable(me_, schema);
    ASSERT_TRUE(made.ok()) << made.ToString();
    memory_ = OpenMemoryStore({});
    ASSERT_TRUE(memory_->CreateTable(me_, schema).ok());
  }

  void Step(Dice& dice) {
    switch (dice.Below(10)) {
      case 0: return Check(dice);
      case 1: return WriteBatch(dice);
      case 2: return Flush(dice);
      case 3:
      case 4: return Write(dice);
      case 5:
      case 6: return Get(dice);
      default: return Scan(dice);
    }
  }

  void Write(Dice& dice) {
    const RowMutations mutations = RandomMutations(dice, dice.Row());
    EXPECT_EQ(Told(cluster_->Mutate(me_, kTable, mutations).status()),
              Told(memory_->Mutate(me_, kTable, mutations).status()));
  }

  // Of a row that comes twice the cluster does the second in another call.
  void WriteBatch(Dice& dice) {
    std::vector<RowMutations> rows;
    for (int i = dice.Below(8); i >= 0; --i) rows.push_back(RandomMutations(dice, dice.Row()));
    const auto done = cluster_->Batch(me_, kTable, rows);
    const auto expected = memory_->Batch(me_, kTable, rows);
    ASSERT_EQ(done.size(), expected.size());
    for (size_t i = 0; i < done.size(); ++i)
      EXPECT_EQ(Told(done[i].status()), Told(expected[i].status()));
  }

  void Check(Dice& dice) {
    const std::string row = dice.Row();
    cellfs::CheckAndMutate check{.row = row, .condition = {}, .time_range = {}, .action = {}};
    if (dice.OneIn(2)) {
      check.condition = ColumnCondition{dice.Family(), dice.Qualifier(),
                                        static_cast<CompareOperator>(dice.Below(6)), dice.Value()};
    } else {
      check.condition = *ParseFilter("ValueFilter(=, 'binary:" + dice.OneOf({"v", "w"}) + "')");
    }
    check.action = RandomMutations(dice, row);
    const auto done = cluster_->CheckAndMutate(me_, kTable, check);
    const auto expected = memory_->CheckAndMutate(me_, kTable, check);
    EXPECT_EQ(Told(done.status()), Told(expected.status())) << done.status().ToString();
    if (done.ok() && expected.ok()) {
      EXPECT_EQ(done->done, expected->done);
    }
  }

  void Flush(Dice& dice) {
    if (!dice.OneIn(5)) return;
    const Status flushed = cluster_->Flush(me_, kTable);
    EXPECT_TRUE(flushed.ok()) << flushed.ToString();
    EXPECT_TRUE(memory_->Flush(me_, kTable).ok());
    is_flushed_ = true;
  }

  void Get(Dice& dice) {
    cellfs::Get get;
    const std::string filter = Narrow(dice, get);
    get.row = dice.Row();
    EXPECT_EQ(Told(cluster_->Read(me_, kTable, get)), Told(memory_->Read(me_, kTable, get)))
        << "filter " << filter << ", versions " << get.max_versions << ", of a family "
        << get.store_offset << " to " << get.store_limit << ", lengths " << get.lengths_only;
  }

  // 2.6.1 keeps tombstones that another one covers, when it flushes.
  void Scan(Dice& dice) {
    cellfs::Scan scan;
    const std::string filter = SetRandomScan(dice, scan);
    scan.raw = !is_flushed_ && dice.OneIn(4);
    if (scan.raw) {
      scan.filter = nullptr;
      for (auto& [family, qualifiers] : scan.columns) qualifiers.clear();
    }
    const ScanBatch batch{.max_rows = static_cast<size_t>(1 + dice.Below(5)),
                          .max_bytes = static_cast<size_t>(dice.OneIn(3) ? 500 : 1 << 20),
                          .partial_rows = dice.OneIn(3)};
    EXPECT_EQ(AllOf(*cluster_, scan, batch), AllOf(*memory_, scan, batch))
        << "scan from '" << scan.start_row << "' to '" << scan.stop_row << "', reversed "
        << scan.reversed << ", raw " << scan.raw << ", limit " << scan.limit << ", versions "
        << scan.max_versions << ", of a family " << scan.store_offset << " to "
        << scan.store_limit << ", pieces " << batch.partial_rows << ", filter " << filter
        << ", lengths " << scan.lengths_only;
  }

  const Caller& me_ = Caller::Superuser();
  std::unique_ptr<HBaseStore> cluster_;
  std::unique_ptr<Store> memory_;
  std::string description_;
  bool is_flushed_ = false;
};

TEST_F(Differential, EveryAnswerIsTheSame) {
  const char* const seed_text = std::getenv("CELLFS_TEST_SEED");
  const uint32_t first = seed_text != nullptr ? static_cast<uint32_t>(std::atoi(seed_text)) : 1;
  for (uint32_t seed = first; seed < first + kTables; ++seed) {
    Dice dice(seed);
    is_flushed_ = false;
    ASSERT_NO_FATAL_FAILURE(MakeTable(dice));
    for (int step = 0; step < kSteps && !HasFailure(); ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step) + ", " +
                   description_);
      Step(dice);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cellfs::hbase
