// SPDX-License-Identifier: MIT
//
// What store.h promises of every Store, tried on each kind there is.
#include <gtest/gtest.h>

#include <thread>

#include "engine/filters.h"
#include "tests/contract/store_of_kind.h"

namespace cellfs {
namespace {

class StoreContract : public AnyStore {
 protected:
  StoreContract() : AnyStore(1000) {}

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(AnyStore::SetUp());
    if (IsSkipped()) return;
    TableSchema schema(table_);
    for (const char* name : {"f", "g"}) {
      FamilySchema family(name);
      ASSERT_TRUE(family.Set("VERSIONS", "3").ok());
      schema.families.emplace(name, family);
    }
    ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
  }

  StatusOr<MutationResult> Mutate(Mutation mutation) {
    return store_->Mutate(Caller::Superuser(), table_, RowMutations::Of(std::move(mutation)));
  }
  Status PutValue(const std::string& row, const std::string& qualifier, const std::string& value,
                  Timestamp timestamp = kLatestTimestamp) {
    return Mutate(Put{.row = row, .cells = {{"f", qualifier, timestamp, value, std::nullopt}}})
        .status();
  }
  RowCells Read(const Get& get) {
    auto cells = store_->Read(Caller::Superuser(), table_, get);
    EXPECT_TRUE(cells.ok()) << cells.status().ToString();
    return cells.ok() ? *cells : RowCells{};
  }
  RowCells ReadRow(const std::string& row) {
    Get get;
    get.row = row;
    return Read(get);
  }
  std::vector<std::string> ScanRows(const Scan& scan, size_t batch) {
    auto scanner = store_->OpenScanner(Caller::Superuser(), table_, scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().ToString();
    std::vector<std::string> rows;
    while (true) {
      auto next = (*scanner)->Next({.max_rows = batch});
      EXPECT_TRUE(next.ok());
      if (!next.ok() || next->empty()) return rows;
      for (const RowCells& cells : *next) rows.push_back(cells.front().row);
    }
  }
  // All of them, one after the other.
  RowCells CellsOf(const Scan& scan, const ScanBatch& batch) {
    RowCells all;
    const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, scan);
    EXPECT_TRUE(scanner.ok()) << scanner.status().ToString();
    while (!(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next(batch);
      EXPECT_TRUE(rows.ok()) << rows.status().ToString();
      if (!rows.ok()) return all;
      for (const RowCells& cells : *rows) all.insert(all.end(), cells.begin(), cells.end());
    }
    return all;
  }
  // "q3 q2DeleteColumn q1": everything that is stored, which a raw scan gives.
  std::string Stored(std::shared_ptr<const Moment> moment = nullptr) {
    Scan raw;
    raw.raw = true;
    raw.max_versions = kAllVersions;
    raw.moment = std::move(moment);
    const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, raw);
    EXPECT_TRUE(scanner.ok());
    std::string stored;
    while (!(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({});
      EXPECT_TRUE(rows.ok());
      for (const RowCells& cells : *rows) {
        for (const Cell& cell : cells) {
          if (!stored.empty()) stored += ' ';
          stored += cell.qualifier + std::to_string(cell.timestamp);
          if (IsTombstone(cell.type)) stored += TypeName(cell.type);
        }
      }
    }
    return stored;
  }
  Status DeleteColumn(const std::string& qualifier, Timestamp timestamp) {
    return Mutate(Delete{.row = "r",
                         .markers = {{CellType::kDeleteColumn, "f", qualifier, timestamp}}})
        .status();
  }
  Status WithdrawPut(const std::string& qualifier, Timestamp timestamp) {
    return Mutate(Withdraw{.row = "r", .cells = {{"f", qualifier, timestamp, CellType::kPut}}})
        .status();
  }
  void Flush() { ASSERT_TRUE(store_->Flush(Caller::Superuser(), table_).ok()); }
  void Compact(CompactionKind kind) {
    ASSERT_TRUE(store_->Compact(Caller::Superuser(), table_, kind).ok());
  }

  const TableName table_ = ParseTableName("t");
};

// What a store in this process promises: its clock is set by hand, it has what is ours, nobody else
// writes to it, and compactions take all files.
class LocalContract : public StoreContract {};

TEST_P(StoreContract, AnAbsentCellIsAnEmptyAnswer) { EXPECT_TRUE(ReadRow("nobody").empty()); }

TEST_P(StoreContract, AMissingTableOrFamilyIsAnError) {
  Get get;
  get.row = "r";
  const auto missing = store_->Read(Caller::Superuser(), ParseTableName("missing"), get);
  EXPECT_EQ(missing.status().code(), StatusCode::kTableNotFound);
  get.columns["h"];
  EXPECT_EQ(store_->Read(Caller::Superuser(), table_, get).status().code(),
            StatusCode::kNoSuchColumnFamily);
}

TEST_P(LocalContract, TheClockStampsWhatHasNoTimestamp) {
  ASSERT_TRUE(PutValue("r", "q", "v").ok());
  const RowCells cells = ReadRow("r");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].timestamp, 1000);
  EXPECT_EQ(cells[0].value, "v");
}

