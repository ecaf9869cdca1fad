// SPDX-License-Identifier: MIT
#include "fs/tree/asof.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/forwarding_store.h"
#include "fs/requests/running_request.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

TEST(AsofTest, LeavesOutWhatWasWrittenAfterItsFirstLookUp) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  tree.Put("r", "q", "old", kStart - 10);
  const std::string path = "default/t/.asof/" + std::to_string(kStart) + "/r/f/q";
  EXPECT_EQ(tree.ReadFile(path), "old");
  tree.Put("r", "q", "late, but with an early timestamp", kStart - 5);
  EXPECT_EQ(tree.ReadFile(path), "old");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "late, but with an early timestamp");
}

TEST(AsofTest, TheHistoryThereEndsAtItsTime) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  const Timestamp now = kStart + 100;
  tree.clock->Set(now + 1000);
  for (const int64_t age : {30, 20, 10})
    tree.Put("r", "q", std::to_string(age) + " before", now - age);
  tree.Put("r", "p", "deleted", now - 30);
  const std::string time = std::to_string(now - 15);
  for (const std::string& family :
       {"default/t/.asof/" + time + "/r/f", ".asof/" + time + "/default/t/r/f"}) {
    const auto version = [&](int64_t age) { return std::to_string(now - age); };
    EXPECT_EQ(tree.List(family + "/.versions"), (std::vector<std::string>{"p", "q"}));
    EXPECT_EQ(tree.List(family + "/.versions/q"),
              (std::vector<std::string>{version(20), version(30)}));
    EXPECT_EQ(tree.ReadFile(family + "/.versions/q/" + version(30)), "30 before");
    EXPECT_EQ(tree.ReadFile(family + "/q@" + version(20)), "20 before");
    EXPECT_EQ(tree.Error(family + "/.versions/q/" + version(10)), ENOENT);
    EXPECT_EQ(tree.Error(family + "/q@" + version(10)), ENOENT);
    EXPECT_EQ(tree.Error(family + "/.deleted"), ENOENT);
    EXPECT_EQ(tree.Error(family + "/.counters"), ENOENT);
  }
  EXPECT_EQ(tree.Error("default/t/.scan/limit=1/r/f/.versions"), ENOENT);
}

TEST(AsofTest, LetsGoAnHourAfterItsLastUse) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  tree.Put("r", "q", "old", kStart - 10);
  auto& registry = tree.filesystem->parts().asof;
  EXPECT_TRUE(registry.Find(kStart).ok());
  tree.clock->Advance(3599 * 1000);
  EXPECT_EQ(registry.ListHeld().size(), 1u);
  tree.clock->Advance(1000);
  EXPECT_EQ(registry.ListHeld().size(), 0u);
  EXPECT_EQ(tree.store->GetStatistics().pinned_moments, 0u);
}

TEST(AsofTest, HoldsAsLongAsSomethingOpenReadsIt) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  auto& registry = tree.filesystem->parts().asof;
  auto open = (*registry.Find(kStart))->Use();
  tree.clock->Advance(3 * 3600 * 1000);
  EXPECT_EQ(registry.ListHeld().size(), 1u);
  open.reset();
  EXPECT_EQ(registry.ListHeld().size(), 0u);
}

// As while a shell stands in it.
TEST(AsofTest, HoldsAsLongAsTheKernelKnowsADirectoryOfIt) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  tree.Put("r", "q", "old", kStart - 10);
  std::vector<NodePtr> known = {tree.filesystem->root().shared_from_this()};
  for (const std::string& name : {std::string("default"), std::string("t"), std::string(".asof"),
                                  std::to_string(kStart), std::string("r")}) {
    const auto entry = tree.filesystem->LookUp(tree.request, *known.back(), name);
    ASSERT_TRUE(entry.ok()) << name;
    known.push_back(entry->node);
  }
  auto& registry = tree.filesystem->parts().asof;
  tree.clock->Advance(3 * 3600 * 1000);
  tree.Put("r", "q", "new");
  EXPECT_EQ(registry.ListHeld().size(), 1u);
  const auto seen = tree.filesystem->LookUp(tree.request, *known.back(), "f");
  ASSERT_TRUE(seen.ok());
  tree.filesystem->Forget(*seen->node, 1);
  tree.filesystem->Forget(*known[5], 1);
  tree.filesystem->Forget(*known[4], 1);
  known.clear();
  tree.clock->Advance(3599 * 1000);
  EXPECT_EQ(registry.ListHeld().size(), 1u);
  tree.clock->Advance(1000);
  EXPECT_EQ(registry.ListHeld().size(), 0u);
}

