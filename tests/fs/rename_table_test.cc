// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

class RenameTableTest : public ::testing::Test {
 protected:
  RenameTableTest() {
    tree_.MakeTable();
    tree_.Put("r", "q", "old");
    tree_.Put("r", "p", "beside");
    renames_ = tree_.store->traits().renames_tables;
  }

  WritingTree tree_;
  bool renames_ = true;
};

TEST_F(RenameTableTest, WhatIsInItGoesAlong) {
  if (!renames_) {
    EXPECT_EQ(tree_.Rename("default/t", "default/u"), EXDEV);
    return;
  }
  ASSERT_EQ(tree_.Mkdir("n"), 0);
  ASSERT_EQ(tree_.Change("default/t", AttributeChange{.mode = 0700, .uid = 1234}), 0);
  ASSERT_EQ(tree_.Change(kQ, AttributeChange{.mode = 0600}), 0);
  ASSERT_EQ(tree_.Mkdir("default/t/made"), 0);
  const struct stat table = tree_.Stat("default/t"), file = tree_.Stat(kQ);
  ASSERT_EQ(tree_.Rename("default/t", "n/u"), 0);
  EXPECT_EQ(tree_.Error("default/t"), ENOENT);
  EXPECT_EQ(tree_.List("n/u"), (std::vector<std::string>{".schema.toml", "made", "r"}));
  EXPECT_EQ(tree_.List("n/u/r/f"), (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(tree_.ReadFile("n/u/r/f/q"), "old");
  EXPECT_EQ(tree_.Stat("n/u").st_uid, 1234u);
  EXPECT_EQ(tree_.Stat("n/u").st_mode, table.st_mode);
  EXPECT_EQ(tree_.Stat("n/u").st_ino, table.st_ino);
  EXPECT_EQ(tree_.Stat("n/u/r/f/q").st_mode, file.st_mode);
  EXPECT_EQ(tree_.Stat("n/u/r/f/q").st_ino, file.st_ino);
  EXPECT_EQ(tree_.Save("n/u/r/f/q", "new"), 0);
  EXPECT_EQ(tree_.List("n/u/r/f/.versions/q").size(), 2u);
  EXPECT_EQ(tree_.Mkdir("n/u/made/f"), 0);
  EXPECT_EQ(tree_.Save("n/u/made/f/q", "x"), 0);
}

TEST_F(RenameTableTest, ItInheritsNothingFromWhereItComes) {
  if (!renames_) GTEST_SKIP() << "about a store that renames tables";
  ASSERT_EQ(tree_.Mkdir("from"), 0);
  ASSERT_EQ(tree_.Change("from", AttributeChange{.mode = 0755, .uid = 1001}), 0);
  ASSERT_EQ(tree_.Mkdir("to"), 0);
  ASSERT_EQ(tree_.Change("to", AttributeChange{.mode = 0777, .uid = 1003}), 0);
  ASSERT_EQ(tree_.Rename("default/t", "from/t"), 0);
  // Nothing is stored of it, as of what an ordinary user makes in his own namespace.
  ASSERT_EQ(tree_.Change("from/t", AttributeChange{.mode = 0755, .uid = 1001}), 0);
  const struct stat table = tree_.Stat("from/t"), file = tree_.Stat("from/t/r/f/q");
  for (const char* const path : {"to/t", "default/u"}) {
    ASSERT_EQ(tree_.Rename(path[0] == 't' ? "from/t" : "to/t", path), 0);
    EXPECT_EQ(tree_.Stat(path).st_uid, table.st_uid);
    EXPECT_EQ(tree_.Stat(path).st_gid, table.st_gid);
    EXPECT_EQ(tree_.Stat(path).st_mode, table.st_mode);
    EXPECT_EQ(tree_.Stat(std::string(path) + "/r/f/q").st_uid, file.st_uid);
    EXPECT_EQ(tree_.Stat(std::string(path) + "/r/f/q").st_mode, file.st_mode);
  }
}

TEST_F(RenameTableTest, WhoHasAFileOpenGoesOn) {
  if (!renames_) GTEST_SKIP() << "about a store that renames tables";
  const OpenFile reader = tree_.Open(kQ, {});
  const OpenFile writer = tree_.Open(kQ, ForAppending());
  const OpenFile claimed = tree_.Create("default/t/r/f/new");
  ASSERT_EQ(reader.error + writer.error + claimed.error, 0);
  ASSERT_EQ(tree_.Write(writer, "er"), 0);
  ASSERT_EQ(tree_.Rename("default/t", "default/u"), 0);
  EXPECT_EQ(tree_.Write(claimed, "made"), 0);
  EXPECT_EQ(tree_.Close(claimed), 0);
  EXPECT_EQ(tree_.Close(writer), 0);
  EXPECT_EQ(tree_.ReadFile("default/u/r/f/q"), "older");
  EXPECT_EQ(tree_.ReadFile("default/u/r/f/new"), "made");
  EXPECT_EQ(tree_.LookUp("default/u/r/f/q")->node, reader.node);
  EXPECT_EQ(tree_.Close(reader), 0);
  EXPECT_EQ(tree_.Unlink("default/u/r/f/q"), 0);
  EXPECT_EQ(tree_.Error("default/u/r/f/q"), ENOENT);
}

TEST_F(RenameTableTest, WhatCannotBeRenamedSaysWhy) {
  if (!renames_) GTEST_SKIP() << "about a store that renames tables";
  ASSERT_EQ(tree_.Mkdir("default/u"), 0);
  EXPECT_EQ(tree_.Rename("default/t", "default/u"), EEXIST);
  EXPECT_EQ(tree_.Rename("default/t", "default/t"), 0);
  EXPECT_EQ(tree_.Rename("default/t", "default/u/row"), EXDEV);
  EXPECT_EQ(tree_.Rename("default/t", "table"), EXDEV);
  EXPECT_EQ(tree_.Rename("default/t", "default/a table"), EINVAL);
  EXPECT_EQ(tree_.Rename("default/t", "hbase/t"), EROFS);
  EXPECT_EQ(tree_.Rename("default/t/r", "default/t/s"), EXDEV);
  EXPECT_EQ(tree_.Rename("default/t/r/f", "default/t/r/g"), EXDEV);
  EXPECT_EQ(tree_.Rename("default", "n"), EXDEV);
  EXPECT_EQ(tree_.ReadFile(kQ), "old");
}

// Whoever is at a file finds it under the one name or the other, and no write is lost.
TEST_F(RenameTableTest, WritersBesideItLoseNothing) {
  if (!renames_) GTEST_SKIP() << "about a store that renames tables";
  const OpenFile writer = tree_.Open(kQ, ForAppending());
  std::atomic<bool> ends{false};
  std::string written = "old";
  std::thread writing([&] {
    while (!ends) {
      ASSERT_EQ(tree_.Write(writer, "x"), 0);
      ASSERT_EQ(tree_.Flush(writer), 0);
      written += "x";
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(tree_.Rename(i % 2 == 0 ? "default/t" : "default/u",
                           i % 2 == 0 ? "default/u" : "default/t"), 0);
  }
  ends = true;
  writing.join();
  EXPECT_EQ(tree_.Close(writer), 0);
  EXPECT_EQ(tree_.ReadFile(kQ), written);
}

}  // namespace
}  // namespace cellfs::fs