TEST_P(StoreContract, AMutationOfARowHappensWholeOrNotAtAll) {
  RowMutations mutations{.row = "r"};
  mutations.mutations = {Put{.row = "r", .cells = {{"f", "q", 1, "v", std::nullopt}}},
                         Put{.row = "r", .cells = {{"h", "q", 1, "v", std::nullopt}}}};
  EXPECT_EQ(store_->Mutate(Caller::Superuser(), table_, mutations).status().code(),
            StatusCode::kNoSuchColumnFamily);
  EXPECT_TRUE(ReadRow("r").empty());
  mutations.mutations[1] = Put{.row = "r", .cells = {{"g", "q", 1, "w", std::nullopt}}};
  ASSERT_TRUE(store_->Mutate(Caller::Superuser(), table_, mutations).ok());
  const RowCells cells = ReadRow("r");
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].sequence_id, cells[1].sequence_id);
}

TEST_P(StoreContract, ATableThatShowsACellIsNotDroppedAsEmpty) {
  const auto drop = [&] { return store_->DropEmptyTable(Caller::Superuser(), table_); };
  ASSERT_TRUE(PutValue("r", "q", "v").ok());
  auto dropped = drop();
  ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
  EXPECT_FALSE(*dropped);
  ASSERT_TRUE(PutValue("r", "q", "w").ok()) << "it can be written as before";
  ASSERT_TRUE(Mutate(Delete{.row = "r"}).ok());
  dropped = drop();
  ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
  EXPECT_TRUE(*dropped);
  EXPECT_EQ(store_->DescribeTable(table_).status().code(), StatusCode::kTableNotFound);
  EXPECT_EQ(PutValue("r", "q", "x").code(), StatusCode::kTableNotFound);
  EXPECT_EQ(drop().status().code(), StatusCode::kTableNotFound);
}

TEST_P(StoreContract, ADisabledTableIsNotDroppedAsEmpty) {
  ASSERT_TRUE(store_->DisableTable(Caller::Superuser(), table_).ok());
  EXPECT_EQ(store_->DropEmptyTable(Caller::Superuser(), table_).status().code(),
            StatusCode::kTableNotEnabled);
  EXPECT_TRUE(store_->DescribeTable(table_).ok());
}

// Either the drop sees the write, or the write is refused.
TEST_P(LocalContract, NoAcknowledgedWriteGoesWithAnEmptyTable) {
  const TableSchema schema = **store_->DescribeTable(table_);
  for (int round = 0; round < 50; ++round) {
    clock_->Advance(1);  // beyond the tombstone of the round before
    Status written;
    std::thread writer([&] { written = PutValue("r", "q", "v"); });
    const auto dropped = store_->DropEmptyTable(Caller::Superuser(), table_);
    writer.join();
    ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
    EXPECT_NE(*dropped, written.ok()) << written.ToString();
    if (*dropped) {
      ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
    } else {
      ASSERT_TRUE(Mutate(Delete{.row = "r"}).ok());
    }
  }
}

TEST_P(StoreContract, AScanIsOrderedWhateverItsBatches) {
  const std::vector<std::string> ordered = {"a", std::string("a\0", 2), "b", "\x80"};
  for (const size_t i : {2u, 0u, 3u, 1u}) ASSERT_TRUE(PutValue(ordered[i], "q", "v").ok());
  Flush();
  EXPECT_EQ(ScanRows(Scan{}, 1), ordered);
  EXPECT_EQ(ScanRows(Scan{}, 100), ordered);
  Scan reversed;
  reversed.reversed = true;
  EXPECT_EQ(ScanRows(reversed, 3), std::vector<std::string>(ordered.rbegin(), ordered.rend()));
}

TEST_P(StoreContract, ATombstoneHidesAlsoWhatIsWrittenLater) {
  if (!store_->traits().keeps_deleted) GTEST_SKIP() << "it has none";
  ASSERT_TRUE(
      Mutate(Delete{.row = "r", .markers = {{CellType::kDeleteColumn, "f", "q", 100}}}).ok());
  ASSERT_TRUE(PutValue("r", "q", "hidden", 100).ok());
  EXPECT_TRUE(ReadRow("r").empty());
  ASSERT_TRUE(PutValue("r", "q", "seen", 101).ok());
  EXPECT_EQ(ReadRow("r").size(), 1u);
}

TEST_P(LocalContract, AboveColumnIsReadNextEvenOverATombstoneOfTheFuture) {
  ASSERT_TRUE(
      Mutate(Delete{.row = "r", .markers = {{CellType::kDeleteColumn, "f", "q", 5000}}}).ok());
  Put put{.row = "r", .cells = {{"f", "q", kLatestTimestamp, "v", std::nullopt}}};
  put.stamping = Stamping::kAboveColumn;
  const auto result = Mutate(put);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->timestamps, std::vector<Timestamp>{5001});
  ASSERT_EQ(ReadRow("r").size(), 1u);
}

