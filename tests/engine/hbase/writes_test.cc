// SPDX-License-Identifier: MIT
#include "engine/hbase/writes.h"

#include <gtest/gtest.h>

#include <hbase.pb.h>

#include <algorithm>
#include <functional>
#include <random>

#include "engine/hbase/mutations.h"
#include "tests/engine/hbase/fake_cluster.h"

namespace cellfs::hbase {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Mutation PutOf(const std::string& row, Timestamp timestamp = kLatestTimestamp) {
  return Put{.row = row,
             .cells = {{.family = "f", .qualifier = "q", .timestamp = timestamp, .value = "v"}}};
}

Mutation DeleteOf(const std::string& row, Timestamp timestamp = kLatestTimestamp) {
  return Delete{.row = row,
                .markers = {{CellType::kDeleteColumn, "f", "q", timestamp}}};
}

Mutation IncrementOf(const std::string& row) {
  Increment increment{.row = row, .cells = {{.family = "f", .qualifier = "q"}}, .time_range = {}};
  increment.cells.front().amount = 1;
  return increment;
}

RowMutations Step(const std::string& row, std::vector<Mutation> mutations) {
  return {.row = row, .mutations = std::move(mutations)};
}

StatusOr<MutationResult> Change(FakeCluster& cluster, const Mutation& mutation,
                                SteadyClock::duration within = seconds(10)) {
  return Mutate(cluster.regions(), kTable, RowMutations::Of(mutation), within);
}

StatusCode CodeOf(const StatusOr<MutationResult>& result) {
  return result.ok() ? StatusCode::kOk : result.status().code();
}

// Does what it is asked for, and breaks the connection instead of an answer.
FakeCluster::Obstacle AnswersNothing() {
  return [](const ReceivedCall&) { return Reaction{"", true}; };
}

// ---- As messages --------------------------------------------------------------------------------

TEST(Mutations, SayAllThatTheyAre) {
  pb::MutationProto message;
  Append append{.row = "r", .cells = {{"f", "q", "+"}, {"f", "p", "-"}, {"g", "q", "*"}}};
  append.time_to_live = 258;
  append.time_range = {5, 10};
  append.return_results = false;
  ASSERT_TRUE(Write(append, Durability::kFsyncWal, message).ok());
  EXPECT_EQ(message.row(), "r");
  EXPECT_EQ(message.mutate_type(), pb::MutationProto::APPEND);
  EXPECT_EQ(message.durability(), pb::MutationProto::FSYNC_WAL);
  ASSERT_EQ(message.column_value_size(), 2);
  ASSERT_EQ(message.column_value(0).qualifier_value_size(), 2);
  EXPECT_EQ(message.column_value(0).qualifier_value(1).qualifier(), "p");
  EXPECT_EQ(message.column_value(0).qualifier_value(1).timestamp(),
            static_cast<uint64_t>(kLatestTimestamp));
  EXPECT_EQ(message.column_value(1).family(), "g");
  EXPECT_EQ(message.time_range().from(), 5u);
  EXPECT_EQ(message.time_range().to(), 10u);
  ASSERT_EQ(message.attribute_size(), 2);
  EXPECT_EQ(message.attribute(0).name(), "_ttl");
  EXPECT_EQ(message.attribute(0).value(), std::string("\0\0\0\0\0\0\1\2", 8));
  EXPECT_EQ(message.attribute(1).name(), "_rr_");
}

TEST(Mutations, EachTombstoneIsItsOwn) {
  Delete deletion{.row = "r",
                  .markers = {{CellType::kDelete, "f", "a", 1},
                              {CellType::kDeleteColumn, "f", "b", 2},
                              {CellType::kDeleteFamily, "f", "", 3},
                              {CellType::kDeleteFamilyVersion, "f", "", 4}}};
  pb::MutationProto message;
  ASSERT_TRUE(Write(deletion, Durability::kUseDefault, message).ok());
  ASSERT_EQ(message.column_value_size(), 1);
  const auto& values = message.column_value(0).qualifier_value();
  EXPECT_EQ(values[0].delete_type(), pb::MutationProto::DELETE_ONE_VERSION);
  EXPECT_EQ(values[1].delete_type(), pb::MutationProto::DELETE_MULTIPLE_VERSIONS);
  EXPECT_EQ(values[2].delete_type(), pb::MutationProto::DELETE_FAMILY);
  EXPECT_EQ(values[3].delete_type(), pb::MutationProto::DELETE_FAMILY_VERSION);
  EXPECT_EQ(values[3].timestamp(), 4u);
}

TEST(Mutations, WhatIsOursAloneIsRefused) {
  Put put = std::get<Put>(PutOf("a"));
  put.stamping = Stamping::kAboveColumn;
  for (const Mutation& mutation : {Mutation(put), Mutation(Withdraw{.row = "a", .cells = {}})}) {
    FakeCluster cluster({}, kRows);
    EXPECT_EQ(CodeOf(Change(cluster, mutation)), StatusCode::kUnsupportedOperation);
    const RowMutations step = Step("a", {PutOf("a"), mutation});
    EXPECT_EQ(CodeOf(Mutate(cluster.regions(), kTable, step, seconds(10))),
              StatusCode::kUnsupportedOperation);
    EXPECT_EQ(cluster.calls(), 0u);
  }
}

// ---- One row ------------------------------------------------------------------------------------

TEST(Mutate, WaitsOutWhatPasses) {
  for (const auto& mutation : {PutOf("e"), PutOf("e", 5), DeleteOf("e"), IncrementOf("e")}) {
    for (const bool in_a_step : {false, true}) {
      FakeCluster cluster({"d"}, kRows);
      cluster.PutInTheWay(FakeCluster::Throws(kMoved));
      cluster.PutInTheWay(FakeCluster::Throws(kTooBusy));
      auto step = RowMutations::Of(mutation);
      if (in_a_step) step.mutations.push_back(PutOf("e"));
      const auto done = Mutate(cluster.regions(), kTable, step, seconds(10));
      ASSERT_TRUE(done.ok()) << done.status().ToString();
      EXPECT_EQ(cluster.changed(), Rows(in_a_step ? 2 : 1, "e"));
      EXPECT_EQ(cluster.calls(), 3u);
    }
  }
}

TEST(Mutate, TellsWhatDoesNotPass) {
  FakeCluster cluster({"d"}, kRows);
  cluster.PutInTheWay(FakeCluster::Throws(kNoSuchFamily, true));
  EXPECT_EQ(CodeOf(Change(cluster, PutOf("e"))), StatusCode::kNoSuchColumnFamily);
  EXPECT_EQ(cluster.calls(), 1u);
  const RowMutations step = Step("refused", {PutOf("refused"), PutOf("refused")});
  EXPECT_EQ(CodeOf(Mutate(cluster.regions(), kTable, step, seconds(10))),
            StatusCode::kNoSuchColumnFamily);
}

TEST(Mutate, FindsARegionThatWasSplit) {
  for (const bool in_a_step : {false, true}) {
    FakeCluster cluster({"d"}, kRows);
    ASSERT_TRUE(Change(cluster, PutOf("e")).ok());
    cluster.SplitAt("f");
    auto step = RowMutations::Of(PutOf("g"));
    if (in_a_step) step.mutations.push_back(DeleteOf("g"));
    ASSERT_TRUE(Mutate(cluster.regions(), kTable, step, seconds(10)).ok());
    EXPECT_EQ(cluster.changed().back(), "g");
    EXPECT_EQ(cluster.calls_of_meta(), 2u);
  }
}

TEST(Mutate, AnswersWithTimestampsAndResults) {
  FakeCluster cluster({}, kRows);
  const RowMutations step = Step("a", {PutOf("a", 7), DeleteOf("a"), IncrementOf("a")});
  const auto done = Mutate(cluster.regions(), kTable, step, seconds(10));
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  EXPECT_EQ(done->timestamps, (std::vector<Timestamp>{7, kLatestTimestamp}));
  ASSERT_EQ(done->results.size(), 1u);
  EXPECT_EQ(done->results.front().value, "a");
}

TEST(Mutate, IsMadeAgainWithoutAnAnswerOnlyWhereThatChangesNothing) {
  struct Case {
    Mutation mutation;
    bool may_be_repeated;
    size_t times_done;
  };
  for (const Case& one : {Case{PutOf("e"), false, 1}, Case{PutOf("e", 5), true, 2},
                          Case{DeleteOf("e"), false, 1}, Case{DeleteOf("e", 5), true, 2},
                          Case{IncrementOf("e"), true, 1}}) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay(AnswersNothing());
    EXPECT_EQ(CodeOf(Change(cluster, one.mutation)),
              one.may_be_repeated ? StatusCode::kOk : StatusCode::kOutcomeUnknown);
    EXPECT_EQ(cluster.changed(), Rows(one.times_done, "e"));
  }
}

