// SPDX-License-Identifier: MIT
#include "fs/nodes/inode_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

namespace cellfs::fs {
namespace {

const Place kA = CellPlace({"ns", "t"}, "r", "f", "a");
const Place kB = CellPlace({"ns", "t"}, "r", "f", "b");

TEST(InodeTableTest, ANodeGoesWhenItIsForgottenAsOftenAsItWasLookedUp) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const NodePtr node = table.LookUp(kA);
  EXPECT_EQ(table.LookUp(kA), node);
  table.Forget(*node, 1);
  EXPECT_EQ(table.Find(kA), node);
  table.Forget(*node, 1);
  EXPECT_EQ(table.Find(kA), nullptr);
  EXPECT_EQ(table.size(), 1u);  // the root
}

TEST(InodeTableTest, RenameTakesTheNodeAlongAndUnlinksTheOneThatWasThere) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const NodePtr a = table.LookUp(kA);
  const NodePtr b = table.LookUp(kB);
  table.Move(kA, kB);
  EXPECT_EQ(table.Find(kB), a);
  const Snapshot<Place> moved = a->place();
  EXPECT_TRUE(*moved == kB);
  EXPECT_EQ(table.Find(kA), nullptr);
  EXPECT_TRUE(b->unlinked());
  EXPECT_FALSE(a->unlinked());
  table.Forget(*b, 1);
  table.Forget(*a, 1);
  EXPECT_EQ(table.size(), 1u);
}

TEST(InodeTableTest, ANodeKnowsItsCellUntilSomethingMayHaveChanged) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const NodePtr node = table.LookUp(kA);
  EXPECT_FALSE(node->cached_cell());
  const uint64_t looked_at = Node::NewestGeneration();
  node->Cache({.version = 5, .size = 7, .expires = {}}, looked_at);
  ASSERT_TRUE(node->cached_cell());
  EXPECT_EQ(node->cached_cell()->version, 5);
  node->ContentChanged();
  EXPECT_FALSE(node->cached_cell());
  node->Cache({.version = 5, .size = 7, .expires = {}}, looked_at);
  EXPECT_FALSE(node->cached_cell()) << "it was read before the change";
  node->Cache({.version = 6, .size = 7, .expires = {}}, node->generation());
  table.Move(kA, kB);
  EXPECT_FALSE(node->cached_cell());
}

TEST(InodeTableTest, ADirectoryKnowsItsFirstCellUntilAnythingHasChanged) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const NodePtr family = table.LookUp(kA.Parent());
  const NodePtr column = table.LookUp(kA);
  family->Cache({.version = 5, .size = 0, .expires = {}}, Node::NewestGeneration());
  ASSERT_TRUE(family->cached_cell());
  column->ContentChanged();
  EXPECT_FALSE(family->cached_cell());
  family->Cache({.version = 5, .size = 0, .expires = {}}, Node::NewestGeneration());
  table.Unlink(kB);  // that the kernel has never looked up
  EXPECT_FALSE(family->cached_cell());
}

TEST(InodeTableTest, AWalkFindsEveryNodeThatStaysWhileOthersComeMoveAndGo) {
  constexpr int kStay = 20000;
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const auto at = [](const std::string& name) { return CellPlace({"ns", "t"}, "r", "f", name); };
  for (int i = 0; i < kStay; ++i) table.LookUp(at("stays" + std::to_string(i)));
  table.LookUp(at("moves0"));
  std::atomic<bool> done = false;
  std::thread others([&] {
    for (int i = 0; !done; ++i) {
      table.Move(at("moves" + std::to_string(i)), at("moves" + std::to_string(i + 1)));
      table.LookUp(at("comes" + std::to_string(i)));
      table.Unlink(at("comes" + std::to_string(i / 2)));
    }
  });
  for (int round = 0; round < 10; ++round) {
    std::set<const Node*> stay;
    bool moving = false;
    for (const NodePtr& node : table.FindAll([](const Place&) { return true; })) {
      const Snapshot<Place> place = node->place();
      const std::string& name = place->qualifier;
      if (name.starts_with("stays")) stay.insert(node.get());
      moving |= name.starts_with("moves");
    }
    EXPECT_EQ(stay.size(), static_cast<size_t>(kStay));
    EXPECT_TRUE(moving);
  }
  done = true;
  others.join();
}

TEST(InodeTableTest, AfterUnlinkTheNameIsAnotherNode) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const NodePtr old = table.LookUp(kA);
  EXPECT_EQ(table.Unlink(kA), old);
  const NodePtr fresh = table.LookUp(kA);
  EXPECT_NE(fresh, old);
  table.Forget(*old, 1);
  EXPECT_EQ(table.Find(kA), fresh);
}

TEST(InodeTableTest, CountsStayExactUnderThreads) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable table{column_table};
  const auto work = [&] {
    for (int i = 0; i < 10000; ++i) {
      const NodePtr node = table.LookUp(i % 2 == 0 ? kA : kB);
      table.Forget(*node, 1);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(table.size(), 1u);
}

}  // namespace
}  // namespace cellfs::fs
