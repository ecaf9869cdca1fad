// SPDX-License-Identifier: MIT
//
// How many families mkdir declares, and who waits for whom meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>

#include "engine/waiting.h"
#include "fs/operations/callers_store.h"
#include "tests/fs/hooked_store.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

struct DeclaredFamiliesTest : testing::Test {
  DeclaredFamiliesTest() {
    EXPECT_EQ(tree.Mkdir("default/t"), 0);
    EXPECT_EQ(tree.Change("default/t", AttributeChange{.uid = kOne}), 0);
    EXPECT_EQ(tree.Mkdir("default/t/r"), 0);
  }
  // As many as the user may, up to so many in all.
  int Declare(uid_t uid, int up_to) {
    tree.request.uid = uid;
    for (; declared < up_to; ++declared) {
      const int error = tree.Mkdir("default/t/r/f" + std::to_string(declared));
      if (error != 0) return error;
    }
    return 0;
  }
  // What rmdir takes away: where others write, it stays.
  bool IsUndeclared() { return !tree.store->traits().has_other_writers; }

  HookedTree tree;
  int declared = 0;
};

TEST_F(DeclaredFamiliesTest, OthersLeaveHalfOfThemToTheOwner) {
  EXPECT_EQ(Declare(kTwo, 300), ENOSPC);
  EXPECT_EQ(declared, 128);
  EXPECT_EQ(Declare(kOne, 300), ENOSPC);
  EXPECT_EQ(declared, 256);
  EXPECT_EQ(Declare(0, 300), ENOSPC);
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("has 256 families"), std::string::npos);
  EXPECT_EQ(tree.Mkdir("default/t/s"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/s/f7"), 0) << "it is there";
  EXPECT_EQ(tree.Rmdir("default/t/r/f0"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/r/another"), IsUndeclared() ? 0 : ENOSPC);
}

TEST_F(DeclaredFamiliesTest, OneInWhichAFileWasJustMadeStays) {
  ASSERT_EQ(Declare(0, 2), 0);
  ASSERT_EQ(tree.Mkdir("default/t/s"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/s/f1"), 0);
  ASSERT_EQ(tree.Save("default/t/s/f1/q", "x"), 0);
  const OpenFile made = tree.Create("default/t/s/f0/new");
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f0"), 0);
  EXPECT_EQ(tree.Write(made, "kept"), 0);
  EXPECT_EQ(tree.Close(made), 0);
  EXPECT_EQ(tree.ReadFile("default/t/s/f0/new"), "kept");
}

TEST_F(DeclaredFamiliesTest, WhatIsDeclaredWaitsForNoChangeOfASchema) {
  ASSERT_EQ(Declare(0, 1), 0);
  ASSERT_EQ(tree.Mkdir("default/t/s"), 0);
  std::future<int> made;
  tree.hooked->before_alteration = [&] {
    made = std::async(std::launch::async, [&] { return tree.Mkdir("default/t/s/f0"); });
    EXPECT_EQ(made.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  };
  EXPECT_EQ(tree.Save("default/t/.schema.toml", "open = true\n[families.f0]\nVERSIONS = 3\n"), 0);
  ASSERT_TRUE(made.valid());
  EXPECT_EQ(made.get(), 0);
}

// A change may flush, and may wait for a cluster.
TEST_F(DeclaredFamiliesTest, WhoDeclaresOneWaitsForNoOtherTablesSchema) {
  ASSERT_EQ(tree.Mkdir("default/u"), 0);
  ASSERT_EQ(tree.Mkdir("default/u/r"), 0);
  ASSERT_EQ(Declare(0, 1), 0);
  std::future<int> made;
  tree.hooked->before_alteration = [&] {
    made = std::async(std::launch::async, [&] { return tree.Mkdir("default/u/r/f"); });
    EXPECT_EQ(made.wait_for(std::chrono::seconds(5)), std::future_status::ready);
  };
  EXPECT_EQ(tree.Save("default/t/.schema.toml", "open = true\n[families.f0]\nVERSIONS = 3\n"), 0);
  ASSERT_TRUE(made.valid());
  EXPECT_EQ(made.get(), 0);
}

// Else a few who wait for it keep all threads.
TEST_F(DeclaredFamiliesTest, WhoWaitsForASchemaCountsAsWaiting) {
  struct CountedWaits : WaitObserver {
    void WaitBegins(Wait) noexcept override { begun = true; }
    void WaitEnds() noexcept override { ended = true; }
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
  };
  ASSERT_EQ(Declare(0, 1), 0);
  CountedWaits waits;
  std::future<int> made;
  tree.hooked->before_alteration = [&] {
    made = std::async(std::launch::async, [&] {
      WaitObserver::OfThisThread() = &waits;
      return tree.Mkdir("default/t/r/f1");
    });
    EXPECT_EQ(made.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
    EXPECT_TRUE(waits.begun);
    EXPECT_FALSE(waits.ended);
  };
  EXPECT_EQ(tree.Save("default/t/.schema.toml", "open = true\n[families.f0]\nVERSIONS = 3\n"), 0);
  ASSERT_TRUE(made.valid());
  EXPECT_EQ(made.get(), 0);
  EXPECT_TRUE(waits.ended);
}

// What is written of the schema replaces all of it: a family that came in between went with its data.
TEST_F(DeclaredFamiliesTest, OneThatACommandAddsBesideAWrittenSchemaStays) {
  ASSERT_EQ(Declare(0, 1), 0);
  CallersStore commands(*tree.filesystem, Credentials{});
  std::future<Status> added;
  tree.hooked->before_alteration = [&] {
    added = std::async(std::launch::async, [&] {
      return commands.AddFamily(Caller::Superuser(), tree.table, FamilySchema("added"));
    });
    EXPECT_EQ(added.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  };
  EXPECT_EQ(tree.Save("default/t/.schema.toml", "open = true\n[families.f0]\nVERSIONS = 3\n"), 0);
  ASSERT_TRUE(added.valid());
  EXPECT_TRUE(added.get().ok());
  const auto now = tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(now.ok());
  EXPECT_NE((*now)->FindFamily("added"), nullptr);
  EXPECT_EQ((*now)->FindFamily("f0")->max_versions(), 3);
}

// Its owner has said what it is, while another's rmdir waited for its turn.
TEST_F(DeclaredFamiliesTest, OneThatASchemaSaysMeanwhileStays) {
  if (!IsUndeclared()) GTEST_SKIP() << "nothing is taken away";
  ASSERT_EQ(Declare(0, 2), 0);
  std::future<int> removed;
  tree.hooked->before_alteration = [&] {
    removed = std::async(std::launch::async, [&] { return tree.Rmdir("default/t/r/f1"); });
    EXPECT_EQ(removed.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  };
  const std::string schema = "open = true\n[families.f0]\n[families.f1]\nVERSIONS = 3\n";
  EXPECT_EQ(tree.Save("default/t/.schema.toml", schema), 0);
  ASSERT_TRUE(removed.valid());
  EXPECT_EQ(removed.get(), 0);
  const auto now = tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(now.ok());
  EXPECT_NE((*now)->FindFamily("f1"), nullptr);
}

}  // namespace
}  // namespace cellfs::fs
