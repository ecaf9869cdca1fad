// SPDX-License-Identifier: MIT
#include "fs/store/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/filters.h"
#include "engine/forwarding_store.h"
#include "engine/open.h"
#include "tests/fs/names.h"
#include "tests/support/temporary_directory.h"

namespace cellfs::fs {
namespace {

// Counts what a client would send.
class CountedStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  StatusOr<RowCells> Read(const Caller& caller, const TableName& table, const Get& get) override {
    ++calls;
    return ForwardingStore::Read(caller, table, get);
  }
  StatusOr<std::unique_ptr<Scanner>> OpenScanner(const Caller& caller, const TableName& table,
                                                 const Scan& scan) override {
    ++calls;
    if (scan.limit > 2000) ++large_scans;
    auto scanner = ForwardingStore::OpenScanner(caller, table, scan);
    if (after_opening) std::exchange(after_opening, {})();
    return scanner;
  }

  int calls = 0;
  int large_scans = 0;
  std::function<void()> after_opening;  // once
};

std::string Numbered(const std::string& prefix, int number) {
  return prefix + std::to_string(100000 + number);
}

class ReadAheadTest : public ::testing::Test {
 protected:
  ReadAheadTest() : store_(*OpenLocalStore(directory_.path() + "/store", {})) {
    TableSchema schema(kTable);
    for (const char* family : {"f", "g"}) schema.families.emplace(family, FamilySchema(family));
    EXPECT_TRUE(store_.CreateTable(me_, schema).ok());
  }

  void PutCell(const std::string& row, const std::string& family, const std::string& qualifier,
               size_t size = 3, Timestamp timestamp = kLatestTimestamp) {
    const Put put{.row = row,
                  .cells = {{family, qualifier, timestamp, std::string(size, 'v'), {}}}};
    EXPECT_TRUE(store_.Mutate(me_, kTable, RowMutations::Of(put)).ok());
  }

  static Get Of(const std::string& row, const std::string& family = "",
                const std::optional<std::string>& qualifier = {}, bool lengths_only = true) {
    Get get;
    get.row = row;
    get.lengths_only = lengths_only;
    if (!family.empty()) get.columns[family];
    if (qualifier) get.columns[family].insert(*qualifier);
    return get;
  }

  static std::string TextOf(const RowCells& cells) {
    std::string text;
    for (const Cell& cell : cells) {
      text += cell.row + " " + cell.family + ":" + cell.qualifier + " " + cell.value + " " +
              std::to_string(cell.value_length) + "\n";
    }
    return text;
  }

  std::string Ahead(const Get& get) {
    const auto cells = ahead_.Read(me_, kTable, get);
    return cells.ok() ? TextOf(*cells) : cells.status().ToString();
  }
  std::string Direct(const Get& get) {
    const auto cells = store_.ForwardingStore::Read(me_, kTable, get);
    return cells.ok() ? TextOf(*cells) : cells.status().ToString();
  }

