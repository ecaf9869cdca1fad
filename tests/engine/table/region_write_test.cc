// SPDX-License-Identifier: MIT
//
// The data path of a table over a storage of vectors: what each mutation stores, and what it asks
// of the storage for that.
#include <gtest/gtest.h>

#include <thread>

#include "engine/table/region.h"
#include "tests/engine/table/fake_storage.h"

namespace cellfs {
namespace {

constexpr Timestamp kWriteTime = 1000000;

std::string Long(int64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<uint64_t>(number) >> shift));
  return bytes;
}

class RegionTest : public ::testing::Test {
 protected:
  RegionTest() {
    options_.clock = clock_;
    Reset({});
  }

  // A table of families f and g with these attributes, and nothing in it.
  void Reset(const std::map<std::string, std::string>& attributes) {
    schema_ = TableSchema(TableName{"default", "t"});
    for (const char* name : {"f", "g"}) {
      FamilySchema family(name);
      for (const auto& [key, value] : attributes) EXPECT_TRUE(family.Set(key, value).ok());
      schema_.families.emplace(name, family);
    }
    Open();
  }
  void Open() {
    auto schema = std::make_shared<const TableSchema>(schema_);
    storage_ = std::make_shared<FakeStorage>(schema, clock_);
    region_ = std::make_unique<Region>(storage_, schema, options_);
  }

  StatusCode Write(Mutation mutation) { return Write(RowMutations::Of(std::move(mutation))); }
  StatusCode Write(const RowMutations& mutations) {
    StatusOr<MutationResult> result = region_->Mutate(mutations);
    result_ = result.ok() ? *result : MutationResult();
    return result.status().code();
  }
  StatusCode PutAt(Timestamp timestamp, std::string value, std::string qualifier = "q") {
    return Write(Put{"r", {{"f", std::move(qualifier), timestamp, std::move(value)}}});
  }
  StatusCode DeleteAt(CellType type, Timestamp timestamp) {
    return Write(Delete{"r", {{type, "f", "q", timestamp}}});
  }
  Put Above(std::string value, Timestamp given = kLatestTimestamp) {
    return Put{"r", {{"f", "q", given, std::move(value)}}, kNoCellTtl, Stamping::kAboveColumn};
  }

  // "family:qualifier/timestamp/Type=value" of each stored cell.
  std::vector<std::string> Stored() {
    Scan scan;
    scan.raw = true;
    scan.max_versions = kAllVersions;
    auto scanner = region_->OpenScanner(scan);
    std::vector<std::string> texts;
    auto rows = (*scanner)->Next({});
    for (const RowCells& row : *rows) {
      for (const Cell& cell : row) {
        texts.push_back(cell.family + ":" + cell.qualifier + "/" + std::to_string(cell.timestamp) +
                        "/" + std::string(TypeName(cell.type)) + "=" + cell.value);
      }
    }
    return texts;
  }
  using Texts = std::vector<std::string>;

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(kWriteTime);
  StoreOptions options_;
  TableSchema schema_;
  std::shared_ptr<FakeStorage> storage_;
  std::unique_ptr<Region> region_;
  MutationResult result_;  // of the last Write
};

TEST_F(RegionTest, ASinglePutAboveItsColumnCostsOneLookAndOneApply) {
  EXPECT_EQ(Write(Above("v")), StatusCode::kOk);
  EXPECT_EQ(storage_->head_reads, 1);
  EXPECT_EQ(storage_->reads, 0);
  EXPECT_EQ(storage_->applies, 1);
  ASSERT_EQ(storage_->waits.size(), 1u);
  EXPECT_EQ(storage_->waits[0].second, Durability::kSyncWal);
  EXPECT_EQ(result_.timestamps, std::vector<Timestamp>{kWriteTime});
  EXPECT_EQ(Write(Above("w")), StatusCode::kOk);
  EXPECT_EQ(Stored(), (Texts{"f:q/1000001/Put=w", "f:q/1000000/Put=v"}));
}

