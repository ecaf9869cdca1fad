// SPDX-License-Identifier: MIT
//
// Owners and modes that cannot be read, and places that have none of their own.
#include <gtest/gtest.h>

#include <algorithm>

#include "fs/attributes/attribute_reader.h"
#include "fs/attributes/attribute_rows.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {


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
  // Of the table of attributes.
  std::string Row(const std::string& row) {
    const TableId id = (*tree.store->DescribeTable({"default", "t"}))->id();
    if (id != 0) return RowOfTable(id) + '\0' + row;
    auto scanner = tree.store->OpenScanner(Caller::Superuser(), kAttributes, Scan());
    for (const RowCells& cells : *(*scanner)->Next({})) {
      const std::string& found = cells.front().row;
      if (found.front() == kDataHereMark && found.ends_with('\0' + row)) return found;
    }
    return {};
  }
  // Of the column default/t/r/f/q, as text, the newest first.
  std::vector<std::pair<Timestamp, std::string>> Owners() {
    Get get;
    get.row = Row("r");
    get.columns["a"] = {"f:q"};
    get.max_versions = kAllVersions;
    const auto cells = tree.store->Read(Caller::Superuser(), kAttributes, get);
    std::vector<std::pair<Timestamp, std::string>> owners;
    for (const Cell& cell : *cells) {
      const size_t mode = cell.value.find(' ', cell.value.find(' ') + 1) + 1;
      owners.emplace_back(cell.timestamp, cell.value.substr(0, cell.value.find(' ', mode)));
    }
    return owners;
  }
  // How many of its rows begin with that.
  size_t Rows(const std::string& prefix) {
    auto scanner = tree.store->OpenScanner(Caller::Superuser(), kAttributes, Scan());
    const auto rows = (*scanner)->Next({});
    return static_cast<size_t>(std::count_if(
        rows->begin(), rows->end(),
        [&](const RowCells& cells) { return cells.front().row.starts_with(prefix); }));
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

// Nor is anybody told of a failure where there only was no answer in time, or no wait for it.
TEST(UnansweredAttributes, AreToldApartFromUnreadableOnes) {
  const auto code = [](StatusCode why) {
    return AttributesUnreadable({why, "regionserver1:16020 does not answer in time"}).code();
  };
  EXPECT_EQ(code(StatusCode::kTimedOut), StatusCode::kTimedOut);
  EXPECT_EQ(code(StatusCode::kCancelled), StatusCode::kCancelled);
  for (const StatusCode other : {StatusCode::kUnavailable, StatusCode::kTableNotFound,
                                 StatusCode::kTableNotEnabled, StatusCode::kCorruption})
    EXPECT_EQ(code(other), StatusCode::kIoError);
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
  ASSERT_TRUE(filesystem.parts().attributes.DropTable({nullptr, ":999"}).ok());
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

TEST_F(AttributeStoreTest, ThePastShowsTablesThatHaveNoId) {
  const std::string asof = ".asof/" + std::to_string(tree.clock->Now()) + "/hbase";
  for (const char* table : {"/meta", "/namespace", "/quota"})
    EXPECT_EQ(tree.Error(asof + table), 0) << table;
}

TEST_F(AttributeStoreTest, ARecordThatIsNoneIsNotTakenForTheDefault) {
  const Put put{Row("r"), {{"a", "f:q", tree.clock->Now() + 1, "0 0 rubbish -", {}}}};
  ASSERT_TRUE(tree.store->Mutate(Caller::Superuser(), kAttributes, RowMutations::Of(put)).ok());
  tree.Remount();
  EXPECT_EQ(tree.Error(kQ), EIO);
}

// ---- By the table's id, and by time -------------------------------------------------------------

TEST_F(AttributeStoreTest, ATableOfTheSameNameDoesNotGetWhatWasStoredForTheOneBefore) {
  CELLFS_NEEDS(withdraws);
  const std::string before = Row("r");
  ASSERT_EQ(SetMode("default/t", 0700), 0);
  ASSERT_TRUE(tree.store->DisableTable(Caller::Superuser(), {"default", "t"}).ok());
  ASSERT_TRUE(tree.store->DropTable(Caller::Superuser(), {"default", "t"}).ok());
  tree.MakeTable();
  tree.Put("r", "q", "x");
  EXPECT_NE(Row("r"), before);
  EXPECT_EQ(kMode(tree.Stat("default/t")), 0755u);
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0644u);
  EXPECT_GT(Rows(before), 0u) << "nobody has removed it";
}

TEST_F(AttributeStoreTest, RowsOfATableThatWasDroppedGoAtTheNextMountWhereTheyCouldNotBefore) {
  CELLFS_NEEDS(withdraws);
  ASSERT_EQ(tree.Mkdir("default/other"), 0);
  ASSERT_EQ(SetMode("default/other", 0700), 0);
  const auto other = tree.store->DescribeTable({"default", "other"});
  const std::string row = RowOfTable((*other)->id());
  auto& attributes = tree.filesystem->parts().attributes;
  ASSERT_TRUE(attributes.BeginDropTable(TablePlace({"default", "other"})).ok());
  tree.Remount();
  EXPECT_EQ(kMode(tree.Stat("default/other")), 0700u) << "it was not dropped";
  ASSERT_EQ(*tree.store->DropEmptyTable(Caller::Superuser(), {"default", "other"}), true);
  EXPECT_EQ(Rows(row), 1u);
  tree.Remount();
  EXPECT_EQ(tree.Error("default/other"), ENOENT);
  EXPECT_EQ(Rows(row), 0u);
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0600u);
}

