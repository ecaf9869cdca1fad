// SPDX-License-Identifier: MIT
//
// .deleted of the root and of a namespace: what was dropped there and is kept.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fs/operations/callers_store.h"
#include "fs/operations/kept_shares.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;

class DroppedTablesTest : public ::testing::Test {
 protected:
  // A table as mkdir makes it, with one file in it.
  void Make(const std::string& table, const std::string& text = "one") {
    ASSERT_EQ(tree.Mkdir(table), 0);
    ASSERT_EQ(tree.Mkdir(table + "/r"), 0);
    ASSERT_EQ(tree.Mkdir(table + "/r/f"), 0);
    ASSERT_EQ(tree.Save(table + "/r/f/q", text), 0);
    tree.clock->Advance(10);
  }
  // As rm -r does.
  int Remove(const std::string& table) {
    EXPECT_EQ(tree.Unlink(table + "/r/f/q"), 0);
    EXPECT_EQ(tree.Rmdir(table + "/r/f"), 0);
    EXPECT_EQ(tree.Rmdir(table + "/r"), 0);
    const int removed = tree.Rmdir(table);
    tree.clock->Advance(10);
    return removed;
  }

  WritingTree tree;
};

TEST_F(DroppedTablesTest, ATableComesBackWithItsHistoryAndOwner) {
  CELLFS_NEEDS(keeps_dropped);
  Make("default/t");
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0700, .uid = 1234}), 0);
  ASSERT_EQ(tree.Change("default/t/r/f/q", AttributeChange{.mode = 0600}), 0);
  const struct stat was = tree.Stat("default/t");
  ASSERT_EQ(Remove("default/t"), 0);
  EXPECT_EQ(tree.List("default"), Names{".namespace.toml"});
  EXPECT_EQ(tree.List("default/.deleted"), Names{"t"});
  EXPECT_EQ(tree.Error("default/t"), ENOENT);
  ASSERT_EQ(tree.Rename("default/.deleted/t", "default/t"), 0);
  EXPECT_EQ(tree.List("default/.deleted"), Names());
  EXPECT_EQ(tree.List("default"), (Names{".namespace.toml", "t"}));
  EXPECT_EQ(tree.Stat("default/t").st_ino, was.st_ino);
  EXPECT_EQ(tree.Stat("default/t").st_mode, was.st_mode);
  EXPECT_EQ(tree.Stat("default/t").st_uid, 1234u);
  EXPECT_EQ(tree.List("default/t/.deleted/r/f"), Names{"q"});
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rename("default/t/.deleted/r/f/q", "default/t/r/f/q"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "one");
  EXPECT_EQ(tree.Stat("default/t/r/f/q").st_mode & 0777u, 0600u);
  EXPECT_EQ(tree.Save("default/t/r/f/q", "two"), 0);
}

TEST_F(DroppedTablesTest, WhatWasMadeAndNotPutBeforeTheDropIsNotBack) {
  CELLFS_NEEDS(keeps_dropped);
  Make("default/t");
  const OpenFile made = tree.Create("default/t/r/f/made");
  CallersStore root(*tree.filesystem, Credentials{0, {}});
  ASSERT_TRUE(root.DisableAndDropTable(Caller::Superuser(), {"default", "t"}).ok());
  ASSERT_EQ(tree.Rename("default/.deleted/t", "default/t"), 0);
  EXPECT_EQ(tree.Error("default/t/r/f/made"), ENOENT);
  EXPECT_EQ(tree.List("default/t/r/f"), Names{"q"});
  tree.Close(made);
  EXPECT_EQ(tree.Error("default/t/r/f/made"), ENOENT);
}

TEST_F(DroppedTablesTest, UnderAnotherNameAndInAnotherNamespaceToo) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  Make("default/t");
  ASSERT_EQ(Remove("default/t"), 0);
  Make("default/t", "of another");
  EXPECT_EQ(tree.Rename("default/.deleted/t", "default/t"), EEXIST);
  EXPECT_EQ(tree.Rename("default/.deleted/t", "t"), EPERM);
  ASSERT_EQ(tree.Rename("default/.deleted/t", "n/u"), 0);
  EXPECT_EQ(tree.ReadFile("n/u/.deleted/r/f/q"), "one");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "of another");
}

// mv copies an empty directory where it cannot rename one, and removes it, which would free it.
TEST_F(DroppedTablesTest, CannotBeTakenForAnEmptyDirectory) {
  CELLFS_NEEDS(keeps_dropped);
  Make("default/t");
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0750, .uid = 1234}), 0);
  ASSERT_EQ(Remove("default/t"), 0);
  Make("default/t");
  const NodePtr dropped = tree.LookUp("default/.deleted/t")->node;
  EXPECT_EQ(tree.filesystem->OpenListing(tree.request, *dropped).error(), EPERM);
  EXPECT_EQ(tree.Rename("default/.deleted/t", "default/t/t"), EPERM);
  const struct stat shown = tree.Stat("default/.deleted/t");
  EXPECT_EQ(shown.st_uid, 1234u);
  EXPECT_EQ(shown.st_mode & 07777, 0772u);
}

