// SPDX-License-Identifier: MIT
//
// What the kernel is told of after a flush or a compaction: all that has changed, and nothing of a
// table that has not, however much of it the kernel knows.
#include "fs/nodes/rewritten_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

std::string NameOf(const Node& node) {
  const Snapshot<Place> place = node.place();
  return place->ToString();
}

using Names = std::vector<std::string>;

struct RewrittenNodesTest : testing::Test {
  void Know(const Place& place) { known.push_back(inodes.LookUp(place)); }
  // The places looked at again, sorted.
  Names Rewritten(const std::vector<RewrittenColumn>& columns) {
    nodes.Rewritten(table, columns);
    nodes.Await();
    std::sort(again.begin(), again.end());
    return std::exchange(again, {});
  }

  const TableName table{"default", "t"};
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable inodes{column_table};
  Names again;
  std::vector<NodePtr> known;
  RewrittenNodes nodes{
      inodes, [this](const NodePtr& node) { again.push_back(NameOf(*node)); },
      [this](const TableName& forgotten) { again.push_back("all of " + forgotten.ToString()); },
      [] {}};
};

TEST(RewrittenNodesMemoryTest, WorkInWhichMemoryRunsOutIsDoneAgain) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable inodes{column_table};
  const TableName table{"default", "t"};
  const NodePtr node = inodes.LookUp(CellPlace(table, "r", "f", "q"));
  int tries = 0;
  RewrittenNodes nodes{inodes,
                       [&](const NodePtr&) {
                         if (++tries == 1) throw std::bad_alloc();
                       },
                       [](const TableName&) {}, [] {}};
  nodes.Rewritten(table, {{"r", "f", "q"}});
  nodes.Await();
  EXPECT_EQ(tries, 2);
}

TEST_F(RewrittenNodesTest, TheColumnAndItsDirectories) {
  Know(NamespacePlace("default"));
  Know(TablePlace(table));
  for (const char* row : {"r", "s"}) {
    Know(RowPlace(table, row));
    Know(FamilyPlace(table, row, "f"));
    for (const char* column : {"p", "q"}) Know(CellPlace(table, row, "f", column));
  }
  Know(CellPlace({"default", "u"}, "r", "f", "q"));
  EXPECT_EQ(Rewritten({{"r", "f", "q"}, {"r", "f", "unknown"}}),
            (Names{"default:t", "default:t/r", "default:t/r/f", "default:t/r/f:q"}));
  EXPECT_EQ(Rewritten({{"unknown", "f", "q"}}), Names{"default:t"});
  EXPECT_EQ(
      Rewritten({{"s", "f", std::nullopt}}),
      (Names{"default:t", "default:t/s", "default:t/s/f", "default:t/s/f:p", "default:t/s/f:q"}));
}

// While the thread is busy with one change others come: it looks at all of them together.
TEST(RewrittenNodesMergeTest, WhatComesTogetherIsLookedAtOnce) {
  ManualClock clock{0};
  ColumnTable column_table{clock, 0};
  InodeTable inodes{column_table};
  const TableName table{"default", "t"};
  const NodePtr first = inodes.LookUp(CellPlace(table, "first", "f", "q"));
  const NodePtr cell = inodes.LookUp(CellPlace(table, "r", "f", "q"));
  const NodePtr family = inodes.LookUp(FamilyPlace(table, "r", "f"));
  std::mutex mutex;
  std::map<std::string, int> looks;
  RewrittenNodes nodes{inodes,
                       [&](const NodePtr& node) {
                         const std::lock_guard lock(mutex);
                         ++looks[NameOf(*node)];
                       },
                       [](const TableName&) {}, [] {}};
  {
    const std::lock_guard busy(mutex);
    nodes.Rewritten(table, {{"first", "f", "q"}});
    // The first may have been taken with the others, or before them.
    for (int i = 0; i < 100; ++i) nodes.Rewritten(table, {{"r", "f", std::nullopt}});
  }
  nodes.Await();
  EXPECT_EQ(looks["default:t/first/f:q"], 1);
  EXPECT_LE(looks["default:t/r/f:q"], 2);
  EXPECT_GE(looks["default:t/r/f:q"], 1);
}

