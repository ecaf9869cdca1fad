// SPDX-License-Identifier: MIT
//
// Owners and modes that cannot be read, and places that have none of their own.
#include <gtest/gtest.h>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

const TableName kAttributes{"cellfs", "attributes"};

class AttributeStoreTest : public WritingTest {
 protected:
  AttributeStoreTest() {
    EXPECT_EQ(tree.Save(kQ, "x"), 0);
    EXPECT_EQ(SetMode(kQ, 0600), 0);
  }
  int SetMode(const std::string& path, mode_t mode) {
    AttributeChange change;
    change.mode = mode;
    return tree.Change(path, change);
  }
  static constexpr auto kMode = [](const struct stat& shown) { return shown.st_mode & 07777; };
};

// Every read of the table is refused, as it is where the disk fails.
class UnreadableAttributesTest : public AttributeStoreTest {
 protected:
  void Fail() { ASSERT_TRUE(tree.store->DisableTable(Caller::Superuser(), kAttributes).ok()); }
  void Mend() { ASSERT_TRUE(tree.store->EnableTable(Caller::Superuser(), kAttributes).ok()); }
  std::string Errors() { return tree.filesystem->errors().Text(); }
};

TEST_F(UnreadableAttributesTest, AMountThatCannotLoadThemGuessesNone) {
  Fail();
  tree.Remount();
  EXPECT_EQ(tree.Error("default"), EIO);
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, tree.filesystem->root()).error(), EIO);
  EXPECT_NE(Errors().find("owner and mode cannot be read"), std::string::npos) << Errors();
  Mend();
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u);
}

TEST_F(UnreadableAttributesTest, NobodyGetsAFileWhoseModeIsNotKnown) {
  tree.Remount();
  tree.Put("r2", "q", "x");
  const NodePtr table = tree.Directory("default/t");
  Fail();  // of r nothing is known yet
  EXPECT_EQ(tree.Error("default/t/r"), EIO);
  EXPECT_EQ(tree.Error("default/t/r2"), EIO);
  EXPECT_EQ(tree.filesystem->GetAttributes(tree.request, *table).error(), 0) << "kept";
  EXPECT_NE(Errors().find("owner and mode cannot be read"), std::string::npos) << Errors();
  Mend();
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u);
}

TEST_F(UnreadableAttributesTest, WhatIsListedKeepsItsNameAndLosesItsAttributes) {
  tree.Remount();
  auto& filesystem = *tree.filesystem;
  tree.Put("r2", "q", "x");
  const NodePtr table = tree.Directory("default/t");
  Fail();
  const auto opened = filesystem.OpenListing(tree.request, *table);
  std::vector<std::string> listed;
  const auto take = [&](const DirectoryEntry& entry) {
    if (entry.name == "r2") {
      EXPECT_EQ(filesystem.EntryOf(tree.request, entry).error(), EIO);
    }
    listed.push_back(entry.name);
    return true;
  };
  ASSERT_TRUE(filesystem.List(tree.request, *opened->directory, 0, take).ok());
  EXPECT_EQ(listed, (std::vector<std::string>{".", "..", ".schema.toml", "r", "r2"}));
}

TEST_F(UnreadableAttributesTest, NothingIsChangedByWhatCannotBeRead) {
  const NodePtr family = tree.Directory("default/t/r/f");
  AttributeChange change;
  change.uid = 5;
  auto& filesystem = *tree.filesystem;
  // Dropping a table forgets what is kept of all rows.
  ASSERT_TRUE(filesystem.parts().attributes.Drop(TablePlace({"default", "other"})).ok());
  Fail();
  EXPECT_EQ(filesystem.SetAttributes(tree.request, *family, change, nullptr).error(), EIO);
  EXPECT_EQ(filesystem.Rename(tree.request, *family, "q", *family, "p", 0).error(), EIO);
  EXPECT_EQ(filesystem.Create(tree.request, *family, "n", 0600, ForWriting(), true).error(), EIO);
  Mend();
  EXPECT_EQ(tree.Stat("default/t/r/f").st_uid, 0u);
  EXPECT_EQ(tree.ReadFile(kQ), "x");
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u);
  EXPECT_EQ(tree.Error("default/t/r/f/p"), ENOENT);
  EXPECT_EQ(tree.Error("default/t/r/f/n"), ENOENT);
}

TEST_F(AttributeStoreTest, ARecordThatIsNoneIsNotTakenForTheDefault) {
  const Put put{std::string("default:t\0r", 11), {{"a", "f:q", 0, "0 0 rubbish -", {}}}};
  ASSERT_TRUE(tree.store->Mutate(Caller::Superuser(), kAttributes, RowMutations::Of(put)).ok());
  tree.Remount();
  EXPECT_EQ(tree.Error(kQ), EIO);
}

// ---- Control directories ------------------------------------------------------------------------