// Does what `act` does, once for each place at which the answer may be cut, and once with all of
// it: each of the former is `cut`, and changes rows so often. The server closes the connection
// behind the whole answer too, so that a request that follows may be lost: act once for a cluster.
void CutEachByte(FakeCluster& cluster, const std::function<StatusCode()>& act, StatusCode cut,
                 size_t changes) {
  for (size_t at = 0;; ++at) {
    const size_t before = cluster.changed().size();
    cluster.CutNextAnswer(at);
    const StatusCode code = act();
    ASSERT_GT(cluster.cut_answer(), 8u);
    if (at == cluster.cut_answer()) {
      EXPECT_EQ(code, StatusCode::kOk);
      return;
    }
    ASSERT_EQ(code, cut) << "cut at " << at << " of " << cluster.cut_answer();
    ASSERT_EQ(cluster.changed().size() - before, changes) << "cut at " << at;
  }
}

TEST(Mutate, MayBeCutAtEachByteOfItsAnswer) {
  struct Case {
    RowMutations step;
    StatusCode cut;
    size_t changes;
  };
  const StatusCode unknown = StatusCode::kOutcomeUnknown;
  for (const Case& one : {Case{Step("e", {PutOf("e", 5)}), StatusCode::kOk, 2},
                          Case{Step("e", {DeleteOf("e", 5)}), StatusCode::kOk, 2},
                          Case{Step("e", {IncrementOf("e")}), StatusCode::kOk, 1},
                          Case{Step("e", {PutOf("e", 5), DeleteOf("e", 4)}), StatusCode::kOk, 4},
                          Case{Step("e", {PutOf("e")}), unknown, 1},
                          Case{Step("e", {DeleteOf("e")}), unknown, 1}}) {
    FakeCluster cluster({"d"}, kRows);
    CutEachByte(
        cluster,
        [&] { return CodeOf(Mutate(cluster.regions(), kTable, one.step, seconds(10))); }, one.cut,
        one.changes);
  }
}