TEST_F(DroppedTablesTest, InAnotherNamespaceItIsNotItsOwners) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("to"), 0);
  ASSERT_EQ(tree.Change("to", AttributeChange{.mode = 0777, .uid = 1003}), 0);
  Make("default/t");
  const struct stat was = tree.Stat("default/t");
  ASSERT_EQ(Remove("default/t"), 0);
  ASSERT_EQ(tree.Rename("default/.deleted/t", "to/t"), 0);
  EXPECT_EQ(tree.Stat("to/t").st_uid, was.st_uid);
  EXPECT_EQ(tree.Stat("to/t").st_mode, was.st_mode);
}

TEST_F(DroppedTablesTest, SeveralOfOneNameHaveTheTimesOfTheirDrops) {
  CELLFS_NEEDS(keeps_dropped);
  const Timestamp first = tree.clock->Now() + 10;
  for (const char* const text : {"one", "two"}) {
    Make("default/t", text);
    ASSERT_EQ(Remove("default/t"), 0);
  }
  const std::string name = "t@" + std::to_string(first);
  const std::string second = "t@" + std::to_string(first + 20);
  EXPECT_EQ(tree.List("default/.deleted"), (Names{name, second}));
  EXPECT_EQ(tree.Error("default/.deleted/t"), ENOENT) << "which of them?";
  EXPECT_EQ(tree.Rename("default/.deleted/" + name, "default/" + name), EINVAL);
  const std::string told = tree.ReadFile(".cellfs/errors");
  EXPECT_NE(told.find("mv .deleted/" + name + " t"), std::string::npos) << told;
  ASSERT_EQ(tree.Rename("default/.deleted/" + name, "default/back"), 0);
  EXPECT_EQ(tree.List("default/.deleted"), Names{"t"});
  EXPECT_EQ(tree.Error("default/.deleted/" + second), 0) << "the time is understood all the same";
  EXPECT_EQ(tree.Stat("default/.deleted/t").st_mtim.tv_sec, (first + 20) / 1000);
}

TEST_F(DroppedTablesTest, WhatHoldsNothingIsNotKept) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("default/t"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
  ASSERT_EQ(tree.Rmdir("default/t/r/f"), 0);
  ASSERT_EQ(tree.Rmdir("default/t/r"), 0);
  ASSERT_EQ(tree.Rmdir("default/t"), 0);
  EXPECT_EQ(tree.List("default/.deleted"), Names());
}

TEST_F(DroppedTablesTest, RmdirFreesItForGood) {
  CELLFS_NEEDS(keeps_dropped);
  Make("default/t");
  const uint64_t tables = tree.store->GetStatistics().tables.size();
  ASSERT_EQ(Remove("default/t"), 0);
  EXPECT_EQ(tree.store->GetStatistics().kept.size(), 1u);
  ASSERT_EQ(tree.Rmdir("default/.deleted/t"), 0);
  EXPECT_EQ(tree.store->GetStatistics().kept.size(), 0u);
  EXPECT_EQ(tree.List("default/.deleted"), Names());
  EXPECT_EQ(tree.Error("default/.deleted/t"), ENOENT);
  EXPECT_LE(tree.store->GetStatistics().tables.size(), tables);
  EXPECT_EQ(tree.Rmdir("default/.deleted"), EPERM);
  EXPECT_EQ(tree.Mkdir("default/.deleted/t"), EPERM);
}

TEST_F(DroppedTablesTest, ANamespaceTakesThemAlongAndBack) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  ASSERT_EQ(tree.Change("n", AttributeChange{.mode = 0700, .uid = 77}), 0);
  Make("n/t");
  ASSERT_EQ(Remove("n/t"), 0);
  ASSERT_EQ(tree.Rmdir("n"), 0);
  EXPECT_EQ(tree.List(".deleted"), Names{"n"});
  ASSERT_EQ(tree.Mkdir("n"), 0);
  EXPECT_EQ(tree.Stat("n").st_uid, 0u) << "a new one";
  EXPECT_EQ(tree.List("n/.deleted"), Names());
  EXPECT_EQ(tree.Rename(".deleted/n", "n"), EEXIST);
  ASSERT_EQ(tree.Rmdir("n"), 0);
  ASSERT_EQ(tree.Rename(".deleted/n", "n"), 0);
  EXPECT_EQ(tree.Stat("n").st_uid, 77u);
  EXPECT_EQ(tree.Stat("n").st_mode & 0777u, 0700u);
  EXPECT_EQ(tree.List("n/.deleted"), Names{"t"});
  ASSERT_EQ(tree.Rename("n/.deleted/t", "n/t"), 0);
  EXPECT_EQ(tree.List("n/t/.deleted"), Names{"r"});
  ASSERT_EQ(tree.Rmdir("n/t"), 0);
  ASSERT_EQ(tree.Rmdir("n"), 0);
  ASSERT_EQ(tree.Rmdir(".deleted/n"), 0);
  EXPECT_EQ(tree.List(".deleted"), Names());
  EXPECT_EQ(tree.store->GetStatistics().kept.size(), 0u);
}