TEST_F(RegionTest, DurabilityIsTheMutationsElseTheTablesElseTheStores) {
  RowMutations put = RowMutations::Of(Above("v"), Durability::kFsyncWal);
  EXPECT_EQ(Write(put), StatusCode::kOk);
  ASSERT_EQ(storage_->waits.size(), 1u);
  EXPECT_EQ(storage_->waits[0].second, Durability::kFsyncWal);
  EXPECT_TRUE(schema_.Set("DURABILITY", "ASYNC_WAL").ok());
  Open();
  EXPECT_EQ(Write(put), StatusCode::kOk);
  put.durability = Durability::kUseDefault;
  EXPECT_EQ(Write(put), StatusCode::kOk);
  ASSERT_EQ(storage_->waits.size(), 2u);
  EXPECT_EQ(storage_->waits[0].second, Durability::kFsyncWal);
  EXPECT_EQ(storage_->waits[1].second, Durability::kAsyncWal);
}

// Of a storage that others write to.
TEST_F(RegionTest, ARowIsKeptFromOthersUntilItIsWritten) {
  storage_->has_other_writers = true;
  EXPECT_EQ(Write(Above("v")), StatusCode::kOk);
  EXPECT_EQ(storage_->calls_of_kept_rows, 2) << "it was looked at, and written";
  EXPECT_EQ(storage_->kept_rows, 0);
  const CheckAndMutate check{.row = "r",
                             .condition = ColumnCondition{"f", "q", CompareOperator::kEqual, "v"},
                             .action = RowMutations::Of(Above("w"))};
  EXPECT_TRUE(region_->CheckAndMutate(check, nullptr)->done);
  EXPECT_GE(storage_->calls_of_kept_rows, 4);
  const int calls = storage_->calls_of_kept_rows;
  EXPECT_EQ(Write(Put{"r", {{"f", "q", 7, "plain"}}}), StatusCode::kOk);
  EXPECT_EQ(storage_->calls_of_kept_rows, calls + 1) << "its cells stand in the put";
  EXPECT_TRUE(region_->Batch(std::vector{RowMutations::Of(Put{"r", {{"f", "q", 8, "v"}}})})[0].ok());
  EXPECT_EQ(storage_->calls_of_kept_rows, calls + 2);
  EXPECT_EQ(storage_->kept_rows, 0);
  EXPECT_EQ(storage_->applies, 4);
}

TEST_F(RegionTest, RowsThatCannotBeKeptFromOthersAreRefusedOneByOne) {
  storage_->keep_error = {StatusCode::kUnavailable, "somebody has it"};
  EXPECT_EQ(Write(Put{"r", {{"f", "q", 7, "v"}}}), StatusCode::kUnavailable);
  const auto answers = region_->Batch(std::vector{RowMutations::Of(Put{"a", {{"f", "q", 7, "v"}}}),
                                                  RowMutations::Of(Put{"b", {{"f", "q", 7, "v"}}})});
  ASSERT_EQ(answers.size(), 2u);
  for (const auto& answer : answers)
    EXPECT_EQ(answer.status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Stored(), Texts());
}

TEST_F(RegionTest, RefusalsChangeNothing) {
  RowMutations mutations = RowMutations::Of(Above("v"));
  mutations.mutations.push_back(Put{"r", {{"x", "q"}}});
  EXPECT_EQ(Write(mutations), StatusCode::kNoSuchColumnFamily);
  PutAt(1, "xx", "bad");
  mutations.mutations[1] = Increment{"r", {{"f", "bad", 1}}};
  EXPECT_EQ(Write(mutations), StatusCode::kNotALong);
  EXPECT_EQ(Stored(), Texts{"f:bad/1/Put=xx"});
}

