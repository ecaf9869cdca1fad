// SPDX-License-Identifier: MIT
#include "src/history/states.h"

#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/src/history/history_fixture.h"
#include "tests/src/history/random_steps.h"

namespace cellfs {
namespace {

class StatesTest : public HistoryTest {};
INSTANTIATE_TEST_SUITE_P(Stores, StatesTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kLocal), NameOf);

TEST_P(StatesTest, ADeleteHidesFromItsTimeOn) {
  HistoryStore store(GetParam());
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.DeleteAt(30, CellType::kDeleteColumn, "q");
  EXPECT_EQ(store.StateText(store.Row(), 9), "");
  EXPECT_EQ(store.StateText(store.Row(), 15), "q@10=a ");
  EXPECT_EQ(store.StateText(store.Row(), 29), "q@20=b ");
  EXPECT_EQ(store.StateText(store.Row(), 30), "");
  EXPECT_EQ(store.StateText(store.Row(), std::nullopt), "");
}

TEST_P(StatesTest, WithoutKeptDeletesWhatIsStillStoredIsSeen) {
  HistoryStore store(GetParam(), {});
  store.PutAt(10, "q", "a");
  store.PutAt(10, "q", "a", "s", "g");
  store.DeleteAt(30, CellType::kDeleteFamily);
  EXPECT_EQ(store.StateText(store.Table(), 29), "q@10=a s/g:q@10=a ");
  EXPECT_EQ(store.StateText({.table = store.table, .family = "g"}, 29), "s/g:q@10=a ");
}

TEST_P(StatesTest, ATimeToLiveIsReckonedFromThatTime) {
  HistoryStore store(GetParam(), {{"TTL", "10"}, {"VERSIONS", "5"}});
  store.PutAt(990000, "q", "a");
  EXPECT_EQ(store.StateText(store.Row(), 1000000), "q@990000=a ");
  EXPECT_EQ(store.StateText(store.Row(), 1000001), "");
  store.clock->Set(1000001);
  EXPECT_EQ(store.StateText(store.Row(), std::nullopt), "");
  EXPECT_EQ(store.StateText(store.Row(), 1000000), "q@990000=a ");
}

TEST_P(StatesTest, DifferencesAreOfBytesAndNotOfVersions) {
  HistoryStore store(GetParam());
  store.PutAt(10, "changed", "old");
  store.PutAt(10, "removed", "gone");
  store.PutAt(10, "same", "same");
  store.PutAt(10, "untouched", "x");
  store.PutAt(20, "changed", "new");
  store.PutAt(20, "same", "same");
  store.PutAt(20, "added", "here");
  store.DeleteAt(20, CellType::kDeleteColumn, "removed");
  EXPECT_EQ(store.DifferencesText(store.Table(), 10, 20),
            "+added@20=here -changed@10=old+changed@20=new -removed@10=gone ");
  EXPECT_EQ(store.DifferencesText(store.Table(), 20, std::nullopt), "");
  EXPECT_EQ(store.DifferencesText(store.Column("changed"), 10, std::nullopt),
            "-changed@10=old+changed@20=new ");
}

TEST_P(StatesTest, WhatDependsOnWhenAVersionWasDeletedIsLeftOut) {
  HistoryStore store(GetParam());
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.PutAt(30, "r", "c");
  store.DeleteAt(20, CellType::kDelete, "q");
  EXPECT_EQ(store.StateText(store.Table(), 15), "q@10=a ");
  EXPECT_EQ(store.StateText(store.Table(), 40), "r@30=c ");
  EXPECT_EQ(store.DifferencesText(store.Table(), 15, 40), "+r@30=c ");
  EXPECT_EQ(store.DifferencesText(store.Table(), 40, std::nullopt), "");
  EXPECT_EQ(store.StateText(store.Table(), std::nullopt), "q@10=a r@30=c ");
  store.PutAt(50, "q", "d");
  EXPECT_EQ(store.StateText(store.Table(), 60), "q@50=d r@30=c ");
  store.DeleteAt(30, CellType::kDeleteFamilyVersion);
  EXPECT_EQ(store.StateText(store.Table(), 60), "q@50=d ");
}

TEST_P(StatesTest, AVersionThatIsNotKeptMayHaveBeenThere) {
  HistoryStore store(GetParam(), {{"VERSIONS", "5"}});
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.PutAt(10, "hidden", "a");
  store.DeleteAt(20, CellType::kDelete, "q");
  store.DeleteAt(5, CellType::kDelete, "hidden");
  store.Flush();
  EXPECT_EQ(store.StateText(store.Table(), 40), "hidden@10=a ");
  EXPECT_EQ(store.StateText(store.Table(), 19), "hidden@10=a q@10=a ");
}

TEST_P(StatesTest, WhatTheDeleteOfAVersionHasChanged) {
  HistoryStore store(GetParam());
  store.PutAt(10, "q", "a");
  store.PutAt(20, "q", "b");
  store.PutAt(20, "r", "same");
  store.DeleteAt(20, CellType::kDelete, "q");
  std::string text;
  const HistoryAccess access = store.Access();
  store.Ok(ReadVersionDeletes(access, store.Table(), 20, ValueDetail::kValues, [&](Change&& change) {
    text += "-" + TextOf(*change.before) + "+" + TextOf(*change.after);
    return true;
  }));
  EXPECT_EQ(text, "-q@20=b+q@10=a");
}

// ---- Against stores that were written up to the time only -----------------------------------

const std::vector<FamilyText>& FamiliesOfStates() {
  static const std::vector<FamilyText> families = {
      {{"VERSIONS", "1"}},
      {{"VERSIONS", "100"}, {"KEEP_DELETED_CELLS", "TRUE"}},
      {{"VERSIONS", "3"}, {"TTL", "4"}},
      {{"VERSIONS", "3"}, {"TTL", "4"}, {"MIN_VERSIONS", "1"}},
      {{"VERSIONS", "3"}, {"MIN_VERSIONS", "2"}, {"TTL", "3"}, {"KEEP_DELETED_CELLS", "TRUE"}},
      {{"VERSIONS", "1"}, {"NEW_VERSION_BEHAVIOR", "true"}},
      {{"VERSIONS", "2"}, {"NEW_VERSION_BEHAVIOR", "true"}},
      {{"VERSIONS", "3"}, {"NEW_VERSION_BEHAVIOR", "true"}, {"TTL", "4"}, {"MIN_VERSIONS", "1"}},
  };
  return families;
}

TEST(StatesProperty, ThePastIsWhatAStoreShowsThatWasWrittenNoFurther) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomSteps steps(seed);
    const FamilyText& family = FamiliesOfStates()[seed % FamiliesOfStates().size()];
    std::vector<Step> written;
    for (int i = steps.Number(1, 30); i > 0; --i) written.push_back(steps.NextOfKnownTime());
    HistoryStore store(StoreKind::kMemory, family);
    for (const Step& step : written) Write(step, store);
    for (int tries = 0; tries < 3; ++tries) {
      const Timestamp time = 500 * steps.Number(0, 25);
      HistoryStore past(StoreKind::kMemory, family);
      for (const Step& step : written)
        if (step.cell.timestamp <= time) Write(step, past);
      past.clock->Set(time);
      ASSERT_EQ(store.StateText(store.Table(), time), past.Visible())
          << "seed " << seed << " time " << time;
    }
  }
}