TEST(AsofTest, TimesPinnedWhileNothingIsWrittenShareAPin) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable("10");
  tree.Put("r", "q", "v", kStart, "g");
  const auto path = [](Timestamp time) { return "default/t/.asof/" + std::to_string(time); };
  EXPECT_EQ(tree.ReadFile(path(kStart) + "/r/g/q"), "v");
  tree.clock->Advance(11 * 1000);
  EXPECT_EQ(tree.ReadFile(path(kStart + 1) + "/r/g/q"), "<ENOENT>");  // a TTL has ended it
  EXPECT_EQ(tree.ReadFile(path(kStart) + "/r/g/q"), "v");
  EXPECT_EQ(tree.store->GetStatistics().pinned_moments, 1u);
  tree.Put("r", "q", "v");
  EXPECT_EQ(tree.Error(path(kStart + 2)), 0);
  EXPECT_EQ(tree.store->GetStatistics().pinned_moments, 2u);
}

TEST(AsofTest, HoldsSoManyTimesAndLetsGoWhatWasUsedLeastLately) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  tree.Put("r", "q", "old");
  auto& registry = tree.filesystem->parts().asof;
  std::vector<std::shared_ptr<AsofMoment>> known;
  for (size_t i = 0; i < AsofRegistry::kMostHeld / 2; ++i) {
    known.push_back(*registry.Find(static_cast<Timestamp>(i)));
    tree.Put("r", "q", "v");
  }
  const auto is_open = known[0]->Use();
  EXPECT_EQ(tree.Error("default/t/.asof/1000"), EBUSY);
  EXPECT_EQ(known[1]->Use(), known[1]->Use());

  tree.clock->Advance(60 * 1000);
  known[1]->Use();
  EXPECT_EQ(tree.Error("default/t/.asof/1000"), 0);
  EXPECT_EQ(registry.ListHeld().size(), AsofRegistry::kMostHeld / 2);
  std::set<Timestamp> held;
  for (const auto& one : registry.ListHeld()) held.insert(one.time);
  EXPECT_TRUE(held.contains(0) && held.contains(1) && held.contains(1000));
  EXPECT_FALSE(held.contains(2));
}

// Keeps a thing for each moment, and may keep so many.
class BoundedStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  StatusOr<std::shared_ptr<const Moment>> PinMoment(const std::string& holder) override {
    const Statistics now = GetStatistics();
    if (now.moment_bytes >= now.moment_limit && KeepsShareOfMoments(now, holder))
      return Status(StatusCode::kUnavailable, "moments keep enough");
    CELLFS_ASSIGN_OR_RETURN(auto moment, ForwardingStore::PinMoment(holder));
    pinned_.emplace_back(holder, moment);
    return moment;
  }
  Statistics GetStatistics() override {
    Statistics statistics = ForwardingStore::GetStatistics();
    statistics.moment_bytes = statistics.pinned_moments;
    statistics.moment_limit = limit;
    for (TableStatistics& table : statistics.tables) {
      for (const auto& [family, since] : complete_since) table.past[family].complete_since = since;
      table.emptied = emptied;
      table.begun = 2;
    }
    for (const auto& [holder, moment] : pinned_)
      if (!moment.expired()) ++statistics.moment_bytes_by_holder[holder];
    return statistics;
  }
  uint64_t limit = 2;
  std::map<std::string, int64_t> complete_since;
  std::map<std::string, int64_t> emptied;

 private:
  std::vector<std::pair<std::string, std::weak_ptr<const Moment>>> pinned_;
};

class BoundedAsofTest : public testing::Test {
 protected:
  BoundedAsofTest() {
    TableSchema schema(table_);
    schema.families["f"] = FamilySchema("f");
    EXPECT_TRUE(store_->CreateTable(Caller::Superuser(), schema).ok());
  }
  // The next time, after something was written.
  OutcomeOr<std::shared_ptr<AsofMoment>> FindNext() {
    const Put put{"r", {{"f", "q", kLatestTimestamp, "v", {}}}};
    EXPECT_TRUE(store_->Mutate(Caller::Superuser(), table_, RowMutations::Of(put)).ok());
    return registry_.Find(next_time_++);
  }
  std::set<Timestamp> Held() {
    std::set<Timestamp> times;
    for (const auto& held : registry_.ListHeld()) times.insert(held.time);
    return times;
  }

  const TableName table_{"default", "t"};
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(kStart);
  const std::unique_ptr<BoundedStore> store_ =
      std::make_unique<BoundedStore>(OpenMemoryStore({.clock = clock_}));
  AsofRegistry registry_{*store_, *clock_, 3600 * 1000};
  Timestamp next_time_ = 1;
};

