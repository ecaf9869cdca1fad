// SPDX-License-Identifier: MIT
#include "src/history/log.h"

#include "engine/forwarding_store.h"
#include "src/history/stored_cells.h"
#include "tests/src/history/history_fixture.h"

namespace cellfs {
namespace {

class LogTest : public HistoryTest {
 protected:
  HistoryStore store_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Stores, LogTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kLocal), NameOf);

TEST_P(LogTest, NewestComeFirstOverTheWholeTable) {
  store_.PutAt(10, "q", "a");
  store_.PutAt(30, "q", "c", "s");
  store_.PutAt(20, "p", "b");
  store_.DeleteAt(25, CellType::kDeleteColumn, "q");
  EXPECT_EQ(store_.LogText(store_.Table()), "s/q@30=c q@25/DeleteColumn p@20=b q@10=a ");
  EXPECT_EQ(store_.LogText(store_.Table(), {.limit = 2}), "s/q@30=c q@25/DeleteColumn ");
}

TEST_P(LogTest, OfOneTimestampTheLastWrittenComesFirst) {
  store_.PutAt(10, "b", "1");
  store_.PutAt(10, "c", "2");
  store_.PutAt(10, "a", "3");
  EXPECT_EQ(store_.LogText(store_.Table()), "a@10=3 c@10=2 b@10=1 ");
}

TEST_P(LogTest, WithoutLimitAllComeInTheOrderOfTheStore) {
  store_.PutAt(10, "q", "a");
  store_.PutAt(20, "q", "b");
  store_.PutAt(5, "p", "c");
  EXPECT_EQ(store_.LogText(store_.Table(), {.limit = 0}), "p@5=c q@20=b q@10=a ");
}

TEST_P(LogTest, AColumnHasItsFamilysDeletesToo) {
  store_.PutAt(10, "", "empty");
  store_.PutAt(10, "p", "other");
  store_.PutAt(10, "q", "mine");
  store_.PutAt(10, "r", "another");
  store_.DeleteAt(20, CellType::kDeleteFamily);
  store_.DeleteAt(5, CellType::kDeleteFamilyVersion);
  EXPECT_EQ(store_.LogText(store_.Column("q")),
            "@20/DeleteFamily q@10=mine @5/DeleteFamilyVersion ");
  EXPECT_EQ(store_.LogText(store_.Column("")),
            "@20/DeleteFamily @10=empty @5/DeleteFamilyVersion ");
}

TEST_P(LogTest, TimesAreIncluded) {
  for (const Timestamp time : {10, 20, 30, 40}) store_.PutAt(time, "q", "v");
  EXPECT_EQ(store_.LogText(store_.Table(), {.since = 20, .until = 30}), "q@30=v q@20=v ");
  EXPECT_EQ(store_.LogText(store_.Table(), {.since = 31, .until = 30}), "");
}

TEST(LogFilesTest, FilesOutsideTheTimesAreNotRead) {
  HistoryStore store(StoreKind::kLocal);
  for (int i = 0; i < 10; ++i) {
    store.PutAt(1000 * i, "q", "v");
    store.Flush();
  }
  // Without values: for one the files are asked that may have its row and are no newer.
  std::vector<Timestamp> seen;
  const HistoryAccess access = store.Access();
  const auto log = [&](const LogOptions& options) {
    seen.clear();
    EXPECT_TRUE(ReadLog(access, store.Table(), options, [&](Event&& event) {
                  seen.push_back(event.cell.timestamp);
                  return true;
                }).ok());
    return seen;
  };
  EXPECT_EQ(store.OpenFiles(), 0);
  EXPECT_EQ(log({.since = 9000}), std::vector<Timestamp>{9000});
  EXPECT_EQ(store.OpenFiles(), 1);
  EXPECT_EQ(log({.since = 6000, .until = 7500}), (std::vector<Timestamp>{7000, 6000}));
  EXPECT_EQ(store.OpenFiles(), 3);
  EXPECT_EQ(store.StateText(store.Table(), 500), "q@0=v ");
  EXPECT_EQ(store.OpenFiles(), 4);
}

TEST_P(LogTest, TheValueBeforeIsWhatAReaderSaw) {
  store_.PutAt(10, "q", "a");
  store_.PutAt(20, "q", "b");
  store_.DeleteAt(30, CellType::kDeleteColumn, "q");
  store_.PutAt(40, "q", "c");
  store_.DeleteAt(40, CellType::kDelete, "q");
  EXPECT_EQ(store_.LogText(store_.Row(), {.with_before = true}),
            "q@40/Delete(q@40=c) q@40=c q@30/DeleteColumn(q@20=b) q@20=b(q@10=a) q@10=a ");
}

TEST_P(LogTest, WhatWasWithdrawnDidNotHappen) {
  store_.PutAt(10, "q", "a");
  store_.PutAt(20, "q", "b");
  store_.Do(Withdraw{.row = "r", .cells = {{"f", "q", 20, CellType::kPut}}});
  EXPECT_EQ(store_.LogText(store_.Table()), "q@10=a ");
}

TEST_P(LogTest, ALongRowIsReadInPieces) {
  const size_t columns = 2 * kHistoryPiece + 10;
  Put put{.row = "r"};
  for (size_t i = 0; i < columns; ++i)
    put.cells.push_back({"f", "q" + std::to_string(10000 + i), static_cast<Timestamp>(i + 1), "v"});
  put.cells.push_back({"g", "q", 5, "w"});
  store_.Do(std::move(put));
  for (size_t i = 0; i < columns; ++i)
    store_.PutAt(static_cast<Timestamp>(100000 + i), "q10500", "version");
  size_t events = 0;
  std::string last;
  const HistoryAccess access = store_.Access();
  HistoryStore::Ok(ReadLog(access, store_.Table(), {.limit = 0}, [&](Event&& event) {
    ++events;
    last = event.cell.family;
    return true;
  }));
  EXPECT_EQ(events, 2 * columns + 1);
  EXPECT_EQ(last, "g");
  EXPECT_EQ(store_.LogText(store_.Table(), {.limit = 1}),
            "q10500@" + std::to_string(100000 + columns - 1) + "=version ");
}

class CountingScanner : public Scanner {
 public:
  CountingScanner(std::unique_ptr<Scanner> scanner, size_t& cells)
      : scanner_(std::move(scanner)), cells_(cells) {}
  StatusOr<std::vector<RowCells>> Next(const ScanBatch& batch) override {
    auto rows = scanner_->Next(batch);
    if (rows.ok())
      for (const RowCells& row : *rows) cells_ += row.size();
    return rows;
  }
  bool at_end() const override { return scanner_->at_end(); }