// Whenever versions were deleted: what is shown is what was seen with those deletes and without them.
TEST(StatesProperty, WhatIsShownDoesNotDependOnWhenVersionsWereDeleted) {
  int left_out = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomSteps steps(seed);
    const FamilyText& family = FamiliesOfStates()[seed % FamiliesOfStates().size()];
    std::vector<Step> written;
    for (int i = steps.Number(1, 30); i > 0; --i) written.push_back(steps.Next());
    HistoryStore store(StoreKind::kMemory, family);
    for (const Step& step : written) Write(step, store);
    const Timestamp time = 500 * steps.Number(0, 25);
    HistoryStore with(StoreKind::kMemory, family);
    HistoryStore without(StoreKind::kMemory, family);
    for (const Step& step : written) {
      if (step.cell.timestamp > time) continue;
      Write(step, with);
      if (!IsVersionTombstone(step.cell.type)) Write(step, without);
    }
    with.clock->Set(time);
    without.clock->Set(time);
    const auto cells = [](const std::string& text) {
      std::istringstream words(text);
      return std::set<std::string>(std::istream_iterator<std::string>(words), {});
    };
    const auto seen = cells(with.Visible());
    const auto seen_without = cells(without.Visible());
    for (const std::string& cell : cells(store.StateText(store.Table(), time))) {
      ASSERT_TRUE(seen.contains(cell) && seen_without.contains(cell))
          << cell << " seed " << seed << " time " << time;
    }
    if (seen != seen_without) ++left_out;
  }
  EXPECT_GT(left_out, 10);
}

TEST(StatesProperty, ThePresentIsWhatAScanShows) {
  for (unsigned seed = 0; seed < 240; ++seed) {
    RandomSteps steps(seed);
    const FamilyText& family = FamiliesOfStates()[seed % FamiliesOfStates().size()];
    HistoryStore store(seed % 16 == 15 ? StoreKind::kLocal : StoreKind::kMemory, family);
    store.clock->Set(500 * steps.Number(0, 30));
    for (int i = steps.Number(1, 40); i > 0; --i) {
      Write(steps.Next(), store);
      const int maintenance = steps.Number(0, 15);
      if (maintenance == 0) store.Flush();
      if (maintenance == 1) store.Compact();
    }
    ASSERT_EQ(store.StateText(store.Table(), std::nullopt), store.Visible()) << "seed " << seed;
  }
}

TEST(StatesProperty, DifferencesLeadFromOneStateToTheOther) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomSteps steps(seed);
    HistoryStore store(StoreKind::kMemory, FamiliesOfStates()[seed % FamiliesOfStates().size()]);
    for (int i = steps.Number(1, 30); i > 0; --i) Write(steps.NextOfKnownTime(), store);
    const Timestamp from = 500 * steps.Number(0, 24);
    const HistoryTime to = steps.Number(0, 3) == 0
                               ? std::nullopt
                               : HistoryTime(500 * steps.Number(0, 24));
    using FamilyValues = std::map<std::string, std::string>;
    const HistoryAccess access = store.Access();
    const auto column = [](const Cell& cell) {
      return cell.row + "/" + cell.family + ":" + cell.qualifier;
    };
    const auto values = [&](HistoryTime time) {
      FamilyValues found;
      HistoryStore::Ok(
          ReadState(access, store.Table(), time, ValueDetail::kValues, [&](Cell&& cell) {
            found[column(cell)] = cell.value;
            return true;
          }));
      return found;
    };
    FamilyValues state = values(from);
    HistoryStore::Ok(ReadDifferences(
        access, store.Table(), from, to, ValueDetail::kValues, [&](Change&& change) {
          const std::string key = column(change.key());
          EXPECT_EQ(change.before.has_value(), state.contains(key));
          if (change.before) {
            EXPECT_EQ(change.before->value, state[key]);
          }
          state.erase(key);
          if (change.after) state[key] = change.after->value;
          return true;
        }));
    ASSERT_EQ(state, values(to)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cellfs
