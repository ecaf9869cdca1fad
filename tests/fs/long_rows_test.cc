// SPDX-License-Identifier: MIT
//
// Rows of a store of servers with more owners, modes and times than are kept at hand.
#include <gtest/gtest.h>

#include <string>

#include "fs/attributes/attribute_cache.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

constexpr char kFamily[] = "default/t/r/f";
constexpr timespec kThen{1000000000, 123456789};

struct LongRowsTest : testing::Test {
  LongRowsTest() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
    for (size_t i = 0; i <= AttributeCache::kMaxRowEntries / 2; ++i) Make(std::to_string(i));
  }
  static std::string PathOf(const std::string& name) { return std::string(kFamily) + "/" + name; }
  // Each has a record and a time beside it.
  void Make(const std::string& name) {
    EXPECT_EQ(tree.Save(PathOf(name), name), 0);
    AttributeChange change;
    change.mtime = kThen;
    EXPECT_EQ(tree.Change(PathOf(name), change), 0);
  }
  RemoteStore& remote() { return static_cast<RemoteStore&>(*tree.store); }

  WritingTree tree{{}, StoreKind::kRemote};
};

TEST_F(LongRowsTest, AFileIsReplaced) {
  EXPECT_EQ(tree.Save(PathOf("made"), "new"), 0);
  EXPECT_EQ(tree.Rename(PathOf("made"), PathOf("7")), 0);
  EXPECT_EQ(tree.ReadFile(PathOf("7")), "new");
  EXPECT_EQ(tree.Stat(PathOf("8")).st_mtim.tv_nsec, kThen.tv_nsec);
}

TEST_F(LongRowsTest, AChangeOfTheDirectoryIsSeenAtOnce) {
  for (const mode_t mode : {0711, 0700, 0755}) {
    AttributeChange change;
    change.mode = mode;
    EXPECT_EQ(tree.Change(kFamily, change), 0);
    EXPECT_EQ(tree.Stat(kFamily).st_mode & 07777, mode);
    EXPECT_EQ(tree.Stat(PathOf("8")).st_mode & 07777, 0644u);
  }
}

TEST_F(LongRowsTest, WhoMakesFilesDoesNotAskForTheDirectoryAgainAndAgain) {
  Make("first");
  const int before = remote().reads();
  for (int i = 0; i < 20; ++i) Make("more" + std::to_string(i));
  EXPECT_LE(remote().reads() - before, 20 * 15);
}

}  // namespace
}  // namespace cellfs::fs