TEST_P(LocalContract, ReadableRefusesWhatCouldNotBeRead) {
  ASSERT_TRUE(
      Mutate(Delete{.row = "r", .markers = {{CellType::kDeleteColumn, "f", "q", 50}}}).ok());
  Put put{.row = "r", .cells = {{"f", "q", 40, "v", std::nullopt}}};
  put.stamping = Stamping::kReadable;
  EXPECT_EQ(Mutate(put).status().code(), StatusCode::kTimestampUnreadable);
  put.cells[0].timestamp = 60;
  ASSERT_TRUE(Mutate(put).ok());
  EXPECT_EQ(ReadRow("r").size(), 1u);
}

TEST_P(LocalContract, WithdrawnCellsWereNeverThere) {
  ASSERT_TRUE(PutValue("r", "q", "old", 1).ok());
  ASSERT_TRUE(PutValue("r", "q", "new", 2).ok());
  for (const bool flushed : {false, true}) {
    if (flushed) {
      ASSERT_TRUE(PutValue("r", "q", "new", 2).ok());
      Flush();
    }
    ASSERT_TRUE(Mutate(Withdraw{.row = "r", .cells = {{"f", "q", 2, CellType::kPut}}}).ok());
    const RowCells cells = ReadRow("r");
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_EQ(cells[0].value, "old");
  }
  EXPECT_EQ(Stored(), "q1");
}

TEST_P(LocalContract, AFlushSeesNothingButTheMemstoreAndACompactionAllFiles) {
  for (const Timestamp version : {1, 2, 3, 4}) {
    ASSERT_TRUE(PutValue("r", "q", "v", version).ok());
    Flush();
  }
  ASSERT_TRUE(DeleteColumn("q", 2).ok());
  Flush();
  EXPECT_EQ(Stored(), "q4 q3 q2DeleteColumn q2 q1");
  Compact(CompactionKind::kMinor);
  EXPECT_EQ(Stored(), "q4 q3 q2DeleteColumn");
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(Stored(), "q4 q3");
}

TEST_P(LocalContract, WhatIsWithdrawnIsNoVersion) {
  for (const Timestamp version : {1, 2, 3, 4}) {
    ASSERT_TRUE(PutValue("r", "q", "v", version).ok());
    Flush();
  }
  ASSERT_TRUE(WithdrawPut("q", 3).ok());
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(Stored(), "q4 q2 q1") << "of three versions";
  Flush();
  EXPECT_EQ(Stored(), "q4 q2 q1");
}

TEST_P(LocalContract, AWithdrawnTombstoneHidesNothing) {
  ASSERT_TRUE(PutValue("r", "q", "v", 1).ok());
  Flush();
  ASSERT_TRUE(DeleteColumn("q", 2).ok());
  EXPECT_TRUE(ReadRow("r").empty());
  ASSERT_TRUE(Mutate(Withdraw{.row = "r", .cells = {{"f", "q", 2, CellType::kDeleteColumn}}}).ok());
  EXPECT_EQ(ReadRow("r").size(), 1u);
  Flush();
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(Stored(), "q1");
}

TEST_P(LocalContract, AMomentStandsStill) {
  ASSERT_TRUE(PutValue("r", "q", "before").ok());
  Get get;
  get.row = "r";
  get.moment = *store_->PinMoment("");
  clock_->Advance(1);
  ASSERT_TRUE(PutValue("r", "q", "after").ok());
  ASSERT_TRUE(Mutate(Delete{.row = "r"}).ok());
  EXPECT_TRUE(ReadRow("r").empty());
  ASSERT_EQ(Read(get).size(), 1u);
  EXPECT_EQ(Read(get)[0].value, "before");
  Flush();
  ASSERT_EQ(Read(get).size(), 1u);
  EXPECT_EQ(Read(get)[0].value, "before");
}

TEST_P(StoreContract, ABatchAnswersForEachRow) {
  const auto row = [](const std::string& name, const std::string& family) {
    return RowMutations::Of(Put{.row = name, .cells = {{family, "q", 1, "v", std::nullopt}}});
  };
  const auto answers = store_->Batch(Caller::Superuser(), table_,
                                     {row("a", "f"), row("b", "nowhere"), row("c", "g")});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0].ok());
  EXPECT_EQ(answers[1].status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_TRUE(answers[2].ok());
  EXPECT_EQ(ScanRows(Scan{}, 10), (std::vector<std::string>{"a", "c"}));
}