TEST_F(BoundedAsofTest, AtTheBoundOfWhatIsKeptAFurtherTimeIsRefusedWithTheReason) {
  ASSERT_TRUE(FindNext().ok());
  ASSERT_TRUE(FindNext().ok());
  const auto refused = FindNext();
  EXPECT_EQ(refused.error(), EBUSY);
  EXPECT_EQ(refused.status().reason(), "moments keep enough");
  EXPECT_EQ(Held(), (std::set<Timestamp>{1, 2}));
}

TEST_F(BoundedAsofTest, WhoKeepsTheMostIsRefusedAndLetsGoAndNobodyElse) {
  constexpr uid_t kGreedy = 1001;
  constexpr uid_t kOther = 1002;
  store_->limit = 6;
  std::vector<std::shared_ptr<const Moment>> open;
  {
    const RunningRequest request(kGreedy, nullptr);
    for (int i = 0; i < 6; ++i) open.push_back((*FindNext())->Use());
    EXPECT_EQ(FindNext().error(), EBUSY);
  }
  {
    const RunningRequest request(kOther, nullptr);
    EXPECT_TRUE(FindNext().ok());
    clock_->Advance(60 * 1000);
    EXPECT_TRUE(FindNext().ok());
    EXPECT_EQ(Held(), (std::set<Timestamp>{1, 2, 3, 4, 5, 6, 8, 9})) << "none of them goes for others'";
  }
  open.erase(open.begin());
  EXPECT_EQ(Held(), (std::set<Timestamp>{2, 3, 4, 5, 6, 8, 9})) << "now one of those who keep most may go";
}

TEST_F(BoundedAsofTest, WhatWasLostBeforeItWasPinnedIsToldOnce) {
  store_->limit = 10;
  store_->complete_since = {{"f", 2}, {"g", 1}};
  const auto early = *FindNext();
  store_->complete_since["g"] = 100;  // what is pinned keeps that
  EXPECT_EQ(early->TakeIncomplete(table_), (std::vector<std::string>{"f"}));
  EXPECT_TRUE(early->TakeIncomplete(table_).empty());
  EXPECT_EQ((*FindNext())->TakeIncomplete(table_), (std::vector<std::string>{"g"}));
  store_->complete_since.clear();
  store_->emptied = {{"", 4}, {"f", 2}};
  EXPECT_EQ((*FindNext())->TakeIncomplete(table_), (std::vector<std::string>{""}));
  EXPECT_TRUE((*FindNext())->TakeIncomplete(table_).empty()) << "it was empty then";
}

TEST_F(BoundedAsofTest, ThereWhatWasUsedLeastLatelyGoesButNothingThatIsOpen) {
  const auto first = *FindNext();
  const auto is_open = first->Use();
  ASSERT_TRUE(FindNext().ok());
  clock_->Advance(60 * 1000);
  ASSERT_TRUE(FindNext().ok());
  EXPECT_EQ(Held(), (std::set<Timestamp>{1, 3}));
  store_->limit = 1;  // as when more has been replaced since
  EXPECT_EQ(Held(), (std::set<Timestamp>{1, 3})) << "the last was used within a minute";
  clock_->Advance(60 * 1000);
  EXPECT_EQ(Held(), (std::set<Timestamp>{1}));
}

TEST_F(BoundedAsofTest, OneCanBeLetGo) {
  const auto first = *FindNext();
  EXPECT_EQ(registry_.LetGo(1).error(), EBUSY) << "it was just used";
  clock_->Advance(60 * 1000);
  auto is_open = first->Use();
  clock_->Advance(60 * 1000);
  EXPECT_EQ(registry_.LetGo(1).error(), EBUSY) << "it is open";
  EXPECT_TRUE(registry_.ListHeld()[0].in_use);
  is_open.reset();
  EXPECT_TRUE(registry_.LetGo(1).ok());
  EXPECT_EQ(registry_.LetGo(1).error(), ENOENT);
  EXPECT_EQ(store_->GetStatistics().pinned_moments, 0u);
}

TEST(AsofTest, ATimeToComeIsNotCached) {
  Tree tree;
  CELLFS_NEEDS(pins_moments);
  tree.MakeTable();
  tree.Put("r", "q", "v");
  const auto entry = tree.LookUp("default/t/.asof/" + std::to_string(kStart + 100000) + "/r");
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->name_valid_seconds, 0);
  EXPECT_GT(tree.LookUp("default/t/.asof/" + std::to_string(kStart))->name_valid_seconds, 0);
}

}  // namespace
}  // namespace cellfs::fs