TEST_F(DroppedTablesTest, ADropThatWasCutShortLosesNoOwner) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  ASSERT_EQ(tree.Change("n", AttributeChange{.mode = 0711, .uid = 1000}), 0);
  Make("n/t");
  ASSERT_EQ(Remove("n/t"), 0);
  ASSERT_TRUE(tree.store->DropNamespace(Caller::Superuser(), "n").ok());  // and the daemon dies
  tree.filesystem.reset();
  tree.filesystem =
      std::make_unique<FileSystem>(*tree.store, MountOptions(), tree.clock, tree.controls);
  ASSERT_TRUE(tree.filesystem->LoadAttributes().ok());
  ASSERT_EQ(tree.Mkdir("n"), 0);
  EXPECT_EQ(tree.Stat("n").st_uid, 0u) << "a new one";
  ASSERT_EQ(tree.Rename(".deleted/n", "back"), 0);
  EXPECT_EQ(tree.Stat("back").st_uid, 1000u);
  EXPECT_EQ(tree.Stat("back").st_mode & 0777u, 0711u);
}

TEST_F(DroppedTablesTest, TheirPastIsStillThere) {
  CELLFS_NEEDS(keeps_dropped);
  Make("default/t");
  const std::string then = ".asof/" + std::to_string(tree.clock->Now());
  tree.clock->Advance(10);
  ASSERT_EQ(Remove("default/t"), 0);
  Make("default/t", "of another");
  EXPECT_EQ(tree.ReadFile(then + "/default/t/r/f/q"), "one");
  ASSERT_EQ(tree.Rmdir("default/.deleted/t"), 0);
  EXPECT_EQ(tree.ReadFile(then + "/default/t/r/f/q"), "<ENOENT>");
}

TEST_F(DroppedTablesTest, ThePastOfANamespaceThatIsKeptHasItsModes) {
  CELLFS_NEEDS(keeps_dropped);
  MountOptions options;
  options.allow_other = true;
  tree.Remount(options);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  ASSERT_EQ(tree.Change("n", AttributeChange{.mode = 0755}), 0);
  ASSERT_EQ(tree.Mkdir("closed"), 0);
  ASSERT_EQ(tree.Change("closed", AttributeChange{.mode = 0755}), 0);
  Make("n/t");
  Make("closed/t");
  const std::string then = ".asof/" + std::to_string(tree.clock->Now());  // looked up later
  const std::vector<std::string> paths = {"n", "n/t", "n/t/r", "n/t/r/f", "n/t/r/f/q"};
  std::vector<mode_t> modes;
  for (const std::string& path : paths) modes.push_back(tree.Stat(path).st_mode);
  tree.clock->Advance(10);
  ASSERT_EQ(tree.Change("closed", AttributeChange{.mode = 0700}), 0);
  for (const char* const name_space : {"n", "closed"}) {
    ASSERT_EQ(Remove(std::string(name_space) + "/t"), 0);
    ASSERT_EQ(tree.Rmdir(name_space), 0);
  }
  for (const bool is_made_anew : {false, true}) {
    for (size_t i = 0; i < paths.size(); ++i)
      EXPECT_EQ(tree.Stat(then + "/" + paths[i]).st_mode, modes[i]) << paths[i];
    Request stranger;
    stranger.uid = stranger.gid = 1001;
    const NodePtr closed = tree.Directory(then + "/closed");
    EXPECT_EQ(tree.filesystem->LookUp(stranger, *closed, "t").error(), EACCES) << "since then";
    EXPECT_EQ(tree.filesystem->OpenListing(stranger, *closed).error(), EACCES);
    if (is_made_anew) break;
    ASSERT_EQ(tree.Mkdir("n"), 0);  // as a copy back makes it
    ASSERT_EQ(tree.Change("n", AttributeChange{.mode = 0700}), 0);
  }
}

