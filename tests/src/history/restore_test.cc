// SPDX-License-Identifier: MIT
#include "src/history/restore.h"

#include <functional>
#include <map>
#include <random>

#include "src/history/dropped_tables.h"
#include "src/history/stored_cells.h"
#include "tests/src/history/history_fixture.h"
#include "tests/src/history/random_steps.h"
#include "tests/support/remote_store.h"

namespace cellfs {
namespace {

class RestoreTest : public HistoryTest {
 protected:
  static std::string Run(HistoryStore& store, const Scope& scope, Timestamp time,
                         const RestoreOptions& options = {}) {
    std::string text;
    const HistoryAccess access = store.Access();
    const auto report = RestoreTo(access, scope, time, options, Telling(text));
    return Told(report, text);
  }
  static std::string RunUndelete(HistoryStore& store, const Scope& scope,
                                 const RestoreOptions& options = {}) {
    std::string text;
    const HistoryAccess access = store.Access();
    const auto report = Undelete(access, scope, options, Telling(text));
    return Told(report, text);
  }
  static OnChange Telling(std::string& text) {
    return [&text](Change&& change) {
      text += change.is_removed() ? "-" : change.is_added() ? "+" : "~";
      text += change.key().row + "/" + change.key().qualifier + " ";
      return true;
    };
  }
  static std::string Told(const StatusOr<RestoreReport>& report, const std::string& text) {
    if (!report.ok()) return std::string(CodeName(report.status().code()));
    if (!report->refused) return text;
    std::string refused = "refused " + std::to_string(report->unknown.columns.count);
    for (const ToldColumn& column : report->unknown.columns.first)
      refused += " " + column.row + "/" + column.qualifier.value_or("*");
    for (const auto& [key, of_family] : report->unknown.families)
      refused += "; " + of_family.reason;
    return refused;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, RestoreTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kLocal), NameOf);

TEST_P(RestoreTest, WhatDiffersIsPutAndWhatWasNotThereIsDeleted) {
  HistoryStore store(GetParam());
  store.PutAt(10, "changed", "old");
  store.PutAt(10, "removed", "gone");
  store.PutAt(10, "same", "same");
  store.PutAt(20, "added", "new");
  store.PutAt(20, "changed", "new");
  store.PutAt(20, "same", "same");
  store.DeleteAt(20, CellType::kDeleteColumn, "removed");
  EXPECT_EQ(Run(store, store.Table(), 15, {.dry_run = true}), "-r/added ~r/changed +r/removed ");
  EXPECT_EQ(store.LogText(store.Table(), {.since = 21}), "");
  EXPECT_EQ(Run(store, store.Table(), 15), "-r/added ~r/changed +r/removed ");
  EXPECT_EQ(store.Visible(), "changed@1000000=old removed@1000000=gone same@20=same ");
  EXPECT_EQ(Run(store, store.Table(), 15), "") << "a second one does nothing";
  store.clock->Advance(1000);
  EXPECT_EQ(Run(store, store.Table(), 999999), "+r/added ~r/changed -r/removed ");
  EXPECT_EQ(store.Visible(), "added@1001000=new changed@1001000=new same@20=same ");
}

TEST_P(RestoreTest, OnlyTheScopeIsRestored) {
  HistoryStore store(GetParam());
  for (const char* const row : {"r", "s"}) {
    for (const Timestamp time : {10, 20}) {
      store.PutAt(time, "p", std::to_string(time), row);
      store.PutAt(time, "q", std::to_string(time), row);
      store.PutAt(time, "q", std::to_string(time), row, "g");
    }
  }
  EXPECT_EQ(Run(store, store.Column("q"), 10), "~r/q ");
  EXPECT_EQ(Run(store, store.Row("s"), 10), "~s/p ~s/q ~s/q ");
  EXPECT_EQ(Run(store, {.table = store.table, .family = "g"}, 10), "~r/q ");
  EXPECT_EQ(store.StateText(store.Row(), std::nullopt),
            "p@20=20 q@1000000=10 g:q@1000000=10 ");
}

TEST_P(RestoreTest, ItsReaderStopsItBetweenRowsAndItGoesOn) {
  HistoryStore store(GetParam());
  for (const char* const row : {"a", "b", "c"})
    for (const Timestamp time : {10, 20}) store.PutAt(time, "q", std::to_string(time), row);
  int changes = 0;
  const HistoryAccess access = store.Access();
  const auto stopped =
      RestoreTo(access, store.Table(), 10, {}, [&](Change&&) { return ++changes < 2; });
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->rows, 2u);
  EXPECT_EQ(Run(store, store.Table(), 10), "~c/q ");
}

TEST_P(RestoreTest, WhatVersionsHavePushedOutCannotBeKnown) {
  HistoryStore store(GetParam(), {{"VERSIONS", "2"}, {"KEEP_DELETED_CELLS", "TRUE"}});
  store.PutAt(10, "q", "a");
  store.PutAt(10, "kept", "a");
  store.PutAt(30, "q", "b");
  store.PutAt(40, "q", "c");
  EXPECT_EQ(Run(store, store.Table(), 20, {.dry_run = true}), "~r/q ")
      << "nothing was flushed yet";
  store.Flush();
  EXPECT_EQ(Run(store, store.Table(), 20),
            "refused 1 r/q; family 'f': VERSIONS is 2, and so many newer versions have pushed out "
            "what may have been before them");
  EXPECT_EQ(Run(store, store.Column("kept"), 20), "");
  store.DeleteAt(50, CellType::kDeleteColumn, "kept");
  EXPECT_EQ(Run(store, store.Table(), 20, {.despite_unknown = true}), "+r/kept ");
}

TEST_P(RestoreTest, WhatADeleteHasNotKeptCannotBeKnown) {
  HistoryStore store(GetParam(), {{"VERSIONS", "5"}});
  store.PutAt(10, "q", "a");
  store.DeleteAt(30, CellType::kDeleteColumn, "q");
  EXPECT_EQ(Run(store, store.Table(), 20, {.dry_run = true}), "+r/q ") << "in the memstore it is";
  store.Flush();
  EXPECT_EQ(Run(store, store.Table(), 20),
            "refused 1 r/q; family 'f': KEEP_DELETED_CELLS is FALSE, so what was deleted since "
            "that time may have been removed for good");
}

TEST_P(RestoreTest, AfterACompactionDeletesLeaveNoTrace) {
  HistoryStore store(GetParam(), {{"VERSIONS", "5"}});
  store.PutAt(10, "p", "a");
  store.PutAt(10, "q", "a");
  store.clock->Set(2000000);
  store.DeleteAt(1500000, CellType::kDeleteColumn, "q");
  store.Flush();
  store.Compact();
  store.clock->Set(3000000);
  EXPECT_NE(Run(store, store.Row(), 1200000).find("refused"), std::string::npos);
  EXPECT_NE(Run(store, store.Column("q"), 1200000).find("refused"), std::string::npos);
  EXPECT_EQ(Run(store, store.Column("p"), 1200000), "") << "it is still there";
  EXPECT_EQ(Run(store, store.Column("p"), 2500000), "");
}

TEST_P(RestoreTest, DeletedCellsAreKeptForDeletedTtl) {
  HistoryStore store(GetParam(),
                     {{"VERSIONS", "5"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "100"}});
  store.PutAt(900000, "q", "a");
  store.DeleteAt(950000, CellType::kDeleteColumn, "q");
  store.PutAt(900000, "q", "a", "r", "g");
  store.Flush();
  store.Compact();
  EXPECT_EQ(Run(store, store.Table(), 940000, {.dry_run = true}), "+r/q ");
  store.clock->Set(1100000);
  store.Compact();
  EXPECT_NE(Run(store, store.Table(), 940000).find("deleted cells are kept for 100 seconds"),
            std::string::npos);
}

// By the schema that there is nothing has gone.
TEST_P(RestoreTest, WhatWentByASchemaThatKeptLessCannotBeKnown) {
  if (GetParam() == StoreKind::kMemory) GTEST_SKIP() << "it does not remember";
  const FamilyText wide = {{"VERSIONS", "9"}, {"KEEP_DELETED_CELLS", "TRUE"}};
  for (const FamilyText& narrow : std::vector<FamilyText>{
           {{"VERSIONS", "1"}, {"KEEP_DELETED_CELLS", "TRUE"}},
           {{"VERSIONS", "9"}, {"KEEP_DELETED_CELLS", "FALSE"}},
           {{"VERSIONS", "9"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "1"}}}) {
    HistoryStore store(GetParam(), wide);
    store.PutAt(10, "q", "a");
    store.PutAt(10, "kept", "a");
    store.DeleteAt(30, CellType::kDeleteColumn, "q");
    store.PutAt(40, "q", "b");
    store.Alter(narrow);
    store.Compact();
    store.Alter(wide);
    EXPECT_NE(Run(store, store.Table(), 20).find("its schema kept less until"), std::string::npos)
        << narrow.front().second;
    EXPECT_NE(Run(store, store.Column("q"), 20).find("refused 1 r/q"), std::string::npos);
    EXPECT_EQ(Run(store, store.Column("kept"), 20), "") << "nothing lies over it";
    EXPECT_EQ(Run(store, store.Table(), 45), "") << "all that is later is known";
  }
}

class EmptiedTest : public RestoreTest {
 protected:
  static constexpr char kThrownAway[] =
      "what it held before 1970-01-01T00:17:39.999Z was thrown away, by a truncate or a drop; what "
      "was dropped and is kept is in .deleted";
  static constexpr Timestamp kBefore = 1030000;
  static constexpr Timestamp kEmptied = 1060000;

