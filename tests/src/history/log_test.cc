// SPDX-License-Identifier: MIT
#include "src/history/log.h"

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