TEST_F(DroppedTablesTest, ThePastOfANamespaceHasTheTimesThatWereSet) {
  CELLFS_NEEDS(keeps_dropped);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  for (const char* const path : {"n", "n/.namespace.toml"})
    ASSERT_EQ(tree.Change(path, AttributeChange{.mtime = timespec{1000, 5}}), 0);
  Make("n/t");
  tree.clock->Advance(1000);
  const std::string then = ".asof/" + std::to_string(tree.clock->Now()) + "/n";  // looked up later
  tree.clock->Advance(1000);
  ASSERT_EQ(Remove("n/t"), 0);
  ASSERT_EQ(tree.Rmdir("n"), 0);
  tree.clock->Advance(1000);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  EXPECT_NE(tree.Stat("n").st_mtime, 1000);
  EXPECT_NE(tree.Stat("n/.namespace.toml").st_mtime, 1000);
  EXPECT_EQ(tree.Stat(then + "/.namespace.toml").st_mtime, 1000);
  EXPECT_EQ(tree.Stat(then).st_mtime, 1000);
  tree.Remount({});
  EXPECT_EQ(tree.Stat(then).st_mtime, 1000);
  EXPECT_NE(tree.Stat("n").st_mtime, 1000);
}

TEST_F(DroppedTablesTest, WhereNothingIsKeptTheNameIsKeptForLater) {
  const bool keeps = tree.store->traits().keeps_dropped;
  for (const char* const directory : {".deleted", "default/.deleted"}) {
    EXPECT_EQ(tree.Error(directory), keeps ? 0 : ENOENT);
    EXPECT_EQ(tree.Mkdir(directory), keeps ? EEXIST : EOPNOTSUPP);
  }
  EXPECT_EQ(tree.List("hbase/.deleted"), keeps ? Names() : Names{"<ENOENT>"});
}

TEST_F(DroppedTablesTest, ItsOwnerOrThatOfItsDirectoryHandlesIt) {
  CELLFS_NEEDS(keeps_dropped);
  MountOptions options;
  options.allow_other = true;
  WritingTree open(options);
  const auto as = [&](uid_t uid) { open.request.uid = open.request.gid = uid; };
  ASSERT_EQ(open.Mkdir("n"), 0);
  ASSERT_EQ(open.Change("n", AttributeChange{.mode = 0777, .uid = 5}), 0);
  as(7);
  ASSERT_EQ(open.Mkdir("n/t"), 0);
  ASSERT_EQ(open.Mkdir("n/t/r"), 0);
  ASSERT_EQ(open.Mkdir("n/t/r/f"), 0);
  ASSERT_EQ(open.Save("n/t/r/f/q", "x"), 0);
  ASSERT_EQ(open.Unlink("n/t/r/f/q"), 0);
  ASSERT_EQ(open.Rmdir("n/t/r"), 0);
  ASSERT_EQ(open.Rmdir("n/t"), 0);
  as(8);
  EXPECT_EQ(open.Rename("n/.deleted/t", "n/t"), EACCES);
  EXPECT_EQ(open.Rmdir("n/.deleted/t"), EACCES);
  as(5);
  EXPECT_EQ(open.Rename("n/.deleted/t", "n/t"), 0);
  as(7);
  ASSERT_EQ(open.Rmdir("n/t"), 0);
  EXPECT_EQ(open.Rename("n/.deleted/t", "n/t"), 0);
  EXPECT_EQ(open.Stat("n/t").st_uid, 7u);
}

TEST_F(DroppedTablesTest, NobodyPushesOutWhatOthersDropped) {
  CELLFS_NEEDS(keeps_dropped);
  const auto drop = [&](const std::string& name, uid_t owner) {
    Make(name);
    ASSERT_EQ(tree.Change(name, AttributeChange{.uid = owner}), 0);
    ASSERT_EQ(Remove(name), 0);
  };
  drop("default/hers", 1234);
  drop("default/hers_too", 1234);
  for (size_t i = 0; i < kKeptOfAll + 2; ++i)
    ASSERT_NO_FATAL_FAILURE(drop("default/his" + std::to_string(i), 2000));
  const Names kept = tree.List("default/.deleted");
  EXPECT_EQ(kept.size(), kKeptOfAll);
  const std::set<std::string> names(kept.begin(), kept.end());
  for (const char* name : {"hers", "hers_too", "his4"}) EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("his0"));
  EXPECT_NE(tree.filesystem->errors().Text().find("'his3', dropped at"),
            std::string::npos);
  const std::vector<std::string> told = tree.store->GetStatistics().freed_early;
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told.back().find("'his3', dropped at"), std::string::npos) << told.back();
  EXPECT_NE(told.back().find("its owner has the most"), std::string::npos) << told.back();
}

}  // namespace
}  // namespace cellfs::fs