  // Emptied at kEmptied, and put again a minute later.
  static void Empty(HistoryStore& store, const std::function<void()>& empty) {
    store.clock->Advance(kBefore - 1000000 - 1);
    store.PutAt(kLatestTimestamp, "q", "before");
    store.clock->Advance(kEmptied - store.clock->Now() - 1);
    empty();
    store.clock->Advance(60000);
    store.PutAt(kLatestTimestamp, "q", "after");
  }
  static void Make(HistoryStore& store, const FamilyText& families) {
    TableSchema schema(store.table);
    for (const auto& [name, versions] : families) {
      FamilySchema family(name);
      store.Ok(family.Set("VERSIONS", versions));
      schema.families.emplace(name, family);
    }
    store.Ok(store.store->CreateTable(Caller::Superuser(), schema));
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, EmptiedTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kLocal), NameOf);

TEST_P(EmptiedTest, WhatATruncateThrewAwayCannotBeKnown) {
  HistoryStore store(GetParam());
  Empty(store, [&] {
    store.Ok(store.store->DisableTable(Caller::Superuser(), store.table));
    store.Ok(store.store->TruncateTable(Caller::Superuser(), store.table));
  });
  EXPECT_EQ(Run(store, store.Column("q"), kBefore),
            std::string("refused 1 r/q; family 'f': ") + kThrownAway);
  EXPECT_EQ(Run(store, store.Table(), kBefore, {.despite_unknown = true}), "");
  EXPECT_EQ(store.DifferencesText(store.Table(), kBefore, std::nullopt), "")
      << "what it was is not known, so it is not new";
  EXPECT_EQ(store.DifferencesText(store.Table(), kEmptied, std::nullopt), "+q@1119999=after ");
  EXPECT_EQ(Run(store, store.Table(), kEmptied), "-r/q ") << "it was empty then";
}

TEST_P(EmptiedTest, WhatATableOfThatNameHeldCannotBeKnown) {
  HistoryStore store(GetParam());
  Empty(store, [&] {
    store.Ok(store.store->DisableTable(Caller::Superuser(), store.table));
    store.Ok(store.store->DropTable(Caller::Superuser(), store.table));
    Make(store, {{"f", "3"}});
  });
  EXPECT_EQ(Run(store, store.Table(), kBefore),
            std::string("refused 1 r/q; family 'f': ") + kThrownAway);
  EXPECT_EQ(Run(store, store.Table(), kEmptied), "-r/q ");
}

TEST_P(EmptiedTest, WhatFamiliesHeldThatANewTableDoesNotHaveCannotBeKnown) {
  HistoryStore store(GetParam());
  store.clock->Advance(kBefore - 1000000 - 1);
  store.PutAt(kLatestTimestamp, "q", "before");
  store.clock->Advance(kEmptied - store.clock->Now() - 1);
  store.Ok(store.store->DropFamily(Caller::Superuser(), store.table, "g"));
  store.Ok(store.store->DisableTable(Caller::Superuser(), store.table));
  store.Ok(store.store->DropTable(Caller::Superuser(), store.table));
  store.clock->Advance(60000);
  Make(store, {{"other", "3"}});
  EXPECT_EQ(Run(store, store.Table(), kBefore).substr(0, 7), "refused");
  EXPECT_EQ(Run(store, store.Table(), kEmptied), "") << "it was not there then";
  const HistoryAccess access = store.Access();
  for (const char* const family : {"f", "g"}) {
    const Scope scope{.table = store.table, .row = "r", .family = family};
    EXPECT_EQ(CheckIsNotDropped(access, nullptr, scope, kBefore, kBefore).code(),
              StatusCode::kUnavailable);
    EXPECT_EQ(CheckIsNotDropped(access, nullptr, scope, kEmptied, kEmptied).code(),
              StatusCode::kNoSuchColumnFamily);
  }
}

TEST_P(EmptiedTest, WhatADroppedFamilyHeldCannotBeKnown) {
  HistoryStore store(GetParam());
  store.PutAt(10, "kept", "kept", "r", "g");
  Empty(store, [&] {
    store.Ok(store.store->DropFamily(Caller::Superuser(), store.table, "f"));
    store.clock->Advance(1000);
    EXPECT_EQ(Run(store, store.Table(), kBefore),
              std::string("refused 0; family 'f': ") + kThrownAway)
        << "nor of one that is not there any more";
    store.Ok(store.store->AddFamily(Caller::Superuser(), store.table, FamilySchema("f")));
  });
  EXPECT_EQ(Run(store, store.Table(), kBefore),
            std::string("refused 1 r/q; family 'f': ") + kThrownAway);
  EXPECT_EQ(Run(store, {.table = store.table, .family = "g"}, kBefore), "");
}

TEST_P(EmptiedTest, WhenTheTableWasNotThereNothingWas) {
  HistoryStore store(GetParam());
  store.table = {"default", "late"};
  Make(store, {{"f", "3"}});
  store.PutAt(10, "q", "older than its table");
  store.clock->Advance(1000);
  store.Flush();
  store.Compact();
  EXPECT_EQ(store.StateText(store.Table(), 999999), "");
  EXPECT_EQ(store.DifferencesText(store.Table(), 999999, std::nullopt),
            "+q@10=older than its table ");
  EXPECT_EQ(store.StateText(store.Table(), 1000000), "q@10=older than its table ");
  EXPECT_EQ(Run(store, store.Table(), 999999), "-r/q ");
  EXPECT_EQ(store.Visible(), "");
}

TEST_P(EmptiedTest, BeforeTheFirstOfItsNameNothingWas) {
  HistoryStore store(GetParam());
  store.table = {"default", "late"};
  Make(store, {{"f", "3"}});
  store.PutAt(kLatestTimestamp, "q", "first");
  store.clock->Advance(1000);
  store.Ok(store.store->DisableTable(Caller::Superuser(), store.table));
  store.Ok(store.store->TruncateTable(Caller::Superuser(), store.table));
  store.clock->Advance(1000);
  store.PutAt(kLatestTimestamp, "q", "second");
  EXPECT_EQ(Run(store, store.Table(), 999999, {.dry_run = true}), "-r/q ");
  EXPECT_EQ(Run(store, store.Table(), 1000500, {.dry_run = true}).substr(0, 7), "refused");
  store.Ok(store.store->DisableTable(Caller::Superuser(), store.table));
  store.Ok(store.store->DropTable(Caller::Superuser(), store.table));
  store.clock->Advance(1000);
  Make(store, {{"f", "3"}});
  store.PutAt(kLatestTimestamp, "q", "third");
  EXPECT_EQ(Run(store, store.Table(), 999999, {.dry_run = true}), "-r/q ");
  EXPECT_EQ(Run(store, store.Table(), 1000500, {.dry_run = true}).substr(0, 7), "refused");
}

TEST_P(EmptiedTest, AFamilyThatHeldNothingLeavesNothingToKnow) {
  HistoryStore store(GetParam());
  Empty(store, [&] { store.Ok(store.store->DropFamily(Caller::Superuser(), store.table, "g")); });
  EXPECT_EQ(Run(store, store.Table(), kBefore), "~r/q ");
}

TEST_P(RestoreTest, WhatATtlHasEndedSinceIsKnownAndStaysEnded) {
  HistoryStore store(GetParam(), {{"VERSIONS", "5"}, {"TTL", "100"}});
  store.PutAt(1000000, "q", "a");
  store.Flush();
  store.clock->Set(1200000);
  store.PutAt(1200000, "q", "b");
  store.Flush();
  store.Compact();
  EXPECT_EQ(Run(store, store.Table(), 1050000), "-r/q ");
}

TEST_P(RestoreTest, AValueEndsWhenItWouldHave) {
  HistoryStore store(GetParam());
  Put put{.row = "r", .time_to_live = 5000};
  put.cells.push_back({"f", "q", 999000, "short"});
  store.Do(std::move(put));
  store.PutAt(999500, "q", "new");
  EXPECT_EQ(Run(store, store.Table(), 999400), "~r/q ");
  EXPECT_EQ(store.Visible(), "q@1000000=short ");
  store.clock->Set(1004001);
  EXPECT_EQ(store.Visible(), "q@999500=new ");
}

TEST_P(RestoreTest, ARowOfManyChangesIsRestoredInParts) {
  HistoryStore store(GetParam());
  if (GetParam() == StoreKind::kMemory) GTEST_SKIP() << "that store takes minutes for it";
  const size_t columns = kRestoreCells + 5;
  Put put{.row = "r"};
  for (size_t i = 0; i < columns; ++i) put.cells.push_back({"f", std::to_string(i), 20, "v"});
  store.Do(std::move(put));
  size_t mutations = 0;
  const HistoryAccess access = store.Access();
  RestoreOptions options;
  options.writer = [&](RowMutations& row) {
    ++mutations;
    return store.store->Mutate(Caller::Superuser(), store.table, row).status();
  };
  const auto report =
      RestoreTo(access, store.Table(), 10, options, [](Change&&) { return true; });
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->deletes, columns);
  EXPECT_EQ(report->rows, 1u);
  EXPECT_EQ(mutations, 2u);
  EXPECT_EQ(store.Visible(), "");
}