// A server does nothing of what it has not read to its end, which its client cannot know.
TEST(Mutate, MayBeCutAtEachByteOfItsCall) {
  struct Case {
    RowMutations step;
    std::string method;
    StatusCode cut;
    size_t changes;  // once it is whole
  };
  const StatusCode unknown = StatusCode::kOutcomeUnknown;
  const std::string row = "e";
  for (const Case& one :
       {Case{Step(row, {PutOf(row, 5)}), "Mutate", StatusCode::kOk, 1},
        Case{Step(row, {PutOf(row, 5), DeleteOf(row, 4)}), "Multi", StatusCode::kOk, 2},
        Case{Step(row, {PutOf(row)}), "Mutate", unknown, 1}}) {
    FakeCluster cluster({"d"}, kRows);
    bool is_whole = false;
    for (size_t at = 0; !is_whole; ++at) {
      const size_t before = cluster.changed().size();
      cluster.CutNextCall(one.method, at);
      const auto code = CodeOf(Mutate(cluster.regions(), kTable, one.step, seconds(10)));
      ASSERT_GT(cluster.cut_call(), 8u);
      is_whole = at == cluster.cut_call();
      const bool is_unknown = !is_whole && one.cut == unknown;
      ASSERT_EQ(code, is_unknown ? unknown : StatusCode::kOk) << "cut at " << at;
      ASSERT_EQ(cluster.changed().size() - before, is_unknown ? 0 : one.changes) << "cut at " << at;
    }
  }
}

TEST(Mutate, WithoutAnAnswerInTheEndIsUnknown) {
  for (const auto& mutation : {PutOf("e"), PutOf("e", 5), IncrementOf("e")}) {
    for (const bool in_a_step : {false, true}) {
      FakeCluster cluster({"d"}, kRows);
      for (int i = 0; i < 20; ++i) cluster.PutInTheWay(AnswersNothing());
      auto step = RowMutations::Of(mutation);
      if (in_a_step) step.mutations.push_back(PutOf("e", 6));
      EXPECT_EQ(CodeOf(Mutate(cluster.regions(), kTable, step, milliseconds(100))),
                StatusCode::kOutcomeUnknown);
    }
  }
}

