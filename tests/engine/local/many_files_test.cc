// SPDX-License-Identifier: MIT
//
// Reads leave files out by their rows, times and Bloom filters; withdrawals and tombstones lie in
// other files than what they hide. Whatever lies where, a read answers as one of a store that has
// everything in its memstore, and as one that has it in one file. Some files have no row in common.
#include <cstdlib>
#include <random>

#include "engine/filters.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class OneStore : public EngineTest {
 public:
  void TestBody() override {}
  void OpenWith(std::shared_ptr<const TableSchema> schema) {
    schema_ = std::move(schema);
    Open();
  }
  Status Write(const RowBatch& batch) { return Apply(*table_, batch); }
  // Drops nothing, for the moment sees it all.
  void FlushAll() {
    const auto moment = *engine_->PinMoment("");
    ASSERT_OK(table_->Flush());
  }
  std::string Read(const Get& get) {
    const auto cells = table_->Read(get, clock_->Now());
    if (!cells.ok()) return cells.status().ToString();
    std::string text;
    for (const Cell& cell : *cells) text += TextOf(cell);
    return text;
  }
  std::string Head(const std::string& row, const std::string& family,
                   const std::string& qualifier) {
    const auto head = table_->ReadColumnHead(row, family, qualifier);
    if (!head.ok()) return head.status().ToString();
    std::string text =
        std::to_string(head->newest_put) + " " + std::to_string(head->newest_wide_tombstone);
    for (const Timestamp timestamp : head->version_tombstones)
      text += " " + std::to_string(timestamp);
    return text;
  }
  using EngineTest::ScanText;
  size_t Files() const { return StoreFileNames().size(); }
};

class ManyFilesTest : public testing::TestWithParam<const char*> {
 protected:
  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
  std::string AnyRow() { return "r" + std::to_string(Below(kRows)); }
  std::string AnyFamily() { return std::string(1, "fgh"[Below(3)]); }
  std::string AnyQualifier() { return Below(6) == 0 ? "" : std::string(1, "pqs"[Below(3)]); }
  Timestamp AnyTimestamp() { return 1000 + Below(12) * 10; }

  static std::shared_ptr<const TableSchema> Schema(const std::string& bloom) {
    return TableOf(
        {FamilyOf("f", {{"VERSIONS", "2"}, {"BLOOMFILTER", bloom}}),
         FamilyOf("g", {{"VERSIONS", "3"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"BLOOMFILTER", bloom}}),
         FamilyOf("h",
                  {{"VERSIONS", "2"}, {"NEW_VERSION_BEHAVIOR", "true"}, {"BLOOMFILTER", bloom}})});
  }

  RowBatch AnyBatch() {
    RowBatch batch{.row = "r" + std::to_string(first_row_ + Below(rows_)), .cells = {}};
    const int act = Below(20);
    const std::string family = AnyFamily();
    constexpr CellType kTypes[] = {CellType::kPut, CellType::kDelete, CellType::kDeleteColumn,
                                   CellType::kDeleteFamily, CellType::kDeleteFamilyVersion};
    if (act < 11) {
      Cell cell{.family = family,
                .qualifier = AnyQualifier(),
                .timestamp = AnyTimestamp(),
                .value = std::to_string(++values_)};
      if (Below(10) == 0) cell.value += std::string(1000, 'x');
      batch.cells.push_back(cell);
    } else {
      const CellType type = kTypes[act < 16 ? 1 + Below(4) : Below(5)];
      const std::string qualifier = IsFamilyTombstone(type) ? "" : AnyQualifier();
      if (act < 16) {
        batch.cells.push_back(
            {.family = family, .qualifier = qualifier, .timestamp = AnyTimestamp(), .type = type});
      } else {
        batch.withdrawn.push_back({family, qualifier, AnyTimestamp(), type});
      }
    }
    return batch;
  }
  // What is written until the next flush lies in these.
  void NarrowRows() {
    rows_ = Below(3) == 0 ? kRows : 1 + Below(2);
    first_row_ = Below(kRows - rows_ + 1);
  }
  TimeRange AnyTimes() {
    TimeRange times;
    if (Below(2) == 0) return times;
    times.min = Below(3) == 0 ? 0 : AnyTimestamp();
    times.max = times.min + 1 + Below(60);
    return times;
  }
  template <typename Query>
  void Vary(Query& query) {
    query.time_range = AnyTimes();
    if (Below(4) == 0) query.family_time_ranges[AnyFamily()] = AnyTimes();
    query.max_versions = Below(2) == 0 ? 1 + Below(3) : kAllVersions;
    for (int i = Below(3); i > 0; --i) {
      std::set<std::string>& columns = query.columns[AnyFamily()];
      for (int j = Below(3); j > 0; --j) columns.insert(AnyQualifier());
    }
  }
  Get AnyGet() {
    Get get;
    get.row = AnyRow();
    Vary(get);
    return get;
  }
  Scan AnyScan() {
    Scan scan;
    Vary(scan);
    scan.raw = scan.columns.empty() && Below(3) == 0;
    if (Below(2) == 0) {
      scan.start_row = AnyRow();
      if (Below(2) == 0) {
        scan.stop_row = scan.start_row;
        scan.include_stop_row = true;
      }
    }
    scan.reversed = scan.stop_row.empty() && Below(4) == 0;
    return scan;
  }

  static constexpr int kRows = 7;
  std::mt19937 random_;
  int values_ = 0;
  int first_row_ = 0;
  int rows_ = kRows;
};

TEST_P(ManyFilesTest, AReadAnswersAsOneOfOneFileAndAsOneOfTheMemstore) {
  const char* const given = std::getenv("CELLFS_SEED");
  const unsigned first = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1u;
  for (unsigned seed = first; seed < first + (given != nullptr ? 1u : 12u); ++seed) {
    SCOPED_TRACE("CELLFS_SEED=" + std::to_string(seed));
    random_.seed(seed);
    OneStore many, one, memory;
    for (OneStore* store : {&many, &one, &memory}) store->OpenWith(Schema(GetParam()));
    ASSERT_FALSE(HasFailure());
    for (int round = 0; round < 16; ++round) {
      NarrowRows();
      for (int i = Below(25); i >= 0; --i) {
        const RowBatch batch = AnyBatch();
        for (OneStore* store : {&many, &one, &memory}) ASSERT_OK(store->Write(batch));
      }
      if (round < 15 || Below(2) == 0) many.FlushAll();
    }
    one.FlushAll();
    EXPECT_GT(many.Files(), 15u);
    EXPECT_LE(one.Files(), 3u);
    for (int i = 0; i < 250 && !HasFailure(); ++i) {
      const Get get = AnyGet();
      const std::string expected = memory.Read(get);
      EXPECT_EQ(many.Read(get), expected) << get.row;
      EXPECT_EQ(one.Read(get), expected) << get.row;
      const Scan scan = AnyScan();
      const std::string scanned = memory.ScanText(scan);
      EXPECT_EQ(many.ScanText(scan), scanned) << "raw " << scan.raw;
      EXPECT_EQ(one.ScanText(scan), scanned) << "raw " << scan.raw;
      const std::string row = AnyRow(), family = AnyFamily(), qualifier = AnyQualifier();
      const std::string head = memory.Head(row, family, qualifier);
      EXPECT_EQ(many.Head(row, family, qualifier), head) << row << family << qualifier;
      EXPECT_EQ(one.Head(row, family, qualifier), head) << row << family << qualifier;
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Filters, ManyFilesTest, testing::Values("NONE", "ROW", "ROWCOL"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace cellfs