TEST_F(RewrittenNodesTest, ATableRewrittenAsAWholeIsForgotten) {
  Know(CellPlace(table, "r", "f", "q"));
  const uint64_t looked_at = Node::NewestGeneration();
  nodes.TableRewritten(table);
  nodes.Await();
  EXPECT_EQ(again, Names{"all of " + table.ToString()});
  EXPECT_GT(inodes.LookUp(CellPlace(table, "r", "f", "p"))->generation(), looked_at);
}

// What it read may have gone, and nobody would tell the kernel.
TEST_F(RewrittenNodesTest, ALookUpThatBeganBeforeIsMadeAnew) {
  const uint64_t looked_at = Node::NewestGeneration();
  Rewritten({{"r", "f", "q"}});
  EXPECT_GT(inodes.LookUp(CellPlace(table, "r", "f", "q"))->generation(), looked_at);
}

struct Told : KernelNotifier {
  void InvalidateInode(const Node& node) override {
    std::lock_guard lock(mutex);
    nodes.push_back(NameOf(node));
  }
  void InvalidateAttributes(const Node&) override {}
  void InvalidateEntry(const Node& directory, const std::string& name) override {
    std::lock_guard lock(mutex);
    names.push_back(NameOf(directory) + " " + name);
    told_a_name.notify_all();
  }
  Names TakeNodes() {
    std::lock_guard lock(mutex);
    std::sort(nodes.begin(), nodes.end());
    return std::exchange(nodes, {});
  }
  // Names are told by a thread of their own.
  bool AwaitName(const std::string& name) {
    std::unique_lock lock(mutex);
    return told_a_name.wait_for(lock, std::chrono::seconds(60), [&] {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  }

  std::mutex mutex;
  std::condition_variable told_a_name;
  Names nodes;  // guarded by mutex
  Names names;  // guarded by mutex
};

struct RewrittenTree : testing::Test {
  RewrittenTree() {
    TableSchema schema(tree.table);
    schema.families.emplace("f", FamilySchema("f"));  // VERSIONS 1
    EXPECT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
    tree.filesystem->kernel().SetNotifier(&told);
  }
  ~RewrittenTree() override { tree.filesystem->kernel().SetNotifier(nullptr); }

  void SetUp() override {
    if (tree.controls == nullptr) GTEST_SKIP() << "about a store that tells of rewrites";
  }
  void Flush() { EXPECT_TRUE(tree.store->Flush(Caller::Superuser(), tree.table).ok()); }
  // As the background does it.
  void Compact() {
    EXPECT_TRUE(tree.store->Compact(Caller::Superuser(), tree.table, CompactionKind::kMajor).ok());
    tree.filesystem->AwaitKernel();
  }
  void DeleteVersion(Timestamp version) {
    cellfs::Delete remove{"r", {{CellType::kDelete, "f", "q", version}}};
    EXPECT_TRUE(tree.store->Mutate(Caller::Superuser(), tree.table, RowMutations::Of(remove)).ok());
  }

  Tree tree;
  Told told;
};

TEST_F(RewrittenTree, NothingIsToldOfWhatStays) {
  for (int i = 0; i < 100; ++i) {
    const std::string row = "r" + std::to_string(i);
    tree.Put(row, "q", "v");
    ASSERT_TRUE(tree.LookUp("default/t/" + row + "/f/q").ok());
  }
  Flush();
  Compact();
  EXPECT_EQ(told.TakeNodes(), Names{});
}

TEST_F(RewrittenTree, AVersionThatACompactionTakesAwayIsGoneForTheKernel) {
  tree.Put("r", "q", "before", 10);
  Flush();
  tree.Put("r", "q", "after", 20);
  tree.Put("s", "q", "stays", 20);
  Flush();
  DeleteVersion(20);
  ASSERT_TRUE(tree.LookUp("default/t/r/f/q").ok());  // from now on the node knows what it shows
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "before");
  EXPECT_EQ(tree.ReadFile("default/t/s/f/q"), "stays");
  told.TakeNodes();
  Compact();
  EXPECT_EQ(told.TakeNodes(),
            (Names{"default:t", "default:t/r", "default:t/r/f", "default:t/r/f:q"}));
  for (const char* gone : {"default:t/r/f q", "default:t/r f", "default:t r"}) {
    EXPECT_TRUE(told.AwaitName(gone)) << gone;
  }
  EXPECT_EQ(tree.Error("default/t/r"), ENOENT);
}

}  // namespace
}  // namespace cellfs::fs