// An answer that comes after silence is about the second try alone.
TEST(Mutate, WithoutAnAnswerAndThenRefusedIsUnknown) {
  FakeCluster cluster({"d"}, kRows);
  cluster.PutInTheWay(AnswersNothing());
  cluster.PutInTheWay(FakeCluster::Throws(kNoSuchFamily, true));
  EXPECT_EQ(CodeOf(Change(cluster, PutOf("e", 5))), StatusCode::kOutcomeUnknown);
}

TEST(Mutate, ThatCannotReachAnyServerHasNotHappened) {
  FakeCluster cluster({"d"}, kRows);
  for (int i = 0; i < 20; ++i) cluster.PutInTheWay(FakeCluster::Throws(kTooBusy));
  EXPECT_EQ(CodeOf(Change(cluster, PutOf("e"), milliseconds(100))), StatusCode::kTimedOut);
  EXPECT_TRUE(cluster.changed().empty());
}

// ---- With a condition ---------------------------------------------------------------------------

StatusOr<CheckAndMutateResult> ChangeIf(FakeCluster& cluster, const std::string& row,
                                        std::vector<Mutation> mutations) {
  const cellfs::CheckAndMutate check{.row = row,
                                     .condition = ColumnCondition{.family = "f", .qualifier = "q"},
                                     .time_range = {},
                                     .action = Step(row, std::move(mutations))};
  return CheckAndMutate(cluster.regions(), kTable, check, seconds(10));
}

TEST(CheckAndMutate, SaysWhetherItHolds) {
  for (const std::string row : {"a", "absent"}) {
    for (const auto& mutations : std::vector<std::vector<Mutation>>{
             {PutOf(row)}, {PutOf(row), DeleteOf(row)}, {PutOf(row), IncrementOf(row)}}) {
      FakeCluster cluster({"d"}, kRows);
      cluster.PutInTheWay(FakeCluster::Throws(kMoved));
      const auto checked = ChangeIf(cluster, row, mutations);
      ASSERT_TRUE(checked.ok()) << checked.status().ToString();
      EXPECT_EQ(checked->done, row == "a");
      EXPECT_EQ(cluster.changed().size(), row == "a" ? mutations.size() : 0);
    }
  }
}

TEST(CheckAndMutate, IsMadeAgainWithoutAnAnswerOnlyWhereItsTimestampsAreChosen) {
  const std::vector<std::vector<Mutation>> chosen = {{PutOf("a", 5)},
                                                     {PutOf("a", 5), DeleteOf("a", 4)}};
  for (const auto& mutations : chosen) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay(AnswersNothing());
    const auto checked = ChangeIf(cluster, "a", mutations);
    ASSERT_TRUE(checked.ok()) << checked.status().ToString();
    EXPECT_TRUE(checked->done);
    EXPECT_EQ(cluster.changed().size(), 2 * mutations.size());
  }
  const std::vector<std::vector<Mutation>> others = {
      {PutOf("a")}, {PutOf("a", 5), DeleteOf("a")}, {IncrementOf("a")}};
  for (const auto& mutations : others) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay(AnswersNothing());
    EXPECT_EQ(ChangeIf(cluster, "a", mutations).status().code(), StatusCode::kOutcomeUnknown);
    EXPECT_EQ(cluster.changed().size(), mutations.size());
  }
}

TEST(CheckAndMutate, MayBeCutAtEachByteOfItsAnswer) {
  struct Case {
    Timestamp timestamp;
    StatusCode cut;
    size_t changes;
  };
  for (const Case& one : {Case{5, StatusCode::kOk, 2},
                          Case{kLatestTimestamp, StatusCode::kOutcomeUnknown, 1}}) {
    FakeCluster cluster({"d"}, kRows);
    const auto act = [&] {
      const auto checked = ChangeIf(cluster, "a", {PutOf("a", one.timestamp)});
      EXPECT_TRUE(!checked.ok() || checked->done);
      return checked.status().code();
    };
    CutEachByte(cluster, act, one.cut, one.changes);
  }
}

// It may have been done the first time, and that be why its condition does not hold any more.
TEST(CheckAndMutate, WithoutAnAnswerAndThenRefusedIsUnknown) {
  for (const auto& mutations : std::vector<std::vector<Mutation>>{
           {PutOf("absent", 5)}, {PutOf("absent", 5), DeleteOf("absent", 4)}}) {
    FakeCluster cluster({"d"}, kRows);
    cluster.PutInTheWay(AnswersNothing());
    EXPECT_EQ(ChangeIf(cluster, "absent", mutations).status().code(),
              StatusCode::kOutcomeUnknown);
  }
}

