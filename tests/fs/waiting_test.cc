// SPDX-License-Identifier: MIT
//
// Who waits for another request of the same open file or directory counts as waiting: the other may
// wait for the disk or for its turn, and a few who wait for it would keep all threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>

#include "engine/waiting.h"
#include "tests/fs/hooked_store.h"

namespace cellfs::fs {
namespace {

struct CountedWaits : WaitObserver {
  void WaitBegins(Wait) noexcept override { begun = true; }
  void WaitEnds() noexcept override { ended = true; }
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
};

class WaitingTest : public testing::Test {
 protected:
  WaitingTest() {
    tree_.MakeTable();
    tree_.Put("r", "q", "value");
  }

  // `first` comes to the hook, and there `second` is made by another thread.
  void ExpectWaits(std::function<void()> HookedStore::*hook, const std::function<void()>& first,
                   const std::function<void()>& second) {
    CountedWaits waits;
    std::future<void> other;
    tree_.hooked->*hook = [&] {
      other = std::async(std::launch::async, [&] {
        WaitObserver::OfThisThread() = &waits;
        second();
      });
      EXPECT_EQ(other.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
      EXPECT_TRUE(waits.begun);
      EXPECT_FALSE(waits.ended);
    };
    first();
    ASSERT_TRUE(other.valid());
    other.get();
    EXPECT_TRUE(waits.ended);
  }
  void ExpectWaits(std::function<void()> HookedStore::*hook, const std::function<void()>& both) {
    ExpectWaits(hook, both, both);
  }

  HookedTree tree_;
};

TEST_F(WaitingTest, ForAReadOfTheSameDescriptor) {
  const OpenFile file = tree_.Open("default/t/r/f/.versions/q/" + std::to_string(kStart), {});
  ASSERT_EQ(file.error, 0);
  ExpectWaits(&HookedStore::before_read, [&] { EXPECT_EQ(tree_.Read(file), "value"); });
}

TEST_F(WaitingTest, ForAListingOfTheSameDescriptor) {
  const NodePtr row = tree_.Directory("default/t/r");
  const auto opened = tree_.filesystem->OpenListing(tree_.request, *row);
  ASSERT_TRUE(opened.ok());
  ExpectWaits(&HookedStore::before_read, [&] {
    const auto take_all = [](const DirectoryEntry&) { return true; };
    EXPECT_TRUE(tree_.filesystem->List(tree_.request, *opened->directory, 0, take_all).ok());
  });
}

TEST_F(WaitingTest, ForAnIncrementByTheSameDescriptor) {
  const OpenFile counter =
      tree_.Create("default/t/r/f/.counters/n", false, ForWritingOnly());
  ASSERT_EQ(counter.error, 0);
  ExpectWaits(&HookedStore::before_mutation,
              [&] { EXPECT_EQ(tree_.Write(counter, "+1\n"), 0); });
  EXPECT_EQ(tree_.ReadFile("default/t/r/f/.counters/n"), "2\n");
}

TEST_F(WaitingTest, ForASchemaThatTheSameDescriptorWrites) {
  const OpenFile schema = tree_.Open("default/t/.schema.toml", Truncating());
  ASSERT_EQ(tree_.Write(schema, "open = true\n[families.f]\nVERSIONS = 3\n"), 0);
  ExpectWaits(&HookedStore::before_alteration, [&] { EXPECT_EQ(tree_.Flush(schema), 0); });
}

}  // namespace
}  // namespace cellfs::fs