TEST_P(RestoreTest, TheFutureIsRefused) {
  HistoryStore store(GetParam());
  EXPECT_EQ(Run(store, store.Table(), 1000001), "IllegalArgument");
}

TEST_P(RestoreTest, UndeleteBringsBackWhatADeleteHides) {
  HistoryStore store(GetParam());
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.DeleteAt(30, CellType::kDeleteColumn, "q");
  store.PutAt(10, "older", "a");
  store.PutAt(20, "older", "b");
  store.DeleteAt(20, CellType::kDelete, "older");  // an older version shows
  store.PutAt(10, "", "empty", "s");
  store.PutAt(10, "p", "family", "s");
  store.PutAt(10, "p", "other family", "s", "g");
  store.DeleteAt(40, CellType::kDeleteFamily, "", "s");
  EXPECT_EQ(RunUndelete(store, store.Table(), {.dry_run = true}), "~r/older +r/q +s/ +s/p ");
  EXPECT_EQ(RunUndelete(store, store.Column("q")), "+r/q ");
  EXPECT_EQ(RunUndelete(store, store.Row("s")), "+s/ +s/p ");
  EXPECT_EQ(store.Visible(),
            "older@10=a q@1000000=b s/@1000000=empty s/p@1000000=family s/g:p@10=other family ");
  EXPECT_EQ(RunUndelete(store, store.Table()), "~r/older ");
  EXPECT_EQ(RunUndelete(store, store.Table()), "");
}