// ---- Several rows -------------------------------------------------------------------------------

TEST(Batch, AnswersForEachRow) {
  FakeCluster cluster({"d", "g"}, kRows);
  std::vector<RowMutations> rows;
  for (const std::string row : {"h", "a", "refused", "e", "b"})
    rows.push_back(RowMutations::Of(PutOf(row, 3)));
  rows.push_back(Step("i", {PutOf("i", 1), PutOf("i", 2)}));
  rows.push_back(Step("j", {PutOf("another", 1)}));
  const auto answers = Batch(cluster.regions(), kTable, rows, seconds(10));
  ASSERT_EQ(answers.size(), rows.size());
  for (size_t i : {0, 1, 3, 4}) {
    ASSERT_TRUE(answers[i].ok()) << answers[i].status().ToString();
    EXPECT_EQ(answers[i]->timestamps, (std::vector<Timestamp>{3}));
  }
  EXPECT_EQ(CodeOf(answers[2]), StatusCode::kNoSuchColumnFamily);
  ASSERT_TRUE(answers[5].ok());
  EXPECT_EQ(answers[5]->timestamps, (std::vector<Timestamp>{1, 2}));
  EXPECT_EQ(CodeOf(answers[6]), StatusCode::kWrongRow);
  EXPECT_EQ(cluster.calls(), 1u) << "one server, one call";
}

TEST(Batch, OfARowThatComesTwiceKeepsTheOrder) {
  FakeCluster cluster({"d"}, kRows);
  std::vector<RowMutations> rows;
  for (const std::string row : {"a", "e", "a", "a", "e"})
    rows.push_back(RowMutations::Of(IncrementOf(row)));
  const auto answers = Batch(cluster.regions(), kTable, rows, seconds(10));
  for (const auto& answer : answers) ASSERT_TRUE(answer.ok()) << answer.status().ToString();
  EXPECT_EQ(cluster.calls(), 3u);
}

TEST(Batch, OfNothingIsNothing) {
  FakeCluster cluster({}, kRows);
  EXPECT_TRUE(Batch(cluster.regions(), kTable, {}, seconds(10)).empty());
  EXPECT_EQ(cluster.calls(), 0u);
}

// Whatever comes in its way, each row that was answered as done was changed, each that was refused
// was not, and none was changed more often than its repetition allows.
TEST(Batch, TellsTheTruthWhateverComes) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    FakeCluster cluster({"d", "g"}, kRows);
    for (size_t i = random() % 4; i > 0; --i) {
      switch (random() % 4) {
        case 0: cluster.PutInTheWay(FakeCluster::Throws(kMoved)); break;
        case 1: cluster.PutInTheWay(FakeCluster::Throws(kTooBusy)); break;
        case 2: cluster.PutInTheWay(AnswersNothing()); break;
        default:
          cluster.PutInTheWay([](const ReceivedCall&) { return std::nullopt; });
          cluster.SplitAt(std::string(1, static_cast<char>('a' + random() % 10)) + "5");
      }
    }
    std::vector<RowMutations> rows;
    for (size_t i = 1 + random() % 8; i > 0; --i) {
      const std::string row = kRows[random() % kRows.size()];
      rows.push_back(random() % 2 == 0 ? RowMutations::Of(PutOf(row, 5))
                                       : RowMutations::Of(IncrementOf(row)));
    }
    const auto answers = Batch(cluster.regions(), kTable, rows, seconds(10));
    ASSERT_EQ(answers.size(), rows.size());
    const Rows changed = cluster.changed();
    for (const std::string& row : kRows) {
      ptrdiff_t done = 0, unknown = 0, puts = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].row != row) continue;
        puts += std::holds_alternative<Put>(rows[i].mutations.front());
        done += answers[i].ok();
        unknown += CodeOf(answers[i]) == StatusCode::kOutcomeUnknown;
        EXPECT_TRUE(answers[i].ok() || CodeOf(answers[i]) == StatusCode::kOutcomeUnknown)
            << answers[i].status().ToString();
      }
      const ptrdiff_t times = std::ranges::count(changed, row);
      EXPECT_GE(times, done);
      if (puts == 0) {
        EXPECT_LE(times, done + unknown) << row;
      }
    }
  }
}

}  // namespace
}  // namespace cellfs::hbase
