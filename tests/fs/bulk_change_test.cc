// SPDX-License-Identifier: MIT
//
// Rows that a command brings in: who looks at them by the mount sees each at once, whatever he knew.
#include "fs/operations/bulk_change.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs/operations/callers_store.h"
#include "tests/fs/mount_options.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

class BulkChangeTest : public testing::Test {
 protected:
  BulkChangeTest() { tree_.MakeTable(); }

  static RowMutations Putting(const std::string& row, const std::string& qualifier,
                              const std::string& value, const std::string& family = "f") {
    return RowMutations::Of(Put{row, {{family, qualifier, kLatestTimestamp, value, {}}}});
  }
  static RowMutations Deleting(const std::string& row, const std::string& qualifier) {
    return RowMutations::Of(
        Delete{row, {{CellType::kDeleteColumn, "f", qualifier, kLatestTimestamp}}});
  }
  // Of each whether it was done.
  std::vector<bool> Import(const std::vector<RowMutations>& rows, uid_t uid = 0) {
    CallersStore store(*tree_.filesystem, Credentials{uid, {kGroup}});
    std::vector<bool> done;
    for (const auto& result : store.Import(Caller::Superuser(), tree_.table, rows))
      done.push_back(result.ok());
    return done;
  }
  std::string ReadFile(const std::string& path) {
    const OpenFile file = tree_.Open(path, {});
    if (file.error != 0) return "<error " + std::to_string(file.error) + ">";
    std::string bytes = tree_.Read(file);
    tree_.Close(file);
    return bytes;
  }

  WritingTree tree_;
};

using Done = std::vector<bool>;

TEST_F(BulkChangeTest, EachRowIsOnItsOwn) {
  EXPECT_EQ(Import({Putting("a", "q", "1"), Putting("b", "q", "2", "none"), Putting("c", "q", "3")}),
            (Done{true, false, true}));
  EXPECT_EQ(ReadFile("default/t/a/f/q"), "1");
  EXPECT_EQ(ReadFile("default/t/c/f/q"), "3");
  EXPECT_EQ(tree_.Error("default/t/b"), ENOENT);
}

TEST_F(BulkChangeTest, WhatTheKernelKnowsIsAsItIsStored) {
  tree_.Put("known", "q", "old");
  const struct stat before = tree_.Stat("default/t/known/f/q");
  EXPECT_EQ(before.st_size, 3);
  const OpenFile open = tree_.Open("default/t/known/f/gone", {});
  EXPECT_EQ(open.error, ENOENT);
  ASSERT_EQ(tree_.Save("default/t/known/f/gone", "kept"), 0);
  const OpenFile held = tree_.Open("default/t/known/f/gone", {});
  EXPECT_EQ(Import({Putting("new", "q", "1"), Putting("known", "q", "longer"),
                    Deleting("known", "gone"), Putting("other", "q", "2")}),
            (Done{true, true, true, true}));
  EXPECT_EQ(tree_.Stat("default/t/known/f/q").st_size, 6);
  EXPECT_EQ(ReadFile("default/t/known/f/q"), "longer");
  EXPECT_EQ(tree_.Error("default/t/known/f/gone"), ENOENT);
  EXPECT_EQ(tree_.Read(held), "kept") << "who has it open goes on with it";
  tree_.Close(held);
  EXPECT_EQ(ReadFile("default/t/new/f/q"), "1");
  EXPECT_EQ(ReadFile("default/t/other/f/q"), "2");
}

TEST_F(BulkChangeTest, ADirectoryThatIsThereByBeingMadeIsFilled) {
  ASSERT_EQ(tree_.Mkdir("default/t/made"), 0);
  ASSERT_EQ(tree_.Mkdir("default/t/made/f"), 0);
  tree_.Put("emptied", "q", "x");
  ASSERT_EQ(tree_.Unlink("default/t/emptied/f/q"), 0);
  tree_.clock->Advance(1000);
  EXPECT_EQ(Import({Putting("made", "q", "1"), Putting("emptied", "q", "2")}), (Done{true, true}));
  EXPECT_EQ(ReadFile("default/t/made/f/q"), "1");
  EXPECT_EQ(ReadFile("default/t/emptied/f/q"), "2");
  EXPECT_EQ(tree_.Rmdir("default/t/made/f"), ENOTEMPTY);
}

TEST_F(BulkChangeTest, ARowIsDeletedWhole) {
  ASSERT_EQ(Import({Putting("a", "q", "1")}), Done{true});
  EXPECT_EQ(Import({RowMutations::Of(Delete{"a", {}})}), Done{true});
  EXPECT_EQ(tree_.Error("default/t/a"), ENOENT);
}

// ls of a directory is kept by the kernel as long as nothing comes to it.
TEST_F(BulkChangeTest, TheTableShowsAnotherTime) {
  ASSERT_EQ(Import({Putting("a", "q", "1")}), Done{true});
  tree_.clock->Advance(5000);
  ASSERT_EQ(Import({Putting("b", "q", "1")}), Done{true});
  const struct stat table = tree_.Stat("default/t");
  EXPECT_EQ(table.st_mtim.tv_sec, ToTimespec(tree_.clock->Now()).tv_sec);
}

// It would take an owner's record for each cell, where nobody asks whose they are.
TEST_F(BulkChangeTest, WhatIsNewIsOfWhomTheTableIs) {
  tree_.Remount(ForAll());
  AttributeUpdate update;
  update.uid = kOwner;
  update.mode = 0750;
  ASSERT_TRUE(
      tree_.filesystem->parts().attributes.Update(TablePlace(tree_.table), update).ok());
  ASSERT_EQ(Import({Putting("a", "q", "1")}), Done{true});
  EXPECT_EQ(tree_.Stat("default/t/a").st_uid, kOwner);
  EXPECT_EQ(tree_.Stat("default/t/a/f/q").st_uid, kOwner);
}

// A row that the kernel knows is changed by itself.
TEST_F(BulkChangeTest, WhatIsNewInAKnownRowIsToo) {
  const std::string schema = tree_.ReadFile("default/t/.schema.toml");
  ASSERT_EQ(tree_.Save("default/t/.schema.toml", schema + "\"cellfs.mode\" = \"0600\"\n"), 0);
  EXPECT_EQ(Import({Putting("a", "first", "1")}), (Done{true}));
  EXPECT_EQ(tree_.Stat("default/t/a/f/first").st_mode & 07777, 0600u);
  EXPECT_EQ(Import({Putting("a", "second", "2")}), (Done{true}));
  EXPECT_EQ(tree_.Stat("default/t/a/f/second").st_mode & 07777, 0600u);
  EXPECT_EQ(tree_.Stat("default/t/a/f").st_mode & 07777, 0700u) << "who may read may enter";
}

TEST_F(BulkChangeTest, WhoMayNotWriteBringsNothingIn) {
  tree_.Remount(ForAll());
  EXPECT_EQ(Import({Putting("a", "q", "1"), Putting("b", "q", "1")}, kStranger),
            (Done{false, false}));
  EXPECT_EQ(tree_.Error("default/t/a"), ENOENT);
  AttributeUpdate update;
  update.mode = 0777;
  ASSERT_TRUE(
      tree_.filesystem->parts().attributes.Update(TablePlace(tree_.table), update).ok());
  EXPECT_EQ(Import({Putting("a", "q", "1")}, kStranger), Done{true});
  EXPECT_EQ(tree_.Stat("default/t/a/f/q").st_uid, kStranger) << "a file that he makes is his";
}

}  // namespace
}  // namespace cellfs::fs