TEST_P(RestoreTest, UndeleteLeavesWhatWasPutAfterTheDelete) {
  HistoryStore store(GetParam());
  store.PutAt(20, "q", "b");
  store.DeleteAt(20, CellType::kDelete, "q");
  store.PutAt(10, "q", "a");
  EXPECT_EQ(RunUndelete(store, store.Table()), "");
  EXPECT_EQ(store.Visible(), "q@10=a ");
}

TEST_P(RestoreTest, WhenAVersionWasDeletedIsNotKept) {
  HistoryStore store(GetParam());
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.PutAt(10, "other", "a");
  store.PutAt(50, "other", "b");
  store.DeleteAt(20, CellType::kDelete, "q");
  EXPECT_EQ(Run(store, store.Row(), 40),
            "refused 1 r/q; family 'f': a version was deleted by its timestamp, and whether before "
            "that time or after, is not kept");
  EXPECT_EQ(Run(store, store.Row(), 15, {.dry_run = true}), "~r/other ");
  EXPECT_EQ(Run(store, store.Row(), 40, {.despite_unknown = true}), "~r/other ");
}

TEST_P(RestoreTest, OfAFamilysVersionThatIsNotKeptNoColumnIsKnown) {
  HistoryStore store(GetParam(), {{"VERSIONS", "5"}});
  store.PutAt(10, "q", "a");
  store.DeleteAt(20, CellType::kDeleteFamilyVersion);
  store.Flush();
  EXPECT_EQ(Run(store, store.Row(), 40).substr(0, 18), "refused 2 r/q r/*;");
  EXPECT_EQ(Run(store, store.Column("gone"), 40).substr(0, 17), "refused 1 r/gone;");
  EXPECT_EQ(Run(store, store.Row(), 19), "");
}