TEST_F(RegionTest, AReadOnlyTableIsRefusedBeforeItsFamiliesAreLookedAt) {
  EXPECT_TRUE(schema_.Set("READONLY", "true").ok());
  Open();
  EXPECT_EQ(Write(Put{"r", {{"x", "q"}}}), StatusCode::kReadOnly);
  EXPECT_EQ(Write(Put{"r", {}}), StatusCode::kIllegalArgument);
}

TEST_F(RegionTest, OfOneColumnTimestampAndTypeTheLaterWins) {
  RowMutations mutations =
      RowMutations::Of(Put{"r", {{"f", "q", 5, "a"}, {"f", "p", 5, "p"}, {"f", "q", 5, "b"}}});
  mutations.mutations.push_back(Delete{"r", {{CellType::kDelete, "f", "q", 5}}});
  mutations.mutations.push_back(Put{"r", {{"f", "q", 5, "c"}}});
  EXPECT_EQ(Write(mutations), StatusCode::kOk);
  EXPECT_EQ(storage_->applies, 1);
  EXPECT_EQ(Stored(), (Texts{"f:p/5/Put=p", "f:q/5/Delete=", "f:q/5/Put=c"}));
}

TEST_F(RegionTest, ADeleteWithoutATimestampTakesTheNewestVisibleVersions) {
  Reset({{"VERSIONS", "3"}});
  for (Timestamp timestamp : {10, 20, 30, 40}) PutAt(timestamp, "v");
  DeleteAt(CellType::kDelete, 30);
  DeleteMarker newest{CellType::kDelete, "f", "q"};
  EXPECT_EQ(Write(Delete{"r", {newest, newest, newest, newest}}), StatusCode::kOk);
  EXPECT_EQ(result_.timestamps, (std::vector<Timestamp>{40, 20, 10, kWriteTime}));
}

TEST_F(RegionTest, ADeleteOfARowMarksEveryFamilyAtItsTimestamp) {
  EXPECT_EQ(Write(Delete{.row = "r", .timestamp = 7}), StatusCode::kOk);
  EXPECT_EQ(Write(Delete{.row = "r"}), StatusCode::kOk);
  EXPECT_EQ(Stored(), (Texts{"f:/1000000/DeleteFamily=", "f:/7/DeleteFamily=",
                             "g:/1000000/DeleteFamily=", "g:/7/DeleteFamily="}));
}

TEST_F(RegionTest, AFamilyTombstoneThrowsAwayTheFamilysEarlierMarkers) {
  EXPECT_EQ(Write(Delete{"r",
                         {{CellType::kDeleteColumn, "f", "q", 5},
                          {CellType::kDeleteColumn, "g", "q", 5},
                          {CellType::kDeleteFamily, "f", "ignored", 3},
                          {CellType::kDeleteFamilyVersion, "f", "", 9}}}),
            StatusCode::kOk);
  EXPECT_EQ(Stored(),
            (Texts{"f:/9/DeleteFamilyVersion=", "f:/3/DeleteFamily=", "g:q/5/DeleteColumn="}));
}