TEST_P(StoreContract, LengthsOnlyLeavesOutValues) {
  ASSERT_TRUE(PutValue("r", "q", std::string(1000, 'x')).ok());
  Get get;
  get.row = "r";
  get.lengths_only = true;
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    const RowCells cells = Read(get);
    ASSERT_EQ(cells.size(), 1u);
    EXPECT_TRUE(cells[0].value.empty());
    EXPECT_EQ(cells[0].value_length, 1000u);
  }
  // A filter that makes a value of the length changes the length alone.
  get.filter = *MakeKeyOnlyFilter(/*length_as_value=*/true);
  const RowCells cells = Read(get);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_TRUE(cells[0].value.empty());
  EXPECT_EQ(cells[0].value_length, 4u);
}

TEST_P(LocalContract, AScanComesBackBetweenRowsThatItsFilterRefuses) {
  for (const char* row : {"a", "b", "c", "d"}) ASSERT_TRUE(PutValue(row, "q", "v").ok());
  Flush();
  ASSERT_TRUE(PutValue("e", "q", "wanted").ok());
  Scan scan;
  scan.filter = *ParseFilter("ValueFilter(=, 'binary:wanted')");
  const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, scan);
  ASSERT_TRUE(scanner.ok());
  const ScanBatch batch{.max_time = ScanBatch::Duration::zero()};
  std::vector<size_t> found;
  while (!(*scanner)->at_end()) {
    const auto rows = (*scanner)->Next(batch);
    ASSERT_TRUE(rows.ok());
    found.push_back(rows->size());
  }
  EXPECT_EQ(found, (std::vector<size_t>{0, 0, 0, 0, 1, 0}));
}

TEST_P(StoreContract, ARowInPiecesIsTheSameRow) {
  for (const char* row : {"a", "b", "c"}) {
    for (const char* qualifier : {"", "p", "q", "s"}) {
      for (const Timestamp version : {1, 2, 3, 4})
        ASSERT_TRUE(PutValue(row, qualifier, std::to_string(version), version).ok());
    }
    for (const char* qualifier : {"p", "z"})
      ASSERT_TRUE(Mutate(Put{.row = row, .cells = {{"g", qualifier, 5, "v", {}}}}).ok());
  }
  ASSERT_TRUE(Mutate(Delete{.row = "b", .markers = {{CellType::kDelete, "f", "q", 3},
                                                    {CellType::kDeleteColumn, "f", "s", 3},
                                                    {CellType::kDeleteFamily, "g", "", 5}}})
                  .ok());
  std::vector<Scan> scans(6);
  for (Scan& scan : scans) scan.max_versions = kAllVersions;
  scans[0].max_versions = 1;
  scans[1].reversed = true;
  scans[2].raw = true;
  scans[3].columns = {{"f", {"p", "s"}}, {"g", {}}};
  scans[4].limit = 2;
  scans[4].store_limit = 3;
  scans[5].start_row = scans[5].stop_row = "b";
  scans[5].include_stop_row = true;
  for (const char* filter :
       {"ColumnPaginationFilter(2, 1)", "FirstKeyOnlyFilter()", "PageFilter(1)",
        "ColumnPrefixFilter('s')", "ValueFilter(>=, 'binary:2')", "RowFilter(!=, 'binary:a')",
        "SingleColumnValueFilter('f', 'q', =, 'binary:4')", "KeyOnlyFilter()",
        "ColumnCountGetFilter(3)", "InclusiveStopFilter('b')", "DependentColumnFilter('f', 'q')"}) {
    Scan& scan = scans.emplace_back();
    scan.max_versions = kAllVersions;
    scan.filter = *ParseFilter(filter);
  }
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    for (size_t i = 0; i < scans.size(); ++i) {
      const RowCells whole = CellsOf(scans[i], {});
      for (const size_t bytes : {1, 600, 100000})
        EXPECT_EQ(CellsOf(scans[i], {.max_bytes = bytes, .partial_rows = true}), whole)
            << "scan " << i << ", bytes " << bytes;
    }
  }
}

// What is not offered is refused, and nothing is done.
TEST_P(StoreContract, WhatTheTraitsDoNotOfferIsRefused) {
  const StoreTraits& traits = store_->traits();
  const auto expect = [&](bool is_offered, const Status& status) {
    EXPECT_EQ(status.code() == StatusCode::kUnsupportedOperation, !is_offered)
        << status.ToString();
  };
  expect(traits.withdraws, WithdrawPut("q", 1));
  expect(traits.pins_moments, store_->PinMoment("").status());
  Put put{.row = "r", .cells = {{"f", "q", 7, "v", std::nullopt}}};
  put.stamping = Stamping::kAboveColumn;
  expect(traits.stamps_above_column, Mutate(put).status());
  put.stamping = Stamping::kReadable;
  expect(traits.checks_readable, Mutate(put).status());
  EXPECT_EQ(ReadRow("r").empty(), !traits.stamps_above_column && !traits.checks_readable);
}

