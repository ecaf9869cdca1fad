// SPDX-License-Identifier: MIT
#include "engine/hbase/reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "engine/hbase/cell_block.h"
#include "tests/engine/hbase/fake_cluster.h"

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPassing[] = {kMoved,   kNotServing, kOpening, kStopped,        kTooBusy,
                                    kQueue,   kDropped,    kStarting, kUnknownScanner, kOutOfOrder,
                                    kReset};

Get GetOf(const std::string& row) {
  Get get;
  get.row = row;
  return get;
}

StatusOr<RowCells> ReadRow(FakeCluster& cluster, const std::string& row) {
  return Read(cluster.regions(), kTable, GetOf(row), seconds(10));
}

void ExpectRows(FakeCluster& cluster, const Scan& scan, const Rows& expected) {
  const auto rows = ScanRows(cluster, scan);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(*rows, expected);
}

TEST(Read, FindsTheRegionOnce) {
  FakeCluster cluster({"d", "g"}, kRows);
  for (const std::string row : {"e", "f", "d"}) {
    const auto cells = ReadRow(cluster, row);
    ASSERT_TRUE(cells.ok()) << cells.status().ToString();
    ASSERT_EQ(cells->size(), 1u);
    EXPECT_EQ(cells->front().value, row);
  }
  EXPECT_EQ(cluster.calls_of_meta(), 1u);
  EXPECT_EQ(cluster.calls(), 3u);
}

TEST(Read, OfNoRowIsEmpty) {
  FakeCluster cluster({}, kRows);
  const auto cells = ReadRow(cluster, "aa");
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  EXPECT_TRUE(cells->empty());
}

TEST(Read, OfNoTableIsToldSo) {
  FakeCluster cluster({}, kRows);
  const auto cells = Read(cluster.regions(), {.name = "another"}, GetOf("a"), seconds(10));
  EXPECT_EQ(cells.status().ToString(), "TableNotFound: table 'another' does not exist");
}

TEST(Read, WaitsOutWhatPasses) {
  for (const char* exception : kPassing) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay(FakeCluster::Throws(exception));
    cluster.PutInTheWay(FakeCluster::Throws(exception));
    const auto cells = ReadRow(cluster, "e");
    ASSERT_TRUE(cells.ok()) << exception << cells.status().ToString();
    EXPECT_EQ(cells->size(), 1u);
    EXPECT_EQ(cluster.calls(), 3u) << exception;
  }
}