 private:
  const std::unique_ptr<Scanner> scanner_;
  size_t& cells_;
};

class CountingStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    CELLFS_ASSIGN_OR_RETURN(auto opened, ForwardingStore::OpenScanner(caller, table, scan));
    return std::unique_ptr<Scanner>(std::make_unique<CountingScanner>(std::move(opened), cells));
  }
  size_t cells = 0;
};

TEST_P(LogTest, WhatWasBeforeAVersionIsAFewCellsAway) {
  constexpr size_t kVersions = 1500;
  HistoryStore store(GetParam(), {{"VERSIONS", "10000"}});
  for (size_t i = 1; i <= kVersions; ++i)
    store.PutAt(static_cast<Timestamp>(i), "q", std::to_string(i));
  store.Flush();
  CountingStore counting(std::move(store.store));
  const HistoryAccess access{counting, Caller::Superuser(), *store.clock};
  size_t events = 0;
  HistoryStore::Ok(ReadLog(
      access, store.Column("q"),
      {.limit = 0, .detail = ValueDetail::kValues, .with_before = true}, [&](Event&& event) {
        ++events;
        EXPECT_EQ(event.before.has_value(), event.cell.timestamp > 1);
        return true;
      }));
  EXPECT_EQ(events, kVersions);
  EXPECT_LT(counting.cells, 20 * kVersions);
}

TEST_P(LogTest, ItsReaderCanStopIt) {
  store_.PutAt(10, "q", "a");
  store_.PutAt(20, "q", "b");
  int events = 0;
  const HistoryAccess access = store_.Access();
  HistoryStore::Ok(ReadLog(access, store_.Table(), {}, [&](Event&&) { return ++events < 1; }));
  EXPECT_EQ(events, 1);
}

TEST_P(LogTest, CancelledItEnds) {
  store_.PutAt(10, "q", "a");
  const std::atomic<bool> cancelled = true;
  HistoryAccess access = store_.Access();
  const HistoryAccess stopped{access.store, access.caller, access.clock, &cancelled};
  const Status status = ReadLog(stopped, store_.Table(), {}, [](Event&&) { return true; });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST_P(LogTest, AMissingTableOrFamilyIsAnError) {
  const HistoryAccess access = store_.Access();
  const auto code = [&](const Scope& scope) {
    return ReadLog(access, scope, {}, [](Event&&) { return true; }).code();
  };
  EXPECT_EQ(code({.table = {.name = "none"}}), StatusCode::kTableNotFound);
  EXPECT_EQ(code({.table = store_.table, .family = "none"}), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(code({.table = store_.table, .qualifier = "q"}), StatusCode::kIllegalArgument);
}

}  // namespace
}  // namespace cellfs