TEST_P(StoreContract, ATableIsDescribedAsItWasMade) {
  TableSchema schema(ParseTableName("described"));
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("TTL", "1 DAYS").ok());
  ASSERT_TRUE(family.Set("mine", "x \'y\\").ok());
  schema.families.emplace("f", family);
  ASSERT_TRUE(schema.Set("OWNER", "me").ok());
  ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
  const auto described = store_->DescribeTable(schema.name());
  ASSERT_TRUE(described.ok()) << described.status().ToString();
  const FamilySchema& told = (*described)->families.at("f");
  EXPECT_EQ(told.Get("TTL"), "86400");
  EXPECT_EQ(told.Get("mine"), "x \'y\\");
  EXPECT_EQ((*described)->Get("OWNER"), "me");
}

TEST_P(StoreContract, WhatAFamilySaysOfWhatIsDeletedIsTold) {
  TableSchema schema(ParseTableName("keeps_deleted"));
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("KEEP_DELETED_CELLS", "TRUE").ok());
  schema.families.emplace("f", family);
  ASSERT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
  const auto described = store_->DescribeTable(schema.name());
  ASSERT_TRUE(described.ok()) << described.status().ToString();
  EXPECT_EQ((*described)->families.at("f").keep_deleted_cells(), KeepDeletedCells::kTrue);
}

TEST_P(StoreContract, ATableIsSplitWhereItSays) {
  TableSchema schema(ParseTableName("split"));
  schema.families.emplace("f", FamilySchema("f"));
  schema.split_keys = {"m", "d"};
  const Status created = store_->CreateTable(Caller::Superuser(), schema);
  if (!store_->traits().has_splits_and_quotas) {
    EXPECT_EQ(created.code(), StatusCode::kUnsupportedOperation);
    EXPECT_EQ(store_->SplitTable(Caller::Superuser(), table_, "p").code(),
              StatusCode::kUnsupportedOperation);
    return;
  }
  ASSERT_TRUE(created.ok()) << created.ToString();
  ASSERT_TRUE(store_->SplitTable(Caller::Superuser(), schema.name(), "p").ok());
  const auto described = store_->DescribeTable(schema.name());
  ASSERT_TRUE(described.ok()) << described.status().ToString();
  EXPECT_EQ((*described)->split_keys, (std::vector<std::string>{"d", "m", "p"}));
}

TEST_P(StoreContract, TablesGoThroughTheirLives) {
  const auto code = [](const Status& status) { return status.code(); };
  const Caller& me = Caller::Superuser();
  TableSchema again(table_);
  again.families.emplace("z", FamilySchema("z"));
  EXPECT_EQ(code(store_->CreateTable(me, again)), StatusCode::kTableExists);
  EXPECT_EQ(code(store_->DropTable(me, table_)), StatusCode::kTableNotDisabled);
  EXPECT_EQ(code(store_->EnableTable(me, table_)), StatusCode::kTableNotDisabled);
  EXPECT_EQ(code(store_->AddFamily(me, table_, FamilySchema("f"))),
            StatusCode::kInvalidFamilyOperation);
  EXPECT_EQ(code(store_->DropFamily(me, table_, "h")), StatusCode::kInvalidFamilyOperation);
  EXPECT_TRUE(store_->DropFamily(me, table_, "g").ok());
  EXPECT_EQ(code(store_->DropFamily(me, table_, "f")), StatusCode::kInvalidFamilyOperation);
  ASSERT_TRUE(PutValue("r", "q", "v").ok());
  ASSERT_TRUE(store_->DisableTable(me, table_).ok());
  EXPECT_FALSE(*store_->IsTableEnabled(table_));
  EXPECT_EQ(code(store_->DisableTable(me, table_)), StatusCode::kTableNotEnabled);
  EXPECT_EQ(PutValue("r", "q", "v").code(), StatusCode::kTableNotEnabled);
  ASSERT_TRUE(store_->TruncateTable(me, table_).ok());
  EXPECT_TRUE(*store_->IsTableEnabled(table_));
  EXPECT_TRUE(ReadRow("r").empty());
  ASSERT_TRUE(store_->RecreateTable(me, again).ok());
  EXPECT_EQ((*store_->DescribeTable(table_))->families.count("z"), 1u);
  ASSERT_TRUE(store_->DisableTable(me, table_).ok());
  ASSERT_TRUE(store_->DropTable(me, table_).ok());
  EXPECT_EQ(code(store_->DropTable(me, table_)), StatusCode::kTableNotFound);
  EXPECT_EQ(store_->IsTableEnabled(table_).status().code(), StatusCode::kTableNotFound);
}