TEST(Read, TellsWhatDoesNotPass) {
  FakeCluster cluster({"d"}, kRows);
  cluster.PutInTheWay(FakeCluster::Throws(kNoSuchFamily, true));
  EXPECT_EQ(ReadRow(cluster, "e").status().code(), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(cluster.calls(), 1u);
}

TEST(Read, LooksUpARegionThatWasSplit) {
  FakeCluster cluster({"d"}, kRows);
  ASSERT_TRUE(ReadRow(cluster, "e").ok());
  cluster.SplitAt("f");
  const auto cells = ReadRow(cluster, "g");
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  EXPECT_EQ(cells->size(), 1u);
  EXPECT_EQ(cluster.calls_of_meta(), 2u);
}

TEST(Read, ComesAgainWhereAConnectionBreaks) {
  FakeCluster cluster({"d"}, kRows);
  for (int i = 0; i < 2; ++i) {
    cluster.PutInTheWay([](const ReceivedCall&) { return Reaction{"cut", true}; });
  }
  const auto cells = ReadRow(cluster, "e");
  ASSERT_TRUE(cells.ok()) << cells.status().ToString();
  EXPECT_EQ(cells->size(), 1u);
}

TEST(Read, EndsAtItsDeadline) {
  FakeCluster cluster({"d"}, kRows);
  for (int i = 0; i < 20; ++i) {
    cluster.PutInTheWay([](const ReceivedCall&) { return Reaction{}; });
  }
  const auto cells = Read(cluster.regions(), kTable, GetOf("e"), milliseconds(50));
  EXPECT_EQ(cells.status().code(), StatusCode::kTimedOut);
}

TEST(Read, EndsWhereItIsCancelled) {
  FakeCluster cluster({"d"}, kRows);
  std::atomic<bool> cancelled = false;
  cluster.PutInTheWay([&](const ReceivedCall&) {
    cancelled = true;
    return Reaction{};
  });
  Get get = GetOf("e");
  get.cancelled = &cancelled;
  EXPECT_EQ(Read(cluster.regions(), kTable, get, std::chrono::hours(1)).status().code(),
            StatusCode::kCancelled);
}

TEST(Read, EndsWhereWhoAskedHasGivenUp) {
  FakeCluster cluster({"d"}, kRows);
  Asker asker;
  cluster.PutInTheWay([&](const ReceivedCall&) {
    asker.GiveUp();
    return Reaction{};
  });
  const auto cells = Read(cluster.regions(), kTable, GetOf("e"), std::chrono::hours(1));
  EXPECT_EQ(cells.status().code(), StatusCode::kCancelled);
}

TEST(Scan, GoesThroughAllRegions) {
  for (const Rows& splits : {Rows{}, Rows{"d"}, Rows{"c", "d", "dd", "j"}}) {
    FakeCluster cluster(splits, kRows);
    ExpectRows(cluster, {}, kRows);
    Scan reversed;
    reversed.reversed = true;
    ExpectRows(cluster, reversed, Rows(kRows.rbegin(), kRows.rend()));
  }
}

// Every bound, inclusive and not, in both directions, against a filter of the rows.
TEST(Scan, KeepsToItsBounds) {
  const Rows bounds = {"", "a", "bb", "c", "d", "g", "h", "j", "k"};
  FakeCluster cluster({"d", "g"}, kRows, 3);
  for (const std::string& start : bounds) {
    for (const std::string& stop : bounds) {
      for (int kind = 0; kind < 8; ++kind) {
        Scan scan;
        scan.start_row = start;
        scan.stop_row = stop;
        scan.include_start_row = (kind & 1) != 0;
        scan.include_stop_row = (kind & 2) != 0;
        scan.reversed = (kind & 4) != 0;
        Rows expected;
        for (const std::string& row : kRows) {
          const auto lies_behind = [&](const std::string& bound, bool inclusive, bool reversed) {
            return bound.empty() || (reversed ? row < bound : row > bound) ||
                   (inclusive && row == bound);
          };
          if (lies_behind(start, scan.include_start_row, scan.reversed) &&
              lies_behind(stop, scan.include_stop_row, !scan.reversed)) {
            expected.push_back(row);
          }
        }
        if (scan.reversed) std::ranges::reverse(expected);
        SCOPED_TRACE(start + " to " + stop + " kind " + std::to_string(kind));
        ExpectRows(cluster, scan, expected);
      }
    }
  }
}

// A scanner is opened for each region, and goes on in it: no row is asked for twice.
TEST(Scan, AsksForEachRowOnce) {
  FakeCluster cluster({"d", "g"}, kRows, 2);
  ExpectRows(cluster, {}, kRows);
  EXPECT_EQ(cluster.calls(), 2u + 2u + 2u);
}

TEST(Scan, StopsAtItsLimit) {
  FakeCluster cluster({"d", "g"}, kRows);
  for (int64_t limit = 0; limit <= 11; ++limit) {
    Scan scan;
    scan.limit = limit;
    const auto count = std::min<ptrdiff_t>(limit, std::ssize(kRows));
    ExpectRows(cluster, scan, Rows(kRows.begin(), kRows.begin() + count));
  }
}

// The server knows how many are wanted: nobody has to come again to close the scanner.
TEST(Scan, OfAsManyRowsAsComeAtOnceIsOneCall) {
  FakeCluster cluster({"d", "g"}, kRows, 3);
  Scan scan;
  scan.limit = 3;
  ExpectRows(cluster, scan, Rows(kRows.begin(), kRows.begin() + 3));
  EXPECT_EQ(cluster.calls() + cluster.closes(), 1u);
  scan.limit = 5;
  ExpectRows(cluster, scan, Rows(kRows.begin(), kRows.begin() + 5));
  EXPECT_EQ(cluster.closes(), 0u);
}

// Waits for what another thread will do.
bool Becomes(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

TEST(Scan, AsksAheadForWhoeverReadsOn) {
  FakeCluster cluster({}, kRows, 2);
  auto scanner = *OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  const ScanBatch batch{.max_rows = 2};
  ASSERT_EQ(scanner->Next(batch)->size(), 2u);
  EXPECT_EQ(cluster.calls(), 1u) << "many read one batch and no more";
  ASSERT_EQ(scanner->Next(batch)->size(), 2u);
  EXPECT_TRUE(Becomes([&] { return cluster.calls() == 3u; }));
  const auto rows = scanner->Next({.max_rows = 1});
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(rows->front().front().row, "e");
  scanner.reset();
  EXPECT_EQ(cluster.calls(), 3u) << "one answer at a time";
}

TEST(Scan, IsGivenUpWhileItAsksAhead) {
  FakeCluster cluster({}, kRows, 2);
  const auto scanner = *OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  const auto as_always = [](const ReceivedCall&) { return std::nullopt; };
  cluster.PutInTheWay(as_always);
  cluster.PutInTheWay(as_always);
  cluster.PutInTheWay([](const ReceivedCall&) { return Reaction{}; });
  std::atomic<bool> cancelled = false;
  const ScanBatch batch{.max_rows = 2, .cancelled = &cancelled};
  ASSERT_TRUE(scanner->Next(batch).ok());
  ASSERT_TRUE(scanner->Next(batch).ok());
  cancelled = true;
  EXPECT_EQ(scanner->Next(batch).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(scanner->Next({}).status().code(), StatusCode::kCancelled) << "for good";
}

TEST(Scan, IsKeptForWhoeverReadsSlowly) {
  FakeCluster cluster({}, kRows, 2);
  cluster.LeaseScannersFor(milliseconds(200));
  const auto scanner = *OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  ASSERT_TRUE(scanner->Next({.max_rows = 2}).ok());
  EXPECT_TRUE(Becomes([&] { return cluster.renewals() >= 4; }));
  const auto rows = scanner->Next({.max_rows = 2});
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ(rows->front().front().row, "c");
  EXPECT_LE(cluster.calls(), 3u) << "it was not opened anew, and asks ahead at most once";
}

TEST(Scan, IsNotKeptOnceItIsClosed) {
  FakeCluster cluster({}, kRows, 2);
  cluster.LeaseScannersFor(milliseconds(20));
  auto scanner = *OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  ASSERT_TRUE(scanner->Next({.max_rows = 2}).ok());
  EXPECT_TRUE(Becomes([&] { return cluster.renewals() >= 1; }));
  scanner.reset();
  const size_t renewals = cluster.renewals();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(cluster.renewals(), renewals + 1) << "one may have been under way";
}

TEST(Scan, TellsTheServerWhenToComeBack) {
  FakeCluster cluster({}, kRows);
  const auto scanner = *OpenScanner(cluster.regions(), kTable, {}, seconds(10));
  uint32_t timeout = 0;
  cluster.PutInTheWay([&](const ReceivedCall& call) {
    timeout = call.timeout;
    return std::nullopt;
  });
  ASSERT_TRUE(scanner->Next({.max_time = milliseconds(800)}).ok());
  EXPECT_EQ(timeout, 1600u);
}

// An answer may end with a row that is not known to be whole; the next one tells.
TEST(Scan, CountsRowsThatComeInPieces) {
  for (const Rows& sent : {Rows{"a", "b", "c"}, Rows{"a", "b"}}) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay([&](const ReceivedCall& call) -> std::optional<Reaction> {
      pb::ScanResponse response;
      std::string block;
      for (const std::string& row : sent) {
        AppendToBlock({.row = row, .family = "f", .timestamp = 1}, block);
        response.add_cells_per_result(1);
        response.add_partial_flag_per_result(true);
      }
      response.set_scanner_id(99);
      response.set_more_results_in_region(sent.size() > 2);
      return Reaction{AnswerFrame(call.id, response, block)};
    });
    Scan scan;
    scan.limit = 2;
    const auto scanner = OpenScanner(cluster.regions(), kTable, scan, seconds(10));
    ASSERT_TRUE(scanner.ok());
    const auto rows = (*scanner)->Next({.partial_rows = true});
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    EXPECT_EQ(rows->size(), 2u);
    EXPECT_TRUE((*scanner)->at_end());
  }
}

// Whatever happens to the scanner, at whichever call: each row comes once, in order.
TEST(Scan, GoesOnBehindTheLastRow) {
  for (const bool reversed : {false, true}) {
    Scan scan;
    scan.reversed = reversed;
    const Rows expected = reversed ? Rows(kRows.rbegin(), kRows.rend()) : kRows;
    for (const char* exception : kPassing) {
      for (int before = 0; before < 7; ++before) {
        SCOPED_TRACE(std::string(exception) + " after " + std::to_string(before));
        FakeCluster cluster({"d", "g"}, kRows);
        for (int i = 0; i < before; ++i) {
          cluster.PutInTheWay([](const ReceivedCall&) { return std::nullopt; });
        }
        cluster.PutInTheWay(FakeCluster::Throws(exception));
        ExpectRows(cluster, scan, expected);
      }
    }
  }
}

TEST(Scan, GoesOnInARegionThatWasSplitMeanwhile) {
  for (const bool reversed : {false, true}) {
    for (int before = 0; before < 7; ++before) {
      FakeCluster cluster({"d"}, kRows);
      for (int i = 0; i < before; ++i) {
        cluster.PutInTheWay([](const ReceivedCall&) { return std::nullopt; });
      }
      cluster.PutInTheWay([&](const ReceivedCall& call) -> std::optional<Reaction> {
        return Reaction{ExceptionFrame(call.id, {kNotServing, "split"})};
      });
      Scan scan;
      scan.reversed = reversed;
      const auto scanner = OpenScanner(cluster.regions(), kTable, scan, seconds(10));
      ASSERT_TRUE(scanner.ok());
      Rows rows;
      for (int batch = 0; !(*scanner)->at_end(); ++batch) {
        if (batch == 1) cluster.SplitAt("f");
        const auto next = (*scanner)->Next({.max_rows = 3});
        ASSERT_TRUE(next.ok()) << next.status().ToString();
        for (const RowCells& row : *next) rows.push_back(row.front().row);
      }
      EXPECT_EQ(rows, reversed ? Rows(kRows.rbegin(), kRows.rend()) : kRows);
    }
  }
}

// Requests are at random cut off, refused and answered late.
TEST(Scan, GivesEachRowOnceWhateverHappens) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    FakeCluster cluster({"c", "f", "h"}, kRows, 1 + random() % 4);
    for (int i = 0; i < 30; ++i) {
      const auto kind = random() % 6;
      const char* exception = kPassing[random() % std::size(kPassing)];
      cluster.PutInTheWay([=](const ReceivedCall& call) -> std::optional<Reaction> {
        if (kind == 0) return Reaction{"", true};
        if (kind == 1) return Reaction{ExceptionFrame(call.id, {exception})};
        if (kind == 2) return Reaction{AnswerFrame(call.id, pb::ScanResponse()).substr(0, 5), true};
        return std::nullopt;
      });
    }
    Scan scan;
    scan.reversed = random() % 2 != 0;
    ExpectRows(cluster, scan, scan.reversed ? Rows(kRows.rbegin(), kRows.rend()) : kRows);
  }
}

}  // namespace
}  // namespace cellfs::hbase