  TemporaryDirectory directory_;
  const Caller& me_ = Caller::Superuser();
  CountedStore store_;
  ManualClock clock_{1'000'000};
  const StoreTraits traits_{.has_other_writers = true, .max_staleness_ms = 1000};
  const Freshness freshness_{traits_, clock_};
  ReadAhead ahead_{store_, freshness_};
};

TEST_F(ReadAheadTest, WalkOfRowsAsksSeldom) {
  for (int i = 0; i < 10000; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 10000; ++i) {
    const std::string row = Numbered("r", i);
    for (const Get& get : {Of(row), Of(row, "f"), Of(row, "f", "q")})
      ASSERT_EQ(Ahead(get), row + " f:q  3\n");
  }
  EXPECT_LE(store_.calls, 60);
}

// Of what was read in this millisecond too: another client may have changed it within that.
TEST_F(ReadAheadTest, WhereNothingMayBeOldNothingIsKept) {
  const Freshness none({.has_other_writers = true, .max_staleness_ms = 0}, clock_);
  EXPECT_FALSE(none.IsFresh(none.Now()));
  ReadAhead ahead(store_, none);
  for (int i = 0; i < 100; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(ahead.Read(me_, kTable, Of(Numbered("r", i))).ok());
  EXPECT_EQ(store_.calls, 100) << "and nothing is asked for in vain";
}

TEST_F(ReadAheadTest, ReadingTheColumnsOfARowAsksSeldom) {
  for (int i = 0; i < 1000; ++i) PutCell("r", "f", Numbered("q", i), 100);
  for (int i = 0; i < 1000; ++i) {
    const Get get = Of("r", "f", Numbered("q", i), /*lengths_only=*/false);
    ASSERT_EQ(Ahead(get), Direct(get));
  }
  EXPECT_LE(store_.calls, 15);
}

// The look-up of a row or family: whether there is something in it.
Get LookAt(Get directory) {
  directory.store_limit = 1;
  return directory;
}

// A look-up of each part of its path, and the opening of what that has found.
TEST_F(ReadAheadTest, WhoLooksAtAShortRowIsToldOfItsNamesAsWell) {
  PutCell("r", "f", "p");
  PutCell("r", "f", "q");
  PutCell("r", "g", "q");
  for (int i = 0; i < 2; ++i) {
    const int calls = store_.calls;
    ASSERT_EQ(Ahead(LookAt(Of("r"))), "r f:p  3\nr g:q  3\n");
    for (const Get& get : {LookAt(Of("r", "f")), Of("r", "f", "q"), Of("r", "f", "q"),
                           Of("r", "g", "q"), Of("r", "f", "none")})
      ASSERT_EQ(Ahead(get), Direct(get));
    EXPECT_EQ(store_.calls, calls + 1) << "who looks at the row again wants to see it";
  }
  const int calls = store_.calls;
  ASSERT_EQ(Ahead(Of("r", "f", "q")), "r f:q  3\n");
  EXPECT_EQ(store_.calls, calls + 1) << "another look at the same name";
}

TEST_F(ReadAheadTest, OfAShortFamilyLikewise) {
  PutCell("r", "f", "q");
  PutCell("r", "g", "q");
  ASSERT_EQ(Ahead(LookAt(Of("r", "f"))), "r f:q  3\n");
  ASSERT_EQ(Ahead(Of("r", "f", "q")), "r f:q  3\n");
  EXPECT_EQ(store_.calls, 1);
  ASSERT_EQ(Ahead(Of("r", "g", "q")), "r g:q  3\n");
  EXPECT_EQ(store_.calls, 2);
}

TEST_F(ReadAheadTest, OfALongRowEachNameIsAskedFor) {
  for (int i = 0; i < 16; ++i) PutCell("r", "f", Numbered("q", i));
  ASSERT_EQ(Ahead(LookAt(Of("r"))), "r f:q100000  3\n");
  ASSERT_EQ(Ahead(Of("r", "f", "q100015")), "r f:q100015  3\n");
  EXPECT_EQ(store_.calls, 2);
}

TEST_F(ReadAheadTest, WhatIsKnownOfAShortRowGoesWithAChangeAndWithTime) {
  PutCell("r", "f", "q");
  const auto look = [&] { return Ahead(Of("r", "f", "q")); };
  ASSERT_EQ(Ahead(LookAt(Of("r"))), "r f:q  3\n");
  PutCell("r", "f", "q", 7);
  ahead_.Forget(kTable, RowMutations::Of(Put{.row = "r", .cells = {{"f", "q"}}}));
  EXPECT_EQ(look(), "r f:q  7\n");
  ASSERT_EQ(Ahead(LookAt(Of("r"))), "r f:q  7\n");
  PutCell("r", "f", "q", 8);  // by another client
  clock_.Advance(500);
  EXPECT_EQ(look(), "r f:q  8\n");
}

// Each goes through a part of the table, and they take turns.
TEST_F(ReadAheadTest, ManyReadersSideBySideAskSeldom) {
  constexpr int kReaders = 16;
  constexpr int kRowsEach = 62;
  for (int i = 0; i < kReaders * kRowsEach; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < kRowsEach; ++i) {
    for (int reader = 0; reader < kReaders; ++reader) {
      const std::string row = Numbered("r", reader * kRowsEach + i);
      for (const Get& get : {Of(row), Of(row, "f"), Of(row, "f", "q")})
        ASSERT_EQ(Ahead(get), row + " f:q  3\n");
      const Get value = Of(row, "f", "q", /*lengths_only=*/false);
      ASSERT_EQ(Ahead(value), Direct(value));
    }
  }
  EXPECT_LE(store_.calls, kReaders * 9);
}

// A reader goes on with what was brought for him though others read elsewhere meanwhile.
TEST_F(ReadAheadTest, WhoReadsHereAndThereDoesNotDisturbWhoGoesOn) {
  for (int i = 0; i < 2000; ++i) PutCell(Numbered("r", i), "f", "q");
  std::mt19937 random(3);
  int others = 0;
  for (int i = 0; i < 1000; ++i) {
    const Get get = Of(Numbered("r", i));
    ASSERT_EQ(Ahead(get), Direct(get));
    if (i % 5 != 0) continue;
    const Get other = Of(Numbered("r", 1000 + static_cast<int>(random() % 1000)));
    ASSERT_EQ(Ahead(other), Direct(other));
    ++others;
  }
  EXPECT_LE(store_.calls - others, 20);
}

// Files that are written one after the other: of the rows behind nothing is forgotten.
TEST_F(ReadAheadTest, WhoChangesRowAfterRowAsksSeldom) {
  for (int i = 0; i < 1000; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 1000; ++i) {
    const std::string row = Numbered("r", i);
    for (const Get& get : {Of(row), Of(row, "f"), Of(row, "f", "q")})
      ASSERT_EQ(Ahead(get), Direct(get));
    PutCell(row, "f", "q", 5);
    ahead_.Forget(kTable, row);
  }
  EXPECT_LE(store_.calls, 15);
}

TEST_F(ReadAheadTest, OfARowOnlyTheColumnsThatWereChangedAreForgotten) {
  for (int i = 0; i < 100; ++i) PutCell("r", "f", Numbered("q", i));
  const auto value_of = [](int number) {
    return Of("r", "f", Numbered("q", number), /*lengths_only=*/false);
  };
  for (int i = 0; i < 10; ++i) Ahead(value_of(i));
  const int asked = store_.calls;
  const Put put{.row = "r", .cells = {{"f", Numbered("q", 11), kLatestTimestamp, "new", {}}}};
  ASSERT_TRUE(store_.Mutate(me_, kTable, RowMutations::Of(put)).ok());
  ahead_.Forget(kTable, RowMutations::Of(put));
  for (int i = 10; i < 15; ++i) EXPECT_EQ(Ahead(value_of(i)), Direct(value_of(i)));
  EXPECT_EQ(store_.calls, asked + 1);
  Delete family{.row = "r", .markers = {{CellType::kDeleteFamily, "f", ""}}};
  ASSERT_TRUE(store_.Mutate(me_, kTable, RowMutations::Of(family)).ok());
  ahead_.Forget(kTable, RowMutations::Of(family));
  EXPECT_EQ(Ahead(value_of(14)), "");
}

// The change comes after the store was asked and before the answer is here.
TEST_F(ReadAheadTest, WhatIsChangedWhileItIsBroughtIsSeen) {
  for (int i = 0; i < 30; ++i) PutCell(Numbered("r", i), "f", "q");
  Ahead(Of(Numbered("r", 0)));
  const Get changed = Of(Numbered("r", 5));
  store_.after_opening = [&] { ahead_.Forget(kTable, changed.row); };
  Ahead(Of(Numbered("r", 1)));
  PutCell(changed.row, "f", "another");
  EXPECT_EQ(Ahead(changed), Direct(changed));
  const int asked = store_.calls;
  Ahead(Of(Numbered("r", 6)));
  EXPECT_EQ(store_.calls, asked);
}

TEST_F(ReadAheadTest, OfATableThatIsChangedNothingIsKnown) {
  for (int i = 0; i < 30; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 5; ++i) Ahead(Of(Numbered("r", i)));
  const Get known = Of(Numbered("r", 6));
  PutCell(known.row, "g", "another");
  ahead_.Forget({"default", "other"});
  EXPECT_NE(Ahead(known), Direct(known));
  ahead_.Forget(kTable);
  EXPECT_EQ(Ahead(known), Direct(known));
}

TEST_F(ReadAheadTest, WhatThisMountChangesIsSeen) {
  for (int i = 0; i < 30; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 10; ++i) Ahead(Of(Numbered("r", i)));
  const Get known = Of(Numbered("r", 11));
  const int asked = store_.calls;
  ASSERT_EQ(Ahead(known), Direct(known));
  ASSERT_EQ(store_.calls, asked);
  PutCell(known.row, "f", "another");
  ahead_.Forget(kTable, known.row);
  EXPECT_EQ(Ahead(known), Direct(known));
}

TEST_F(ReadAheadTest, AChangeOfARowEndsWhatWasBroughtOfItAlone) {
  ReadAhead by_row(store_, freshness_, ReadAhead::Histories::kBrought);
  const auto get_of = [](int number) {
    Get get = Of(Numbered("r", number), "f", {}, /*lengths_only=*/false);
    get.columns["g"];
    get.max_versions = 3;
    return get;
  };
  const auto ahead = [&](int number) {
    return TextOf(*by_row.Read(me_, kTable, get_of(number)));
  };
  for (int i = 0; i < 100; ++i) {
    PutCell(Numbered("r", i), "f", "q");
    if (i % 2 == 0) PutCell(Numbered("r", i), "g", "p");
  }
  for (int i = 0; i < 30; ++i) ASSERT_EQ(ahead(i), Direct(get_of(i)));
  EXPECT_LE(store_.calls, 5);
  const int asked = store_.calls;
  PutCell(Numbered("r", 31), "g", "another");
  by_row.Forget(kTable, Numbered("r", 31));
  for (int i = 30; i < 34; ++i) EXPECT_EQ(ahead(i), Direct(get_of(i)));
  EXPECT_EQ(store_.calls, asked + 1);
}

// Each look at such a file was a request of its own where all of its row was forgotten.
TEST_F(ReadAheadTest, OfARowThatAnotherChangedWhatShowsTheNewVersionIsKept) {
  const auto put_all = [&](Timestamp version, size_t size) {
    for (int i = 0; i < 100; ++i) PutCell(Numbered("r", i), "f", "q", size, version);
  };
  const auto see = [&](int number, Timestamp version) {
    ahead_.ForgetWithout({kTable, Numbered("r", number), "f", "q", version});
  };
  put_all(10, 3);
  for (int i = 0; i < 100; ++i) Ahead(Of(Numbered("r", i), "f", "q", false));
  put_all(20, 5);
  for (int i = 0; i < 100; ++i) Ahead(Of(Numbered("r", i), "f", "q"));
  for (int i = 0; i < 100; ++i) see(i, 20);
  store_.calls = 0;
  for (int i = 30; i < 90; ++i) Ahead(Of(Numbered("r", i), "f", "q"));
  EXPECT_LE(store_.calls, 1);
  // What was read before it is not shown.
  for (int i = 30; i < 90; ++i) {
    const Get value = Of(Numbered("r", i), "f", "q", false);
    EXPECT_EQ(Ahead(value), Direct(value));
  }
  store_.calls = 0;
  see(50, 30);  // that it does not show
  Ahead(Of(Numbered("r", 50), "f", "q"));
  EXPECT_EQ(store_.calls, 1);
}

TEST_F(ReadAheadTest, OfAShortRowThatAnotherChangedTheNewVersionIsKept) {
  PutCell("row", "f", "q", 3, 10);
  Ahead(LookAt(Of("row")));
  store_.calls = 0;
  ahead_.ForgetWithout({kTable, "row", "f", "q", 10});
  Ahead(Of("row", "f", "q"));
  EXPECT_EQ(store_.calls, 0);
  ahead_.ForgetWithout({kTable, "row", "f", "q", 20});
  Ahead(Of("row", "f", "q"));
  EXPECT_EQ(store_.calls, 1);
}

TEST_F(ReadAheadTest, LargeValuesAreNotBroughtInMasses) {
  for (int i = 0; i < 40; ++i) PutCell("r", "f", Numbered("q", i), 300'000);
  for (int i = 0; i < 40; ++i) {
    const Get get = Of("r", "f", Numbered("q", i), /*lengths_only=*/false);
    ASSERT_EQ(Ahead(get), Direct(get));
  }
  EXPECT_GE(store_.calls, 8);
}

TEST_F(ReadAheadTest, RowsThatComeInPiecesAreWholeOrNotThere) {
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 5; ++j) PutCell(Numbered("r", i), "f", Numbered("q", j), 70'000);
  }
  for (int i = 0; i < 12; ++i) {
    const Get get = Of(Numbered("r", i), "f", std::nullopt, /*lengths_only=*/false);
    ASSERT_EQ(Ahead(get), Direct(get)) << i;
  }
}

TEST_F(ReadAheadTest, RowsThatAreTooLargeAreBroughtForNothingOnce) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 20; ++j) PutCell(Numbered("r", i), "f", Numbered("q", j), 70'000);
  }
  for (int i = 0; i < 8; ++i) {
    const Get get = Of(Numbered("r", i), "f", std::nullopt, /*lengths_only=*/false);
    ASSERT_EQ(Ahead(get), Direct(get)) << i;
  }
  EXPECT_EQ(store_.calls, 9);
}