TEST_P(StoreContract, NamespacesGoThroughTheirLives) {
  const Caller& me = Caller::Superuser();
  NamespaceSchema schema{.name = "contract", .properties = {{"a", "b"}}};
  if (!store_->traits().has_splits_and_quotas) {
    EXPECT_EQ(store_->CreateNamespace(me, schema).code(), StatusCode::kUnsupportedOperation);
    schema.properties.clear();
  }
  ASSERT_TRUE(store_->CreateNamespace(me, schema).ok());
  EXPECT_EQ(store_->CreateNamespace(me, schema).code(), StatusCode::kNamespaceExists);
  EXPECT_EQ(store_->DescribeNamespace("contract")->properties, schema.properties);
  TableSchema table({.namespace_name = "contract", .name = "t"});
  table.families.emplace("f", FamilySchema("f"));
  ASSERT_TRUE(store_->CreateTable(me, table).ok());
  EXPECT_EQ(*store_->ListTables("contract"), std::vector{table.name()});
  EXPECT_EQ(store_->DropNamespace(me, "contract").code(), StatusCode::kConstraint);
  const auto dropped = store_->DropEmptyTable(me, table.name());
  ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
  ASSERT_TRUE(store_->DropNamespace(me, "contract").ok());
  EXPECT_EQ(store_->ListTables("contract").status().code(), StatusCode::kNamespaceNotFound);
}

TEST_P(StoreContract, ACheckHoldsOrDoesNot) {
  ASSERT_TRUE(PutValue("r", "q", "v", 5).ok());
  const auto check = [&](std::variant<ColumnCondition, FilterPtr> condition) {
    const CheckAndMutate checked{
        .row = "r",
        .condition = std::move(condition),
        .time_range = {},
        .action = RowMutations::Of(Put{.row = "r", .cells = {{"f", "n", 9, "w", {}}}})};
    const auto done = store_->CheckAndMutate(Caller::Superuser(), table_, checked);
    EXPECT_TRUE(done.ok()) << done.status().ToString();
    return done.ok() && done->done;
  };
  using enum CompareOperator;
  EXPECT_FALSE(check(ColumnCondition{"f", "q", kEqual, "w"}));
  EXPECT_FALSE(check(ColumnCondition{"f", "q", kEqual, ""})) << "it is there";
  EXPECT_FALSE(check(*ParseFilter("ValueFilter(=, 'binary:w')")));
  EXPECT_EQ(ReadRow("r").size(), 1u);
  EXPECT_TRUE(check(ColumnCondition{"f", "q", kEqual, "v"}));
  EXPECT_TRUE(check(ColumnCondition{"f", "absent", kEqual, ""}));
  EXPECT_TRUE(check(*ParseFilter("ValueFilter(=, 'binary:v')")));
  EXPECT_EQ(ReadRow("r").size(), 2u);
}

// A reader's filter sees what he may see, and nothing else.
TEST_P(StoreContract, AFilterStandsBehindWhatMayBeSeen) {
  for (const char* row : {"a", "b", "c"}) {
    ASSERT_TRUE(PutValue(row, "p", "secret").ok());
    ASSERT_TRUE(PutValue(row, "q", "open").ok());
  }
  const auto may_see = [](const CellView& cell) { return cell.qualifier != "p"; };
  Scan scan;
  scan.filter = MakeVisibleCellsFilter(may_see, *ParseFilter("ValueFilter(=, 'binary:secret')"));
  EXPECT_TRUE(ScanRows(scan, 10).empty());
  scan.filter = MakeVisibleCellsFilter(may_see, *ParseFilter("PageFilter(2)"));
  EXPECT_EQ(ScanRows(scan, 10), (std::vector<std::string>{"a", "b"}));
  scan.reversed = true;
  EXPECT_EQ(ScanRows(scan, 1), (std::vector<std::string>{"c", "b"}));
}

TEST_P(StoreContract, ASpaceQuotaIsToldAsItWasSet) {
  if (!store_->traits().has_splits_and_quotas) GTEST_SKIP() << "it has none";
  const SpaceQuota quota{.limit = 1 << 20, .policy = SpaceViolationPolicy::kNoWrites};
  const Caller& me = Caller::Superuser();
  EXPECT_FALSE(store_->TableSpaceQuota(table_)->has_value());
  const Status set = store_->SetTableSpaceQuota(me, table_, quota);
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_EQ(*store_->TableSpaceQuota(table_), quota);
  ASSERT_TRUE(store_->SetTableSpaceQuota(me, table_, std::nullopt).ok());
  EXPECT_FALSE(store_->TableSpaceQuota(table_)->has_value());
}