TEST_P(RestoreTest, CancelledItChangesNothing) {
  HistoryStore store(GetParam());
  for (const Timestamp time : {10, 20}) store.PutAt(time, "q", std::to_string(time));
  const std::atomic<bool> cancelled = true;
  const HistoryAccess access{*store.store, Caller::Superuser(), *store.clock, &cancelled};
  const auto report = RestoreTo(access, store.Table(), 10, {}, [](Change&&) { return true; });
  EXPECT_EQ(report.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(store.Visible(), "q@20=20 ");
}

// A cluster neither stamps above a column nor pins a moment.
TEST(RestoreRemoteTest, AStoreWithHBasesLetterIsRestoredToo) {
  HistoryStore store(StoreKind::kMemory);
  store.PutAt(10, "changed", "old");
  store.PutAt(10, "removed", "gone");
  store.PutAt(20, "added", "new");
  store.PutAt(20, "changed", "new");
  store.DeleteAt(20, CellType::kDeleteFamily, "", "s");
  store.DeleteAt(1000000, CellType::kDeleteColumn, "removed");
  RemoteStore remote(std::move(store.store));
  const HistoryAccess access{remote, Caller::Superuser(), *store.clock};
  const auto ignore = [](Change&&) { return true; };
  const auto report = RestoreTo(access, store.Table(), 15, {}, ignore);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_FALSE(report->refused);
  EXPECT_EQ(report->puts, 2u);
  EXPECT_EQ(report->deletes, 1u);
  EXPECT_EQ(remote.mutations(), 1) << "a row is one mutation";
  std::string state;
  HistoryStore::Ok(ReadState(access, store.Table(), std::nullopt, ValueDetail::kValues,
                             [&](Cell&& cell) {
                               state += TextOf(cell) + " ";
                               return true;
                             }));
  EXPECT_EQ(state, "changed@1000000=old removed@1000001=gone ");
}

// ---- Against stores that were written up to the time only ---------------------------------------

using Values = std::map<std::string, std::string>;

Values VisibleValues(HistoryStore& store) {
  Values values;
  Scan scan;
  auto scanner = store.store->OpenScanner(Caller::Superuser(), store.table, scan);
  EXPECT_TRUE(scanner.ok());
  while (true) {
    auto rows = (*scanner)->Next({});
    EXPECT_TRUE(rows.ok());
    if (rows->empty()) return values;
    for (const RowCells& cells : *rows)
      for (const Cell& cell : cells)
        values[cell.row + "/" + cell.family + ":" + cell.qualifier] = cell.value;
  }
}

const std::vector<FamilyText>& Families() {
  static const std::vector<FamilyText> families = {
      {{"VERSIONS", "100"}, {"KEEP_DELETED_CELLS", "TRUE"}},
      {{"VERSIONS", "3"}, {"KEEP_DELETED_CELLS", "TRUE"}},
      {{"VERSIONS", "3"}, {"KEEP_DELETED_CELLS", "TRUE"}, {"DELETED_TTL", "5"}},
      {{"VERSIONS", "3"}, {"KEEP_DELETED_CELLS", "TTL"}, {"TTL", "5"}},
      {{"VERSIONS", "2"}},
      {{"VERSIONS", "2"}, {"TTL", "6"}},
      {{"VERSIONS", "3"}, {"TTL", "4"}, {"MIN_VERSIONS", "1"}, {"KEEP_DELETED_CELLS", "TRUE"}},
      {{"VERSIONS", "2"}, {"NEW_VERSION_BEHAVIOR", "true"}},
  };
  return families;
}

// Each write has the time of its writing, but for deletes of versions, so that what a reader saw is
// known (of those a compaction leaves no trace). Where the restore is
// not refused the store shows what one shows that was never written further, flushed or compacted.
void CheckRandomRestore(unsigned seed, StoreKind kind, std::map<size_t, int>& restored) {
  RandomSteps steps(seed);
  const size_t which = seed % Families().size();
  const bool deletes_versions = seed / Families().size() % 2 == 1;
  HistoryStore store(kind, Families()[which]);
  struct Written {
    Step step;
    Timestamp when;
  };
  std::vector<Written> written;
  Timestamp now = 0;
  for (int i = steps.Number(5, 40); i > 0; --i) {
    now += 500;
    store.clock->Set(now);
    Step step = steps.Any();
    if (IsVersionTombstone(step.cell.type) && !deletes_versions) step.cell.type = CellType::kPut;
    step.cell.timestamp = now;
    if (IsVersionTombstone(step.cell.type))
      step.cell.timestamp = std::max<Timestamp>(0, now - 500 * steps.Number(0, 5));
    Write(step, store);
    written.push_back({step, now});
    const int maintenance = steps.Number(0, 19);
    if (maintenance <= 1) store.Flush();
    if (maintenance == 2 && !deletes_versions) store.Compact();
  }
  store.clock->Set(now += 250);
  const Timestamp time = std::max<Timestamp>(0, now - 500 * steps.Number(0, 20));
  HistoryStore past(StoreKind::kMemory, Families()[which]);
  for (const auto& [step, when] : written)
    if (when <= time) Write(step, past);
  past.clock->Set(now);
  const HistoryAccess access = store.Access();
  const auto ignore = [](Change&&) { return true; };
  const auto report = RestoreTo(access, store.Table(), time, {}, ignore);
  ASSERT_TRUE(report.ok()) << report.status().ToString() << " seed " << seed;
  if (report->refused) return;
  ++restored[which];
  ASSERT_EQ(VisibleValues(store), VisibleValues(past)) << "seed " << seed << " time " << time;
  const auto again = RestoreTo(access, store.Table(), time, {.despite_unknown = true}, ignore);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->puts + again->deletes, 0u) << "seed " << seed;
}

TEST(RestoreProperty, WhatIsNotRefusedIsRestored) {
  std::map<size_t, int> restored;
  for (unsigned seed = 0; seed < 800; ++seed) {
    CheckRandomRestore(seed, StoreKind::kMemory, restored);
    if (testing::Test::HasFatalFailure()) return;
  }
  for (size_t which = 0; which < Families().size(); ++which)
    EXPECT_GT(restored[which], 5) << "family " << which;
}

TEST(RestoreProperty, WhatIsNotRefusedIsRestoredFromFiles) {
  std::map<size_t, int> restored;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CheckRandomRestore(seed, StoreKind::kLocal, restored);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cellfs