TEST_F(ReadAheadTest, WhoReadsHereAndThereAsksForNoMore) {
  for (int i = 0; i < 1000; ++i) PutCell(Numbered("r", i), "f", "q");
  std::mt19937 random(1);
  int rows = 0;
  for (int i = 0; i < 200; ++i, ++rows) {
    const Get get = Of(Numbered("r", static_cast<int>(random() % 1000)));
    ASSERT_EQ(Ahead(get), Direct(get));
  }
  EXPECT_LE(store_.calls, rows);
}

TEST_F(ReadAheadTest, WhatWasBroughtIsNotShownForLong) {
  for (int i = 0; i < 10; ++i) PutCell(Numbered("r", i), "f", "q");
  Ahead(Of(Numbered("r", 0)));
  Ahead(Of(Numbered("r", 1)));
  PutCell(Numbered("r", 2), "f", "new");
  clock_.Advance(501);
  EXPECT_EQ(Ahead(Of(Numbered("r", 2))), Direct(Of(Numbered("r", 2))));
}

// As find and du go through a large directory: each row is asked for a few times, in any order.
TEST_F(ReadAheadTest, AWalkInAnyOrderBringsAllOfASmallTable) {
  std::vector<int> order(10'000);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  for (const int i : order) PutCell(Numbered("r", i), "f", "q");
  int walked = 0;
  for (const int i : order) {
    const std::string row = Numbered("r", i);
    for (const Get& get : {Of(row), Of(row, "f"), Of(row, "f", "q")})
      ASSERT_EQ(Ahead(get), row + " f:q  3\n");
    if (++walked % 2000 == 0) clock_.Advance(501);
  }
  EXPECT_LE(store_.calls, 200);
  PutCell(Numbered("r", 77), "f", "another");
  ahead_.Forget(kTable, Numbered("r", 77));
  EXPECT_EQ(Ahead(Of(Numbered("r", 77))), Direct(Of(Numbered("r", 77))));
}

// Nobody who reads here and there in a table that is too large pays for that again and again.
TEST_F(ReadAheadTest, OfALargeTableNotAllIsBroughtMoreThanOnce) {
  for (int i = 0; i < 200; ++i) PutCell(Numbered("r", i), "f", "q", 100'000);
  std::mt19937 random(9);
  const auto value = [&] {
    return Of(Numbered("r", static_cast<int>(random() % 200)), "f", "q", /*lengths_only=*/false);
  };
  for (int i = 0; i < 500; ++i) {
    const Get get = value();
    ASSERT_EQ(Ahead(get), Direct(get));
    if (i % 100 == 0) clock_.Advance(501);
  }
  EXPECT_LE(store_.large_scans, 1);
}

// As who copies rows into a table: that they are not there is known, of each family as well.
TEST_F(ReadAheadTest, WhoMakesRowAfterRowAsksSeldom) {
  PutCell("a", "g", "q");
  for (int i = 0; i < 300; ++i) {
    const std::string row = Numbered("r", i);
    for (const Get& get : {Of(row), Of(row, "f"), Of(row, "f", "q")}) ASSERT_EQ(Ahead(get), "");
    PutCell(row, "f", "q");
    ahead_.Forget(kTable, RowMutations::Of(Put{.row = row, .cells = {{"f", "q", 1, "v", {}}}}));
  }
  EXPECT_LE(store_.calls, 10);
}

// What was brought grows old before he has gone through it.
TEST_F(ReadAheadTest, WhoGoesOnSlowlyAsksForWhatHeCanUse) {
  for (int i = 0; i < 200; ++i) PutCell(Numbered("r", i), "f", "q");
  for (int i = 0; i < 200; ++i) {
    const Get get = Of(Numbered("r", i));
    ASSERT_EQ(Ahead(get), Direct(get));
    clock_.Advance(100);
  }
  EXPECT_LE(store_.calls, 45);
}

TEST_F(ReadAheadTest, NothingBehindTheLastIsKnownToBeNothing) {
  PutCell("a", "f", "q");
  PutCell("b", "f", "q");
  Ahead(Of("a"));
  Ahead(Of("b"));
  const int calls = store_.calls;
  EXPECT_EQ(Ahead(Of("c")), "");
  EXPECT_EQ(Ahead(Of("c", "f")), "");
  EXPECT_EQ(store_.calls, calls);
  EXPECT_EQ(Ahead(Of("b", "x")), Direct(Of("b", "x")));  // there is no such family
}

TEST_F(ReadAheadTest, FailuresAreTheStores) {
  const auto read = ahead_.Read(me_, {"default", "missing"}, Of("r"));
  EXPECT_EQ(read.status().code(), StatusCode::kTableNotFound);
}

// Whatever is asked for, in whatever order, comes as the store has it.
TEST_F(ReadAheadTest, AnswersAreTheStores) {
  std::mt19937 random(7);
  const auto number = [&](int below) { return static_cast<int>(random() % below); };
  for (int i = 0; i < 400; ++i) {
    PutCell(Numbered("r", number(60)), number(2) == 0 ? "f" : "g", Numbered("q", number(12)),
            static_cast<size_t>(number(20)));
  }
  for (int round = 0; round < 4000; ++round) {
    static int row = 0;
    row = number(10) == 0 ? number(60) : row + number(2);
    Get get = Of(Numbered("r", row));
    get.lengths_only = number(2) == 0;
    const std::string family = number(2) == 0 ? "f" : "g";
    if (number(3) != 0) get.columns[family];
    if (!get.columns.empty() && number(2) == 0)
      get.columns[family].insert(Numbered("q", number(12)));
    if (!get.columns.empty() && number(10) == 0) get.columns[family].insert(Numbered("q", 3));
    if (number(20) == 0) get.columns = {{"x", {}}};
    if (number(3) == 0) get.store_limit = 1 + number(3);
    if (number(20) == 0) get.store_offset = 1;
    if (number(20) == 0) get.time_range = {0, 1};
    if (number(20) == 0) get.filter = *MakeColumnPrefixFilter("q10000");
    if (number(50) == 0) clock_.Advance(300);
    ASSERT_EQ(Ahead(get), Direct(get)) << round;
  }
}

}  // namespace
}  // namespace cellfs::fs