TEST_F(AttributeStoreTest, WhoseAFileWasWhenIsKept) {
  const Timestamp first = Owners().front().first;
  EXPECT_GT(first, 0);
  tree.clock->Advance(10);
  ASSERT_EQ(SetMode(kQ, 0640), 0);
  tree.clock->Advance(10);
  AttributeChange touch;
  touch.mtime = timespec{9, 0};
  ASSERT_EQ(tree.Change(kQ, touch), 0);
  const std::vector<std::pair<Timestamp, std::string>> kept = {{tree.clock->Now() - 10, "- - 416"},
                                                               {first, "- - 384"}};
  EXPECT_EQ(Owners(), kept) << "a time alone makes no version";
  tree.clock->Set(1);
  ASSERT_EQ(SetMode(kQ, 0604), 0);
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0604u) << "the clock was set back";
  tree.Remount();
  EXPECT_EQ(kMode(tree.Stat(kQ)), 0604u);
}

// Were one left, the next file of that name would show it.
TEST_F(AttributeStoreTest, ATracelessFileTakesAllVersionsOfItsOwnerAlong) {
  CELLFS_NEEDS(withdraws);
  for (const bool remount : {false, true}) {
    for (const int changes : {2, 30}) {
      ASSERT_EQ(tree.Save("default/t/r/f/.q.tmp123", "x"), 0);
      for (int i = 0; i < changes; ++i) {
        tree.clock->Advance(1);
        ASSERT_EQ(SetMode("default/t/r/f/.q.tmp123", i % 2 == 0 ? 0600 : 0606), 0);
      }
      ASSERT_EQ(tree.Rename("default/t/r/f/.q.tmp123", kQ), 0);
      if (remount) tree.Remount();
      ASSERT_EQ(tree.Save("default/t/r/f/.q.tmp123", "x"), 0);
      EXPECT_EQ(kMode(tree.Stat("default/t/r/f/.q.tmp123")), 0644u) << changes;
      tree.Remount();
      EXPECT_EQ(kMode(tree.Stat("default/t/r/f/.q.tmp123")), 0644u) << changes;
      ASSERT_EQ(tree.Unlink("default/t/r/f/.q.tmp123"), 0);
    }
  }
}

// ---- Inode numbers ------------------------------------------------------------------------------