TEST_P(StoreContract, RightsAreToldAsTheyWereGranted) {
  const Caller& me = Caller::Superuser();
  const auto rights_of = [&](const std::string& user) {
    std::string rights;
    for (const Grant& grant : *store_->ListGrants()) {
      if (grant.user != user) continue;
      const GrantScope& scope = grant.scope;
      rights += (scope.table ? scope.table->ToString() : "@" + scope.namespace_name) + "/" +
                scope.family + ":" + scope.qualifier.value_or("*") + "=" + grant.permissions + " ";
    }
    return rights;
  };
  const GrantScope everywhere;
  const GrantScope on_namespace{.namespace_name = "default"};
  const GrantScope on_table{.table = table_};
  const GrantScope on_column{.table = table_, .family = "f", .qualifier = "q"};
  const Status granted = store_->GrantPermissions(me, {"ada", on_table, "RW"}, true);
  if (granted.code() == StatusCode::kUnsupportedOperation) GTEST_SKIP() << granted.message();
  ASSERT_TRUE(granted.ok()) << granted.ToString();
  EXPECT_EQ(rights_of("ada"), "t/:*=RW ");
  ASSERT_TRUE(store_->GrantPermissions(me, {"ada", on_table, "X"}, true).ok());
  EXPECT_EQ(rights_of("ada"), "t/:*=RWX ");
  ASSERT_TRUE(store_->GrantPermissions(me, {"ada", on_table, "A"}, false).ok());
  EXPECT_EQ(rights_of("ada"), "t/:*=A ");
  ASSERT_TRUE(store_->GrantPermissions(me, {"bob", on_namespace, "C"}, true).ok());
  EXPECT_EQ(rights_of("bob"), "@default/:*=C ");
  ASSERT_TRUE(store_->GrantPermissions(me, {"eve", on_column, "R"}, true).ok());
  EXPECT_EQ(rights_of("eve"), "t/f:q=R ");
  ASSERT_TRUE(store_->GrantPermissions(me, {"max", everywhere, "R"}, true).ok());
  EXPECT_EQ(rights_of("max"), "@/:*=R ");
  const std::pair<std::string, GrantScope> all[] = {
      {"ada", on_table}, {"bob", on_namespace}, {"eve", on_column}, {"max", everywhere}};
  for (const auto& [user, scope] : all) {
    ASSERT_TRUE(store_->RevokePermissions(me, user, scope).ok());
    EXPECT_EQ(rights_of(user), "");
  }
}

TEST_P(StoreContract, AReadThatIsCancelledEnds) {
  ASSERT_TRUE(PutValue("r", "q", "v").ok());
  std::atomic<bool> cancelled{false};
  Get get;
  get.row = "r";
  get.cancelled = &cancelled;
  EXPECT_EQ(Read(get).size(), 1u);
  cancelled = true;
  EXPECT_EQ(store_->Read(Caller::Superuser(), table_, get).status().code(), StatusCode::kCancelled);
}

TEST_P(LocalContract, ACancelledScanEndsInTheMidstOfARowThatOutlastsItsBatch) {
  for (const char* row : {"r", "s"}) ASSERT_TRUE(PutValue(row, "q", "v").ok());
  const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, {});
  ASSERT_TRUE(scanner.ok());
  const std::atomic<bool> cancelled{true};
  const ScanBatch in_time{
      .max_rows = 1, .max_time = std::chrono::hours(1), .cancelled = &cancelled};
  EXPECT_EQ((*scanner)->Next(in_time)->size(), 1u);
  const ScanBatch too_late{.max_time = ScanBatch::Duration::zero(), .cancelled = &cancelled};
  EXPECT_EQ((*scanner)->Next(too_late).status().code(), StatusCode::kCancelled);
  EXPECT_EQ((*scanner)->Next({}).status().code(), StatusCode::kCancelled);
}

// What a store keeps whose files never change.
class FilesContract : public LocalContract {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(LocalContract::SetUp());
    FamilySchema family("n");
    ASSERT_TRUE(family.Set("NEW_VERSION_BEHAVIOR", "true").ok());
    ASSERT_TRUE(family.Set("TTL", "1").ok());
    ASSERT_TRUE(store_->AddFamily(Caller::Superuser(), table_, family).ok());
  }
};

TEST_P(FilesContract, APieceOfARowIsNoLongerThanIsAskedFor) {
  if (GetParam() == Kind::kMemory) GTEST_SKIP() << "it has all rows in memory anyway";
  for (const char* qualifier : {"a", "b", "c", "d"})
    ASSERT_TRUE(PutValue("r", qualifier, std::string(1000, 'v')).ok());
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, {});
    ASSERT_TRUE(scanner.ok());
    std::vector<size_t> sizes;
    while (!(*scanner)->at_end()) {
      const auto rows = (*scanner)->Next({.max_bytes = 2000, .partial_rows = true});
      ASSERT_TRUE(rows.ok());
      for (const RowCells& cells : *rows) sizes.push_back(cells.size());
    }
    EXPECT_EQ(sizes, (std::vector<size_t>{2, 2}));
  }
}

TEST_P(FilesContract, ARowInPiecesGoesOnOverWhatIsRewrittenMeanwhile) {
  for (const char* qualifier : {"a", "b", "c"}) {
    for (const Timestamp version : {1, 2, 3})
      ASSERT_TRUE(PutValue("r", qualifier, "v", version).ok());
  }
  Scan scan;
  scan.max_versions = 2;
  const auto scanner = store_->OpenScanner(Caller::Superuser(), table_, scan);
  ASSERT_TRUE(scanner.ok());
  std::string seen;
  while (!(*scanner)->at_end()) {
    const auto rows = (*scanner)->Next({.max_bytes = 1, .partial_rows = true});
    ASSERT_TRUE(rows.ok());
    for (const RowCells& cells : *rows) {
      for (const Cell& cell : cells) seen += cell.qualifier + std::to_string(cell.timestamp) + ' ';
    }
    Flush();
    Compact(CompactionKind::kMajor);
    ASSERT_TRUE(PutValue("r", "0", "before it", 1).ok());
  }
  EXPECT_EQ(seen, "a3 a2 b3 b2 c3 c2 ");
}

