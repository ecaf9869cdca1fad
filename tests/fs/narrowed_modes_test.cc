// SPDX-License-Identifier: MIT
//
// A closed file is renamed over an open one, and the daemon dies in the middle.
#include <gtest/gtest.h>

#include <string>

#include "tests/fs/failing_tree.h"

namespace cellfs::fs {
namespace {

constexpr char kSource[] = "default/t/r/f/s";
constexpr char kVersion[] = "default/t/r/f/.versions/q/1600000000000";

class NarrowedModesTest : public testing::Test {
 protected:
  NarrowedModesTest() {
    tree.MakeTable();
    tree.Put("r", "other", "x");
  }

  void Make(const std::string& path, const std::string& bytes, mode_t mode, uid_t uid) {
    ASSERT_EQ(tree.Save(path, bytes), 0);
    AttributeChange change;
    change.mode = mode;
    change.uid = uid;
    ASSERT_EQ(tree.Change(path, change), 0);
  }
  // The bytes, the mode and the owner that a column shows.
  std::string Shown(const std::string& path) {
    const struct stat shown = tree.Stat(path);
    char text[64];
    snprintf(text, sizeof text, " %o %u", shown.st_mode & 07777, shown.st_uid);
    return tree.ReadFile(path) + text;
  }
  // From the nth change on the store makes none, as after a kill; then it is mounted anew. False:
  // it made them all.
  bool DieInRename(int nth, const std::string& from, const std::string& to) {
    tree.failing->Fail({nth, Status(StatusCode::kIoError, "dead"), FailingStore::Calls::kMutations,
                        FailingStore::Effect::kNone, /*lasts=*/true});
    static_cast<void>(tree.Rename(from, to));
    tree.filesystem.reset();
    const bool died = tree.failing->has_failed();
    tree.failing->Heal();
    tree.clock->Advance(600000);
    tree.Remount(FailingTree::Options());
    EXPECT_TRUE(tree.filesystem->LoadAttributes().ok());
    return died;
  }

  FailingTree tree;
};

TEST_F(NarrowedModesTest, TheTargetIsAsItWasOrAsTheSource) {
  bool died = true;
  for (int nth = 1; died; ++nth) {
    ASSERT_LT(nth, 20);
    Make(kQ, "old", 0644, 7);
    Make(kSource, "new", 0600, 8);
    died = DieInRename(nth, kSource, kQ);
    const std::string expected = tree.ReadFile(kQ) == "old" ? "old 644 7" : "new 600 8";
    EXPECT_EQ(Shown(kQ), expected) << nth;
    EXPECT_EQ(tree.Error(kSource) == 0, expected == "old 644 7") << nth;
  }
}

// Somebody has said since what the mode is to be.
TEST_F(NarrowedModesTest, ALaterModeStays) {
  Make(kQ, "old", 0644, 7);
  Make(kSource, "new", 0600, 8);
  ASSERT_EQ(tree.Rename(kSource, kQ), 0);
  Make(kQ, "newer", 0604, 8);
  tree.clock->Advance(600000);
  tree.Remount(FailingTree::Options());
  EXPECT_EQ(Shown(kQ), "newer 604 8");
}

// A file that is not there has no mode to come back.
TEST_F(NarrowedModesTest, ATargetThatIsNotThereStaysClosed) {
  for (int nth = 1; nth < 4; ++nth) {
    Make(kSource, "new", 0600, 8);
    DieInRename(nth, kSource, kQ);
    if (tree.Error(kQ) == 0) {
      EXPECT_EQ(Shown(kQ).substr(0, 7), "new 600") << nth;
      ASSERT_EQ(tree.Unlink(kQ), 0);
    }
  }
}

// A version takes its column's mode along.
TEST_F(NarrowedModesTest, AVersionIsRenamedIntoAHistory) {
  bool died = true;
  for (int nth = 1; died; ++nth) {
    ASSERT_LT(nth, 20);
    Make(kQ, "old", 0644, 7);
    Make(kSource, "past", 0600, 8);
    died = DieInRename(nth, kSource, kVersion);
    const bool is_there = tree.Error(kVersion) == 0;
    EXPECT_EQ(Shown(kQ), is_there ? "old 600 8" : "old 644 7") << nth;
    if (!is_there) continue;
    ASSERT_EQ(tree.Unlink(kVersion), 0);
  }
}

}  // namespace
}  // namespace cellfs::fs