TEST_F(AttributeStoreTest, WhatIsMadeOrChangedInAControlDirectoryDoesNotReachTheFamily) {
  ASSERT_EQ(SetMode("default/t/r/f", 0750), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f/.versions/new"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f/.versions/new/memory"), 0);
  AttributeChange change;
  change.mode = 0777;
  change.uid = 7;
  change.gid = 8;
  change.mtime = timespec{9, 0};
  const struct stat before = tree.Stat("default/t/r/f");
  for (const char* name : {".versions", ".versions/new", ".versions/q", ".counters", ".deleted",
                           ".versions/new/memory"}) {
    EXPECT_EQ(tree.Change(std::string("default/t/r/f/") + name, change), 0) << name;
    const struct stat after = tree.Stat("default/t/r/f");
    EXPECT_EQ(after.st_mode, before.st_mode) << name;
    EXPECT_EQ(after.st_uid, before.st_uid) << name;
    EXPECT_EQ(after.st_gid, before.st_gid) << name;
    EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec) << name;
    EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u) << name;
  }
  EXPECT_EQ(kMode(tree.Stat("default/t/r/f/.versions/new")), 0750u) << "the family's";
  EXPECT_EQ(kMode(tree.Stat("default/t/r/f/.versions/new/memory")), 0777u) << "its own";
  tree.Remount();
  EXPECT_EQ(kMode(tree.Stat("default/t/r/f")), 0750u);
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u);
}

TEST_F(AttributeStoreTest, WhoMakesADirectoryInTheHistoryDoesNotGetTheFamily) {
  const NodePtr versions = tree.Directory("default/t/r/f/.versions");
  Request other;
  other.uid = 1000;
  other.gid = 1000;
  ASSERT_EQ(tree.filesystem->MakeDirectory(other, *versions, "new", 0700).error(), 0);
  const NodePtr made = tree.Directory("default/t/r/f/.versions/new");
  ASSERT_EQ(tree.filesystem->MakeDirectory(other, *made, "memory", 0700).error(), 0);
  EXPECT_EQ(tree.Stat("default/t/r/f").st_uid, 0u);
  EXPECT_EQ(kMode(tree.Stat("default/t/r/f")), 0755u);
  EXPECT_EQ(tree.Stat("default/t/r/f/.versions/new").st_uid, 0u);
  EXPECT_EQ(tree.Stat("default/t/r/f/.versions/new/memory").st_uid, 1000u);
  EXPECT_EQ(kMode(tree.Stat("default/t/r/f/.versions/new/memory")), 0700u);
}

// What comes to a history comes to no directory of the data.
TEST_F(AttributeStoreTest, ATimeOfAControlDirectoryIsNotStoredAsTheFamilys) {
  AttributeChange change;
  change.mtime = timespec{9, 0};
  ASSERT_EQ(tree.Change("default/t/r/f", change), 0);
  tree.clock->Set(kStart + 100000);
  ASSERT_EQ(tree.Mkdir("default/t/r/f/.versions/new"), 0);
  tree.Remount();
  EXPECT_EQ(tree.Stat("default/t/r/f").st_mtim.tv_sec, 9);
}

TEST_F(AttributeStoreTest, ControlsShowWhatTheDirectoryOfTheDataHas) {
  ASSERT_EQ(SetMode("default/t/r/f", 0700), 0);
  ASSERT_EQ(SetMode("default/t", 0711), 0);
  const auto mode = [&](const char* path) { return kMode(tree.Stat(path)); };
  for (const char* name : {".versions", ".versions/q", ".counters", ".deleted"}) {
    EXPECT_EQ(mode((std::string("default/t/r/f/") + name).c_str()), 0700u) << name;
  }
  EXPECT_EQ(mode("default/t/.asof"), 0711u);
  EXPECT_EQ(mode("default/t/.scan"), 0711u);
  const NodePtr root = tree.filesystem->root().shared_from_this();
  AttributeChange change;
  change.mode = 0750;
  ASSERT_TRUE(tree.filesystem->SetAttributes(tree.request, *root, change, nullptr).ok());
  EXPECT_EQ(mode(".asof"), 0750u);
  EXPECT_EQ(mode(".cellfs"), 0750u);
  EXPECT_EQ(mode(".cellfs/status"), 0440u);
}

TEST(InheritanceTest, AModeThatIsNoneIsRefused) {
  WritingTree tree;
  tree.MakeTable();
  const std::string path = "default/t/.schema.toml";
  const std::string text = tree.ReadFile(path);
  for (const char* mode : {"rw", "0o640", "7777777", ""}) {
    EXPECT_EQ(tree.Save(path, text + "\"cellfs.mode\" = \"" + mode + "\"\n"), EINVAL) << mode;
  }
  EXPECT_EQ(tree.Save(path, text + "\"cellfs.mode\" = \"0640\"\n"), 0);
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("cellfs.mode of family 'f' is 'rw'"),
            std::string::npos);
}

// Who may read is not to be guessed.
TEST(InheritanceTest, WhereAModeThatIsNoneIsInForceNothingIsShown) {
  WritingTree tree;
  tree.MakeTable();
  tree.Put("r", "q", "v");
  TableSchema schema = **tree.store->DescribeTable(tree.table);
  ASSERT_TRUE(schema.families.at("f").Set("cellfs.mode", "rw").ok());
  ASSERT_TRUE(tree.store->AlterTable(Caller::Superuser(), schema).ok());
  EXPECT_EQ(tree.Error(kQ), EIO);
  EXPECT_EQ(tree.Error("default/t/.schema.toml"), 0);
}

}  // namespace
}  // namespace cellfs::fs
