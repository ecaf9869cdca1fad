// SPDX-License-Identifier: MIT
//
// A schema that changes while somebody looks or puts: what was reckoned by the old one is not valid
// for ever.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "engine/forwarding_store.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

// Just after a schema was read for the n-th time something happens.
class AlteredStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  StatusOr<std::shared_ptr<const TableSchema>> DescribeTable(const TableName& table) override {
    auto schema = ForwardingStore::DescribeTable(table);
    if (left > 0 && --left == 0) std::async(std::launch::async, act).get();
    return schema;
  }
  int left = 0;
  std::function<void()> act;
};

// Another thread gives the family a TTL of five seconds, and tells the kernel.
struct AlteredTree : WritingTree {
  AlteredTree() {
    filesystem.reset();
    auto made = std::make_unique<AlteredStore>(std::move(store));
    altered = made.get();
    store = std::move(made);
    Remount();
    MakeTable();
    Put("r", "q", "abc");
    altered->act = [this] {
      TableSchema schema = **store->DescribeTable(table);
      EXPECT_TRUE(schema.families.at("f").Set("TTL", "5").ok());
      EXPECT_TRUE(store->AlterTable(Caller::Superuser(), schema).ok());
      filesystem->kernel().TableChanged(table);
    };
  }
  bool was_altered() const { return altered->left == 0; }

  AlteredStore* altered;
};

constexpr double kTtl = 5;
constexpr int kMostReads = 100;

TEST(AlteredMeanwhileTest, WhatWasLookedUpEndsWithItsTimeToLive) {
  for (int reads = 1; reads < kMostReads; ++reads) {
    AlteredTree tree;
    const auto family = tree.LookUp("default/t/r/f");
    ASSERT_TRUE(family.ok());
    tree.altered->left = reads;
    const auto found = tree.filesystem->LookUp(tree.request, *family->node, "q");
    if (!tree.was_altered()) return;
    ASSERT_TRUE(found.ok());
    EXPECT_LE(found->name_valid_seconds, kTtl) << reads;
    EXPECT_LE(found->attributes_valid_seconds, kTtl) << reads;
    tree.clock->Advance(6000);
    EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *found->node).error(), ENOENT) << reads;
  }
  FAIL() << "no end";
}

TEST(AlteredMeanwhileTest, WhatWasPutEndsWithItsTimeToLive) {
  for (int reads = 1; reads < kMostReads; ++reads) {
    AlteredTree tree;
    const auto known = tree.LookUp("default/t/r/f/q");
    ASSERT_TRUE(known.ok());
    const OpenFile file = tree.Open("default/t/r/f/q", {.read = false, .write = true});
    ASSERT_EQ(tree.Write(file, "put"), 0);
    tree.altered->left = reads;
    ASSERT_EQ(tree.Flush(file), 0);
    const bool was_altered = tree.was_altered();
    tree.altered->left = 0;
    EXPECT_EQ(tree.Close(file), 0);
    if (!was_altered) return;
    tree.clock->Advance(6000);
    EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *known->node).error(), ENOENT) << reads;
  }
  FAIL() << "no end";
}

TEST(AlteredMeanwhileTest, WhatWasRenamedEndsWithItsTimeToLive) {
  for (int reads = 1; reads < kMostReads; ++reads) {
    AlteredTree tree;
    const auto known = tree.LookUp("default/t/r/f/q");
    ASSERT_TRUE(known.ok());
    const auto family = tree.LookUp("default/t/r/f");
    ASSERT_TRUE(family.ok());
    tree.altered->left = reads;
    ASSERT_TRUE(
        tree.filesystem->Rename(tree.request, *family->node, "q", *family->node, "p", 0).ok());
    const bool was_altered = tree.was_altered();
    tree.altered->left = 0;
    if (!was_altered) return;
    tree.clock->Advance(6000);
    EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *known->node).error(), ENOENT) << reads;
  }
  FAIL() << "no end";
}

}  // namespace
}  // namespace cellfs::fs
