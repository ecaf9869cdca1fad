// SPDX-License-Identifier: MIT
//
// Memory that runs out in the midst of an operation ends neither the daemon nor what is known of
// the tree: each file is as before the operation or as after it, and is seen as it is stored.
#include <gtest/gtest.h>

#include "tests/fs/changing_operations.h"
#include "tests/support/failing_memory.h"

namespace cellfs::fs {
namespace {

constexpr int64_t kMostAllocations = 20'000;
constexpr int64_t kAllFollowing = INT64_MAX;

// The way to the kernel, which forgets everything it is told to.
struct Listener : KernelNotifier {
  void InvalidateInode(const Node&) override {}
  void InvalidateAttributes(const Node&) override {}
  void InvalidateEntry(const Node&, const std::string&) override {}
};

Ending Do(const Operation& operation, int64_t first_failing, int64_t failures) {
  Listener listener;
  FailingTree tree;
  tree.filesystem->kernel().SetNotifier(&listener);
  Fill(tree);
  const auto act = operation.prepare(tree);
  Ending ending;
  {
    const FailingMemory failing(first_failing, failures);
    ending.error = Guarded(act);
    ending.failed = failing.has_failed();
  }
  ending.files = tree.AllFiles();
  tree.filesystem->kernel().SetNotifier(nullptr);
  tree.Remount(FailingTree::Options());
  ending.files_after_remount = tree.AllFiles();
  return ending;
}

class MemoryFailuresTest : public testing::TestWithParam<int64_t> {};

TEST_P(MemoryFailuresTest, AnOperationIsDoneOrNot) {
  for (const Operation& operation : Operations()) {
    const Files before = Do(operation, 0, kAllFollowing).files;
    const Ending done = Do(operation, kMostAllocations, 0);
    ASSERT_EQ(done.error, 0) << operation.name;
    bool failed = true;
    for (int64_t first = 0; failed && first < kMostAllocations; first += kFailingMemoryStep) {
      const Ending ending = Do(operation, first, GetParam());
      failed = ending.failed;
      const std::string name = operation.name + ", allocation " + std::to_string(first);
      EXPECT_EQ(Others(ending.files, before, done.files), "") << name;
      ExpectSameInStore(ending, name);
    }
    EXPECT_FALSE(failed) << operation.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Failures, MemoryFailuresTest, testing::Values(1, kAllFollowing));

}  // namespace
}  // namespace cellfs::fs