TEST_F(RegionTest, IncrementsWrapAndCarryTheOldTtl) {
  Put put{"r", {{"f", "q", kWriteTime, Long(std::numeric_limits<int64_t>::max())}}, 5000};
  EXPECT_EQ(Write(put), StatusCode::kOk);
  EXPECT_EQ(Write(Increment{"r", {{"f", "q", 1}}}), StatusCode::kOk);
  ASSERT_EQ(result_.results.size(), 1u);
  const Cell& cell = result_.results[0];
  EXPECT_EQ(cell.row, "r");
  EXPECT_EQ(cell.timestamp, kWriteTime + 1);
  EXPECT_EQ(cell.time_to_live, 5000);
  EXPECT_EQ(cell.value, Long(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(cell.value_length, 8u);
  Increment other{"r", {{"f", "q", 0}}};
  other.time_to_live = 70;
  other.return_results = false;
  EXPECT_EQ(Write(other), StatusCode::kOk);
  EXPECT_TRUE(result_.results.empty());
  Get get;
  get.row = "r";
  EXPECT_EQ((*region_->Read(get))[0].time_to_live, 70);
}

TEST_F(RegionTest, AColumnTwiceInAnIncrementIsReckonedFromTheSameOldValue) {
  EXPECT_EQ(Write(Increment{"r", {{"f", "q", 1, 5}, {"f", "q", 2}, {"f", "a", 9, 3}}}),
            StatusCode::kOk);
  EXPECT_EQ(Stored(),
            (Texts{"f:a/3/Put=" + Long(9), "f:q/1000000/Put=" + Long(2), "f:q/5/Put=" + Long(1)}));
  // Now it is there: the given timestamps only say in which order they are taken.
  EXPECT_EQ(Write(Increment{"r", {{"f", "q", 10, 5}, {"f", "q", 20}}}), StatusCode::kOk);
  EXPECT_EQ(Stored()[1], "f:q/1000001/Put=" + Long(12));
}

TEST_F(RegionTest, AnAppendAboveItsColumnReportsTimestampsInTheGivenOrder) {
  PutAt(7000000, "old");
  DeleteAt(CellType::kDeleteColumn, 8000000);
  PutAt(9000000, "new");
  Append append{"r", {{"f", "q", "+"}, {"f", "b", "x", 50}}};
  append.stamping = Stamping::kAboveColumn;
  EXPECT_EQ(Write(append), StatusCode::kOk);
  EXPECT_EQ(result_.timestamps, (std::vector<Timestamp>{9000001, 50}));
  ASSERT_EQ(result_.results.size(), 2u);
  EXPECT_EQ(result_.results[0].value, "x");
  EXPECT_EQ(result_.results[1].value, "new+");
}

TEST_F(RegionTest, AnAppendThatPassesTheCellSizeIsRefused) {
  options_.site.server_max_cell_size = 40;
  Open();
  EXPECT_EQ(PutAt(1, "0123456789"), StatusCode::kOk);
  EXPECT_EQ(Write(Append{"r", {{"f", "q", "abc"}}}), StatusCode::kOk);
  EXPECT_EQ(Write(Append{"r", {{"f", "q", "d"}}}), StatusCode::kValueTooLarge);
}

TEST_F(RegionTest, NoTimestampIsLeftAboveTheLargest) {
  PutAt(kLatestTimestamp - 1, Long(1));
  EXPECT_EQ(Write(Above("v")), StatusCode::kTimestampsExhausted);
  EXPECT_EQ(Write(Increment{"r", {{"f", "q", 1}}}), StatusCode::kTimestampsExhausted);
}

TEST_F(RegionTest, CellsOfOneStepAreAboveEachOther) {
  RowMutations mutations = RowMutations::Of(Above("a"));
  Delete deletion{"r", {{CellType::kDeleteColumn, "f", "q"}}};
  deletion.stamping = Stamping::kAboveColumn;
  mutations.mutations.push_back(deletion);
  mutations.mutations.push_back(Above("b"));
  EXPECT_EQ(Write(mutations), StatusCode::kOk);
  EXPECT_EQ(result_.timestamps,
            (std::vector<Timestamp>{kWriteTime, kWriteTime + 1, kWriteTime + 2}));
}

TEST_F(RegionTest, ARewrittenPutStaysOneVersion) {
  Write(Above("a"));
  Put again = Above("ab");
  again.cells[0].rewrites = kWriteTime;
  clock_->Advance(50);
  EXPECT_EQ(Write(again), StatusCode::kOk);
  EXPECT_EQ(result_.timestamps, std::vector<Timestamp>{kWriteTime});
  Write(Above("other"));
  EXPECT_EQ(Write(again), StatusCode::kOk);
  EXPECT_EQ(result_.timestamps, std::vector<Timestamp>{kWriteTime + 51});
}

TEST_F(RegionTest, WhatIsWithdrawnIsGone) {
  Write(Above("a"));
  Withdraw withdraw{"r", {{"f", "q", kWriteTime}, {"f", "q", 3, CellType::kDeleteColumn}}};
  EXPECT_EQ(Write(withdraw), StatusCode::kOk);
  EXPECT_EQ(Stored(), Texts{});
  EXPECT_EQ(Write(Withdraw{"r", {{"x", "q", 1}}}), StatusCode::kNoSuchColumnFamily);
}

// ---- kReadable: the answer must be what a Get says of a put that was written all the same. -----

class ReadableTest : public RegionTest,
                     public ::testing::WithParamInterface<std::map<std::string, std::string>> {
 protected:
  bool GetFinds(Timestamp timestamp, const std::string& value) {
    Get get;
    get.row = "r";
    get.columns["f"].insert("q");
    get.time_range = AtTimestamp(timestamp);
    StatusOr<RowCells> cells = region_->Read(get);
    return cells.ok() && cells->size() == 1 && cells->front().value == value;
  }
  void Prepare(unsigned seed) {
    Reset(GetParam());
    std::srand(seed);
    for (int i = 0; i < 5; ++i) {
      Timestamp timestamp = kWriteTime - 3000 + 1000 * (std::rand() % 5);
      switch (std::rand() % 6) {
        case 0:
          DeleteAt(CellType::kDelete, timestamp);
          break;
        case 1:
          DeleteAt(CellType::kDeleteColumn, timestamp);
          break;
        case 2:
          DeleteAt(CellType::kDeleteFamilyVersion, timestamp);
          break;
        case 3:
          DeleteAt(CellType::kDeleteFamily, timestamp);
          break;
        default:
          PutAt(timestamp, "old");
      }
    }
  }
};

TEST_P(ReadableTest, IsWhatAGetFindsAfterwards) {
  int refused = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Timestamp timestamp = kWriteTime - 3000 + 1000 * static_cast<Timestamp>(seed % 5);
    Prepare(seed);
    EXPECT_EQ(PutAt(timestamp, "new"), StatusCode::kOk);
    const bool found = GetFinds(timestamp, "new");
    Prepare(seed);
    const int applies = storage_->applies;
    Put put{"r", {{"f", "q", timestamp, "new"}}, kNoCellTtl, Stamping::kReadable};
    ASSERT_EQ(Write(put), found ? StatusCode::kOk : StatusCode::kTimestampUnreadable);
    EXPECT_EQ(storage_->applies, applies + (found ? 1 : 0));
    refused += !found;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 300);
}

using Attributes = std::map<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(
    Families, ReadableTest,
    ::testing::Values(Attributes{{"VERSIONS", "2"}}, Attributes{{"TTL", "2"}},
                      Attributes{{"TTL", "2"}, {"MIN_VERSIONS", "1"}},
                      Attributes{{"KEEP_DELETED_CELLS", "TRUE"}, {"VERSIONS", "3"}},
                      Attributes{{"KEEP_DELETED_CELLS", "TTL"}, {"TTL", "2"}},
                      Attributes{{"NEW_VERSION_BEHAVIOR", "true"}, {"VERSIONS", "2"}},
                      Attributes{{"NEW_VERSION_BEHAVIOR", "true"}, {"TTL", "3"}}));

TEST_F(RegionTest, APutIsNotReadableUnderATombstoneOfItsOwnStepOrWithItsTtlOver) {
  RowMutations mutations{"r",
                         {Put{"r", {{"f", "q", 5, "v"}}, kNoCellTtl, Stamping::kReadable},
                          Delete{"r", {{CellType::kDeleteFamily, "f", "", 6}}}}};
  EXPECT_EQ(Write(mutations), StatusCode::kTimestampUnreadable);
  EXPECT_EQ(Write(Put{"r", {{"f", "q", kWriteTime - 11, "v"}}, 10, Stamping::kReadable}),
            StatusCode::kTimestampUnreadable);
  EXPECT_EQ(Write(Put{"r", {{"f", "q", kWriteTime - 10, "v"}}, 10, Stamping::kReadable}),
            StatusCode::kOk);
}

// ---- CheckAndMutate ----------------------------------------------------------------------------

class CheckTest : public RegionTest {
 protected:
  StatusCode Check(ColumnCondition condition, Mutation action) {
    CheckAndMutate check{"r", std::move(condition), {}, RowMutations::Of(std::move(action))};
    StatusOr<CheckAndMutateResult> result = region_->CheckAndMutate(check, guard_);
    done_ = result.ok() && result->done;
    return result.status().code();
  }
  bool Holds(CompareOperator op, std::string given, std::string qualifier = "q") {
    EXPECT_EQ(Check({"f", std::move(qualifier), op, std::move(given)}, Put{"r", {{"f", "done"}}}),
              StatusCode::kOk);
    return done_;
  }

  std::function<Status()> guard_;
  bool done_ = false;
};

TEST_F(CheckTest, HoldsIfTheGivenValueComparesSoWithTheStoredOne) {
  PutAt(1, "bbbb");
  EXPECT_TRUE(Holds(CompareOperator::kLess, "aaaa"));
  EXPECT_FALSE(Holds(CompareOperator::kGreater, "aaaa"));
  EXPECT_TRUE(Holds(CompareOperator::kGreaterOrEqual, "bbbb"));
  EXPECT_TRUE(Holds(CompareOperator::kEqual, "bbbb"));
  EXPECT_TRUE(Holds(CompareOperator::kGreater, "\xff"));
  EXPECT_TRUE(Holds(CompareOperator::kLess, "bbb"));
}

TEST_F(CheckTest, AnEmptyGivenValueAsksForAbsentOrEmpty) {
  PutAt(1, "v");
  PutAt(1, "", "empty");
  for (CompareOperator op : {CompareOperator::kEqual, CompareOperator::kLess}) {
    EXPECT_FALSE(Holds(op, ""));
    EXPECT_TRUE(Holds(op, "", "empty"));
    EXPECT_TRUE(Holds(op, "", "absent"));
  }
  EXPECT_TRUE(Holds(CompareOperator::kNotEqual, ""));
  EXPECT_FALSE(Holds(CompareOperator::kNotEqual, "", "empty"));
  EXPECT_FALSE(Holds(CompareOperator::kNotEqual, "", "absent"));
  EXPECT_FALSE(Holds(CompareOperator::kNotEqual, "x", "absent"));
}

TEST_F(CheckTest, PutsAreNotStampedBelowTheCellThatWasChecked) {
  PutAt(kWriteTime + 500, "v");
  EXPECT_EQ(Check({"f", "q", CompareOperator::kEqual, "v"},
                  Put{"r", {{"f", "q", kLatestTimestamp, "w"}}}),
            StatusCode::kOk);
  EXPECT_EQ(Stored(), Texts{"f:q/1000500/Put=w"});
}

TEST_F(CheckTest, TheActionIsLookedAtOnlyOnceTheConditionHeld) {
  int asked = 0;
  guard_ = [&] {
    ++asked;
    return Status();
  };
  const Mutation unknown = Put{"r", {{"x", "q"}}};
  EXPECT_EQ(Check({"f", "q", CompareOperator::kEqual, "v"}, unknown), StatusCode::kOk);
  EXPECT_FALSE(done_);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(Check({"f", "q"}, unknown), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Check({"x", "q"}, Put{"r", {{"f", "q"}}}), StatusCode::kNoSuchColumnFamily);
  guard_ = [] { return Status(StatusCode::kAccessDenied, "no"); };
  EXPECT_EQ(Check({"f", "q"}, unknown), StatusCode::kAccessDenied);
  EXPECT_EQ(Stored(), Texts{});
}

TEST_F(CheckTest, AFilterHoldsIfAGetWithItFindsACell) {
  PutAt(1, "a");
  auto filter = MakeValueFilter(CompareOperator::kEqual, {Comparator::Kind::kBinary, "a"});
  CheckAndMutate check{"r", *filter, {}, RowMutations::Of(Put{"r", {{"f", "q", 2, "b"}}})};
  EXPECT_TRUE(region_->CheckAndMutate(check, nullptr)->done);
  EXPECT_FALSE(region_->CheckAndMutate(check, nullptr)->done);
}

// ---- Batch -------------------------------------------------------------------------------------

TEST_F(RegionTest, ABatchAnswersForEachRowAndWaitsOnce) {
  auto put = [](std::string row, Durability durability) {
    return RowMutations::Of(Put{row, {{"f", "q", kLatestTimestamp, "v"}}}, durability);
  };
  std::vector<RowMutations> rows = {put("r", Durability::kSkipWal),
                                    RowMutations::Of(Put{"r", {{"x", "q"}}}),
                                    put("s", Durability::kFsyncWal),
                                    RowMutations::Of(Increment{"c", {{"f", "n", 1}}}),
                                    RowMutations::Of(Increment{"c", {{"f", "n", 1}}}),
                                    put("z", Durability::kAsyncWal)};
  auto answers = region_->Batch(rows);
  ASSERT_EQ(answers.size(), rows.size());
  EXPECT_EQ(answers[1].status().code(), StatusCode::kNoSuchColumnFamily);
  for (size_t i : {0, 2, 3, 4, 5}) EXPECT_TRUE(answers[i].ok()) << i;
  EXPECT_EQ(answers[4]->results[0].value, Long(2));
  EXPECT_EQ(storage_->applies, 4);
  EXPECT_EQ(storage_->waits,
            (std::vector<std::pair<LogPosition, Durability>>{{5, Durability::kFsyncWal}}));

  storage_->durable_error = Status(StatusCode::kIoError, "disk");
  answers = region_->Batch(rows);
  EXPECT_EQ(answers[1].status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(answers[5].status().code(), StatusCode::kOutcomeUnknown);
}

// It is visible and in the log, and a crash may keep it or take it away.
TEST_F(RegionTest, OfAVisibleMutationThatCannotBeSyncedTheOutcomeIsUnknown) {
  storage_->durable_error = Status(StatusCode::kIoError, "disk");
  EXPECT_EQ(Write(Above("v")), StatusCode::kOutcomeUnknown);
  EXPECT_EQ(Stored(), (Texts{"f:q/1000000/Put=v"}));
  const CheckAndMutate check{.row = "r",
                             .condition = ColumnCondition{"f", "q", CompareOperator::kEqual, "v"},
                             .action = RowMutations::Of(Above("w"))};
  const auto checked = region_->CheckAndMutate(check, nullptr);
  EXPECT_EQ(checked.status().code(), StatusCode::kOutcomeUnknown);
  EXPECT_NE(checked.status().message().find("disk"), std::string::npos);
}

TEST_F(RegionTest, IncrementsOfSeveralThreadsLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < 50; ++j)
        EXPECT_TRUE(region_->Mutate(RowMutations::Of(Increment{"r", {{"f", "q", 1}}})).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  Get get;
  get.row = "r";
  EXPECT_EQ((*region_->Read(get))[0].value, Long(200));
}

TEST_F(RegionTest, AReplacedSchemaHoldsForWhatComesAfter) {
  std::shared_ptr<const TableSchema> old = region_->schema();
  TableSchema changed = schema_;
  changed.families.erase("g");
  EXPECT_TRUE(region_->ReplaceSchema(std::make_shared<const TableSchema>(changed)).ok());
  EXPECT_EQ(Write(Put{"r", {{"g", "q"}}}), StatusCode::kNoSuchColumnFamily);
  EXPECT_NE(old->FindFamily("g"), nullptr);
  const auto now = region_->schema();
  EXPECT_EQ(now->FindFamily("g"), nullptr);
}

}  // namespace
}  // namespace cellfs