TEST_P(FilesContract, AMomentGoesOnSeeingWhatIsWithdrawn) {
  for (const bool flushed : {false, true}) {
    ASSERT_TRUE(PutValue("r", "q", "v", 1).ok());
    if (flushed) Flush();
    auto before = *store_->PinMoment("");
    ASSERT_TRUE(WithdrawPut("q", 1).ok());
    const auto after = *store_->PinMoment("");
    for (const bool rewritten : {false, true}) {
      if (rewritten) {
        Flush();
        Compact(CompactionKind::kMajor);
      }
      EXPECT_EQ(Stored(), "");
      EXPECT_EQ(Stored(before), "q1");
      EXPECT_EQ(Stored(after), "");
      Get get;
      get.row = "r";
      EXPECT_TRUE(Read(get).empty());
      get.moment = before;
      EXPECT_EQ(Read(get).size(), 1u);
    }
    before.reset();
    Compact(CompactionKind::kMinor);
    EXPECT_EQ(store_->GetStatistics().tables[0].file_bytes, 0u) << "no moment sees it";
  }
}

TEST_P(FilesContract, WhatIsWithdrawnAndWrittenAgainIsSeenByThoseWhoShould) {
  ASSERT_TRUE(PutValue("r", "q", "first", 1).ok());
  const auto first = *store_->PinMoment("");
  ASSERT_TRUE(WithdrawPut("q", 1).ok());
  const auto none = *store_->PinMoment("");
  ASSERT_TRUE(PutValue("r", "q", "second", 1).ok());
  Get get;
  get.row = "r";
  for (const bool rewritten : {false, true}) {
    if (rewritten) {
      Flush();
      Compact(CompactionKind::kMajor);
    }
    get.moment = first;
    ASSERT_EQ(Read(get).size(), 1u);
    EXPECT_EQ(Read(get)[0].value, "first");
    get.moment = none;
    EXPECT_EQ(Read(get).size(), 0u);
    get.moment = nullptr;
    ASSERT_EQ(Read(get).size(), 1u);
    EXPECT_EQ(Read(get)[0].value, "second");
  }
}

TEST_P(FilesContract, BesideAMomentARewriteGoesByTheRulesForWhatItDoesNotSee) {
  if (GetParam() == Kind::kLocal) GTEST_SKIP() << "it keeps the files that a moment sees instead";
  for (const Timestamp version : {1, 2}) ASSERT_TRUE(PutValue("r", "q", "v", version).ok());
  auto moment = *store_->PinMoment("");
  for (const Timestamp version : {3, 4, 5, 6}) ASSERT_TRUE(PutValue("r", "q", "v", version).ok());
  Flush();
  EXPECT_EQ(Stored(), "q6 q5 q4 q2 q1");
  ASSERT_TRUE(DeleteColumn("q", 5).ok());
  Flush();
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(Stored(), "q6 q5DeleteColumn q2 q1");
  EXPECT_EQ(Stored(moment), "q2 q1");
  moment.reset();
  Compact(CompactionKind::kMajor);
  EXPECT_EQ(Stored(), "q6");
}

TEST_P(FilesContract, AFileThatIsExpiredAsAWholeIsDropped) {
  const auto put = [&](const std::string& qualifier) {
    return Mutate(Put{.row = "r", .cells = {{"n", qualifier, kLatestTimestamp, "v", {}}}}).ok();
  };
  ASSERT_TRUE(put("p"));
  Flush();
  clock_->Advance(2000);
  ASSERT_TRUE(put("q"));
  Flush();
  EXPECT_EQ(Stored(), "p1000 q3000");
  Compact(CompactionKind::kMinor);
  EXPECT_EQ(Stored(), "q3000");
}

TEST_P(FilesContract, AnExpiredFileThatAMomentSeesStays) {
  ASSERT_TRUE(
      Mutate(Put{.row = "r", .cells = {{"n", "p", kLatestTimestamp, "v", std::nullopt}}}).ok());
  Flush();
  const auto moment = *store_->PinMoment("");
  clock_->Advance(2000);
  Compact(CompactionKind::kMinor);
  EXPECT_EQ(Stored(moment), "p1000");
}

INSTANTIATE_TEST_SUITE_P(Stores, FilesContract, testing::Values(Kind::kMemory, Kind::kLocal),
                         NameOfKind);
INSTANTIATE_TEST_SUITE_P(Stores, LocalContract, testing::Values(Kind::kMemory, Kind::kLocal),
                         NameOfKind);
INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(Kind::kMemory, Kind::kLocal, Kind::kCluster,
                                         Kind::kDatabase),
                         NameOfKind);

}  // namespace
}  // namespace cellfs