TEST_F(AttributeStoreTest, InodeNumbersAreOfTheTableAndNotOfItsName) {
  CELLFS_NEEDS(withdraws);
  const std::vector<std::string> paths = {"default/t", "default/t/.schema.toml", "default/t/r", kQ};
  std::vector<ino_t> before;
  for (const std::string& path : paths) before.push_back(tree.Stat(path).st_ino);
  tree.Remount();
  for (size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(tree.Stat(paths[i]).st_ino, before[i]);
  ASSERT_TRUE(tree.store->DisableTable(Caller::Superuser(), {"default", "t"}).ok());
  ASSERT_TRUE(tree.store->DropTable(Caller::Superuser(), {"default", "t"}).ok());
  tree.MakeTable();
  tree.Put("r", "q", "x");
  tree.Remount();
  for (size_t i = 0; i < paths.size(); ++i) EXPECT_NE(tree.Stat(paths[i]).st_ino, before[i]);
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
    const std::string reason = std::string("cellfs.mode of family 'f' is '") + mode + "'";
    EXPECT_NE(tree.ReadFile(".cellfs/errors").find(reason), std::string::npos) << mode;
  }
  EXPECT_EQ(tree.Save(path, text + "\"cellfs.mode\" = \"0640\"\n"), 0);
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

// What columns show for which nothing is stored is kept for the family that was asked for last.
class PlainColumnsTest : public WritingTest {
 protected:
  PlainColumnsTest() {
    Change("default", 0, 0755);  // the table of attributes is there
    EXPECT_EQ(tree.Save(kSchemaPath, tree.ReadFile(kSchemaPath) + "[families.g]\n"), 0);
    for (const char* path : {kOfOther, kQ, kOther}) EXPECT_EQ(tree.Save(path, "x"), 0);
    for (const char* path : {kOfOther, kQ, kOther}) EXPECT_EQ(tree.Stat(path).st_uid, 0u);
  }
  void Change(const std::string& path, uid_t uid, mode_t mode) {
    AttributeChange change;
    change.uid = uid;
    change.mode = mode;
    EXPECT_EQ(tree.Change(path, change), 0);
  }
  static constexpr char kOther[] = "default/t/r/f/other";
  static constexpr char kOfOther[] = "default/t/r/g/q";  // of the other family
};

TEST_F(PlainColumnsTest, TheFirstRecordOfTheTableShows) {
  const struct stat plain = tree.Stat(kOther);
  Change(kQ, kOne, 0600);
  EXPECT_EQ(tree.Stat(kQ).st_uid, kOne);
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0600u);
  EXPECT_EQ(tree.Stat(kOther).st_uid, plain.st_uid);
  EXPECT_EQ(tree.Stat(kOther).st_mode, plain.st_mode);
}

TEST_F(PlainColumnsTest, TheOwnerOfTheNamespaceIsInherited) {
  Change("default", kOne, 0755);
  EXPECT_EQ(tree.Stat(kOther).st_uid, kOne);
}

TEST_F(PlainColumnsTest, TheSchemaThatIsAlteredShowsInItsFamilyAlone) {
  const mode_t before = tree.Stat(kOther).st_mode;
  ASSERT_EQ(tree.Stat(kOfOther).st_mode, before);
  TableSchema schema = **tree.store->DescribeTable(kTable);
  ASSERT_TRUE(schema.families.at("g").Set("cellfs.mode", "0640").ok());
  ASSERT_TRUE(tree.store->AlterTable(Caller::Superuser(), schema).ok());
  EXPECT_EQ(tree.Stat(kOfOther).st_mode & 07777, 0640u);
  EXPECT_EQ(tree.Stat(kOther).st_mode, before);
}

TEST_F(AttributeStoreTest, NothingIsStoredForTheSchemaOfATableThatHasGone) {
  const Place schema = TablePlace({"default", "gone"}).As(PlaceKind::kSchemaFile);
  const auto found = tree.filesystem->parts().attributes.Find(schema, -1);
  EXPECT_TRUE(found.ok()) << found.status().ToString();
}

}  // namespace
}  // namespace cellfs::fs
