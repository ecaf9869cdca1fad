// SPDX-License-Identifier: MIT
//
// What rename, unlink, mkdir, rmdir, the .toml files and chmod leave in the store.
#include <gtest/gtest.h>
#include <linux/fs.h>

#include "fs/operations/rename.h"
#include "fs/schema/schema_file.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

struct NamesTest : WritingTest {};

// ---- rename -------------------------------------------------------------------------------------

TEST_F(NamesTest, ADirectoryInMemoryStaysADirectoryUnderItsNewName) {
  const std::string history = "default/t/r/f/.versions/q/";
  tree.Save(kQ, "value");
  ASSERT_EQ(tree.Mkdir(history + "d"), 0);
  EXPECT_EQ(tree.Rename(history + "d", history + "e"), 0);
  EXPECT_EQ(tree.Error(history + "d"), ENOENT);
  EXPECT_TRUE(S_ISDIR(tree.Stat(history + "e").st_mode));
  // What is no directory's name, and what is another file's.
  EXPECT_EQ(tree.Rename(history + "e", history + "5"), EPERM);
  ASSERT_EQ(tree.Save(history + "file", "bytes"), 0);
  EXPECT_EQ(tree.Rename(history + "e", history + "file"), ENOTDIR);
  EXPECT_EQ(tree.Rename(history + "file", history + "e"), EISDIR);
  EXPECT_EQ(tree.ReadFile(history + "file"), "bytes");
  EXPECT_EQ(tree.Rename(history + "e", "default/t/r/f/.versions/e"), EXDEV);
  EXPECT_EQ(tree.Rmdir(history + "e"), 0);
}

TEST_F(NamesTest, ATemporaryRenamedIntoPlaceLeavesNoTrace) {
  CELLFS_NEEDS(withdraws);
  tree.Save(kQ, "old");
  tree.clock->Advance(10);
  tree.Save("default/t/r/f/whatever", "new");
  tree.clock->Advance(2000);
  EXPECT_EQ(tree.Rename("default/t/r/f/whatever", kQ), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "new");
  EXPECT_EQ(tree.Stored("whatever"), "");
  EXPECT_EQ(tree.Stored("q"), "Put@2010 Put@0");
  const struct stat shown = tree.Stat(kQ);
  EXPECT_EQ(shown.st_mtim.tv_sec * 1000 + shown.st_mtim.tv_nsec / 1000000, kStart + 10);
  EXPECT_EQ(shown.st_ctim.tv_sec, kStart / 1000 + 2);
}

TEST_F(NamesTest, ATemporarysExplicitTimeBecomesTheTimestamp) {
  CELLFS_NEEDS(withdraws);
  tree.Save("default/t/r/f/.q.Xa1b2c", "new");
  AttributeChange change;
  change.mtime = timespec{1000, 0};
  tree.Change("default/t/r/f/.q.Xa1b2c", change);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Rename("default/t/r/f/.q.Xa1b2c", kQ), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@" + std::to_string(1000000 - kStart));
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_sec, 1000);
  EXPECT_EQ(tree.Stored(".q.Xa1b2c"), "");
}

TEST_F(NamesTest, AnOlderFilesHistoryStaysUnderItsOldName) {
  tree.Put("r", "q", "1");
  tree.clock->Advance(10);
  tree.Save(kQ, "2");
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@20 Put@10 Put@0");
  EXPECT_EQ(tree.Stored("p"), "Put@20");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p"), "2");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.deleted/q"), "2");
}

TEST_F(NamesTest, ASaveThatRenamesTheOldFileAwayAddsOneVersionAndHidesNone) {
  CELLFS_NEEDS(withdraws);
  tree.Put("r", "q", "old");
  tree.clock->Advance(4000000);  // q is not of this hour
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/q~"), 0);
  tree.clock->Advance(1);
  EXPECT_EQ(tree.Save(kQ, "new"), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/q~"), 0);
  EXPECT_EQ(tree.Stored("q~"), "");
  EXPECT_EQ(tree.Stored("q"), "Put@4000001 Put@0");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q@" + std::to_string(kStart)), "old");
}

// Under a name that no tool gives to what it is about to write anew.
TEST_F(NamesTest, AFileThatWasRenamedAwayAndMadeAnewWasNotThereInBetween) {
  tree.Put("r", "q", "old");
  tree.clock->Advance(4000000);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Save(kQ, "new"), 0);
  EXPECT_EQ(tree.Stored("q"), "Put@4000010 DeleteColumn@4000000 Put@0");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q@" + std::to_string(kStart)), "old");
  if (!tree.store->traits().pins_moments) return;
  const std::string between = "default/t/.asof/" + std::to_string(kStart + 4000005) + "/r/f/";
  EXPECT_EQ(tree.Error(between + "q"), ENOENT);
  EXPECT_EQ(tree.ReadFile(between + "p"), "old");
}

TEST_F(NamesTest, RenameGoesNoFurtherThanTheRow) {
  tree.Put("r2", "q", "x");
  tree.Save(kQ, "x");
  EXPECT_EQ(tree.Rename(kQ, "default/t/r2/f/p"), EXDEV);
  EXPECT_EQ(tree.Rename("default/t/r", "default/t/r3"), EXDEV);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/other", RENAME_EXCHANGE), EINVAL);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/other", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p", RENAME_NOREPLACE), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p"), "x");
}

// Nobody could rename anything else between directories meanwhile.
TEST_F(NamesTest, ALargeValueIsNotRenamedToAnotherFamily) {
  const std::string large((size_t{1} << 20) + 1, 'x');
  const Status added =
      tree.store->AddFamily(Caller::Superuser(), {"default", "t"}, FamilySchema("g"));
  ASSERT_TRUE(added.ok()) << added.ToString();
  ASSERT_EQ(tree.Save(kQ, large), 0);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/g/p"), EXDEV);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p"), 0);
  ASSERT_EQ(tree.Unlink("default/t/r/f/p"), 0);
  EXPECT_EQ(tree.Rename("default/t/r/f/.deleted/p", "default/t/r/g/p"), 0) << "mv cannot copy it";
  EXPECT_EQ(tree.Stat("default/t/r/g/p").st_size, static_cast<off_t>(large.size()));
  ASSERT_EQ(tree.Save(kQ, large.substr(1)), 0);
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/g/q"), 0);
}

TEST_F(NamesTest, RenameToAndFromAVersion) {
  tree.Save(kQ, "x");
  EXPECT_EQ(tree.Rename(kQ, "default/t/r/f/p@5"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/p@5"), "x");
  EXPECT_EQ(tree.Rename("default/t/r/f/p@5", kQ), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "x");
  EXPECT_EQ(tree.Error("default/t/r/f/p@5"), ENOENT);
}

TEST_F(NamesTest, DeletedFilesComeBackByRename) {
  tree.Save(kQ, "x");
  tree.clock->Advance(10);
  tree.Unlink(kQ);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
  tree.clock->Advance(10);
  EXPECT_EQ(tree.Rename("default/t/r/f/.deleted/q", kQ), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "x");
}

TEST_F(NamesTest, OwnerAndModeGoWithTheName) {
  tree.Close(tree.Create("default/t/r/f/tmp", false, ForWriting(), 0600));
  tree.Save(kQ, "x");
  EXPECT_EQ(tree.Rename("default/t/r/f/tmp", kQ), 0);
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0600u);
}

TEST(TemporaryNamesTest, GlobsAreWhatTheyAreForFnmatch) {
  const MountOptions shipped;
  for (const char* name : {".q.a1b2c3", ".q.swp", "4913", "q~", "sedAbC123", "#q#", "q.tmp", ".#q",
                           "index.lock", "film.mp4.part"})
    EXPECT_TRUE(IsTemporaryName(shipped, name)) << name;
  for (const char* name : {"", "q", ".q.a1b2", "q.a1b2c3", "sedAbC12", "4913x", "q.tmp1", "#q",
                           "Cargo.lock", "handle.part"})
    EXPECT_FALSE(IsTemporaryName(shipped, name)) << name;
  MountOptions own;
  own.temporary_names = {"[ab]*[xy]", "\\*q\\*", "?"};
  for (const char* name : {"a1x", "by", "*q*", "z"})
    EXPECT_TRUE(IsTemporaryName(own, name)) << name;
  for (const char* name : {"c1x", "ab", "qqq", ""})
    EXPECT_FALSE(IsTemporaryName(own, name)) << name;
}

// ---- unlink -------------------------------------------------------------------------------------

TEST_F(NamesTest, UnlinkLeavesATombstoneAndAnEmptyDirectory) {
  tree.Put("r2", "q", "x", kStart + 1000);
  EXPECT_EQ(tree.Unlink("default/t/r2/f/q"), 0);
  EXPECT_EQ(tree.Error("default/t/r2/f/q"), ENOENT) << "a version in the future is hidden too";
  EXPECT_EQ(tree.Error("default/t/r2/f"), 0);
  EXPECT_EQ(tree.Save("default/t/r2/f/q", "y"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r2/f/q"), "y");
}

TEST_F(NamesTest, UnlinkOfAVersionHidesThatOne) {
  tree.Put("r", "q", "1", 5);
  tree.Put("r", "q", "2", 7);
  EXPECT_EQ(tree.Unlink("default/t/r/f/q@7"), 0);
  EXPECT_EQ(tree.ReadFile(kQ), "1");
  EXPECT_EQ(tree.Error("default/t/r/f/q@7"), ENOENT);
}

TEST_F(NamesTest, RemovingADeletedFileFreesItsVersions) {
  CELLFS_NEEDS(withdraws);
  tree.Save(kQ, "x");
  tree.Unlink(kQ);
  EXPECT_EQ(tree.Unlink("default/t/r/f/.deleted/q"), 0);
  EXPECT_EQ(tree.Stored("q"), "DeleteColumn@1");
  EXPECT_EQ(tree.Error("default/t/r/f/.deleted/q"), ENOENT);
}

TEST_F(NamesTest, OnlyATemporaryMadeHereLeavesNoTombstone) {
  CELLFS_NEEDS(withdraws);
  tree.Save("default/t/r/f/a.tmp", "x");
  EXPECT_EQ(tree.Unlink("default/t/r/f/a.tmp"), 0);
  EXPECT_EQ(tree.Stored("a.tmp"), "");
  tree.Put("r", "b.tmp", "x");
  EXPECT_EQ(tree.Unlink("default/t/r/f/b.tmp"), 0);
  EXPECT_EQ(tree.Stored("b.tmp"), "DeleteColumn@1 Put@0");
}

// ---- mkdir and rmdir ----------------------------------------------------------------------------

TEST_F(NamesTest, ATableGrowsFromDirectories) {
  EXPECT_EQ(tree.Mkdir("shop"), 0);
  EXPECT_EQ(tree.Mkdir("shop/orders"), 0);
  EXPECT_EQ(tree.Mkdir("shop/orders"), EEXIST);
  EXPECT_EQ(tree.Mkdir("shop/orders/1"), 0);
  EXPECT_EQ(tree.Mkdir("shop/orders/1/items"), 0);
  EXPECT_EQ(tree.Save("shop/orders/1/items/pen", "2"), 0);
  EXPECT_EQ(tree.Mkdir("shop/orders/1/notes"), 0);
  EXPECT_EQ(tree.ReadFile("shop/orders/1/items/pen"), "2");
  auto schema = tree.store->DescribeTable({"shop", "orders"});
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ((*schema)->FindFamily("items")->max_versions(), 10);
  EXPECT_EQ((*schema)->FindFamily("items")->deleted_ttl(), 2592000);
  EXPECT_EQ(tree.Mkdir("shop/orders/1/items/deeper"), EPERM);
  EXPECT_EQ(tree.Mkdir("shop/orders/1/.hidden"), EPERM);
  EXPECT_EQ(tree.Mkdir("bad-name"), EINVAL);
}

TEST_F(NamesTest, AClosedTableTakesNoNewFamily) {
  EXPECT_EQ(tree.Mkdir("default/t/new"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/new/undeclared"), EPERM);
  EXPECT_EQ(tree.Mkdir("default/t/new/f"), 0) << "declared, and not there until it is made";
}

TEST_F(NamesTest, WithACounterGoesWhatItsColumnHasOpen) {
  MountOptions options;
  options.controls = Controls::kVisible;
  tree.Remount(options);
  ASSERT_EQ(tree.Save("default/t/r/f/n", "12345678"), 0);
  OpenMode mode;
  mode.write = true;
  const OpenFile file = tree.Open("default/t/r/f/n", mode);
  ASSERT_EQ(file.error, 0);
  ASSERT_EQ(tree.Write(file, "87654321"), 0);
  EXPECT_EQ(tree.Unlink("default/t/r/f/.counters/n"), 0);
  EXPECT_EQ(tree.Flush(file), 0);
  tree.filesystem->Release(*file.node, file.handle);
  EXPECT_EQ(tree.Error("default/t/r/f/n"), ENOENT);
  EXPECT_EQ(tree.Save("default/t/r/f/n", "anew"), 0);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/n"), "anew");
}

// Each step after the directories were looked at, as after a listing.
TEST_F(NamesTest, DirectoriesThatAreKnownToBeThereGoWithTheirLastFile) {
  const auto is_there = [&](const std::string& path) { return tree.Error(path) == 0; };
  const std::string row = "default/t/s", family = "default/t/s/f", file = "default/t/s/f/q";
  tree.Mkdir(row);
  tree.Mkdir(family);
  EXPECT_EQ(tree.Save(file, "1"), 0);
  EXPECT_TRUE(is_there(family) && is_there(row));
  EXPECT_EQ(tree.Unlink(file), 0);
  EXPECT_TRUE(is_there(family) && is_there(row)) << "emptied, they stay";
  EXPECT_EQ(tree.Rmdir(family), 0);
  EXPECT_EQ(tree.Rmdir(row), 0);
  EXPECT_FALSE(is_there(family) || is_there(row));
  tree.Put("s", "q", "2", kStart + 1000000);  // above the tombstone
  tree.filesystem->kernel().TableChanged(tree.table);
  EXPECT_TRUE(is_there(family) && is_there(row));
  EXPECT_EQ(tree.Rename(file, "default/t/s/f/p"), 0);
  EXPECT_TRUE(is_there(family) && is_there(row));
  EXPECT_EQ(tree.Unlink("default/t/s/f/p"), 0);
  EXPECT_EQ(tree.Rmdir(family), 0);
  EXPECT_EQ(tree.Rmdir(row), 0);
  EXPECT_FALSE(is_there(family) || is_there(row));
}

TEST_F(NamesTest, AFamilyMadeAndNeverUsedIsUndeclaredByRmdir) {
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "where others write it stays";
  tree.Mkdir("default/grown");
  tree.Mkdir("default/grown/r");
  tree.Mkdir("default/grown/r/a");
  tree.Mkdir("default/grown/r/b");
  tree.Save("default/grown/r/b/q", "x");
  tree.Unlink("default/grown/r/b/q");
  EXPECT_EQ(tree.Rmdir("default/grown/r/a"), 0);
  EXPECT_EQ(tree.Rmdir("default/grown/r/b"), 0);
  auto schema = tree.store->DescribeTable({"default", "grown"});
  EXPECT_EQ((*schema)->FindFamily("a"), nullptr);
  EXPECT_NE((*schema)->FindFamily("b"), nullptr);
}

TEST_F(NamesTest, DirectoriesGoWhenNothingIsSeenInThem) {
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), ENOTEMPTY);
  EXPECT_EQ(tree.Rmdir("default/t/r"), ENOTEMPTY);
  EXPECT_EQ(tree.Rmdir("default/t"), ENOTEMPTY);
  EXPECT_EQ(tree.Unlink("default/t/r/f/other"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r"), 0);
  EXPECT_EQ(tree.Rmdir("default/t"), 0);
  EXPECT_FALSE(tree.store->DescribeTable(tree.table).ok());
  EXPECT_EQ(tree.Rmdir("default"), EPERM);
  tree.Mkdir("ns");
  tree.Mkdir("ns/t");
  EXPECT_EQ(tree.Rmdir("ns"), ENOTEMPTY);
  EXPECT_EQ(tree.Rmdir("ns/t"), 0);
  EXPECT_EQ(tree.Rmdir("ns"), 0);
}

// ---- .toml --------------------------------------------------------------------------------------

TEST_F(NamesTest, ASchemaWrittenIntoANewTableMakesIt) {
  tree.Mkdir("default/made");
  EXPECT_EQ(tree.Error("default/made/.schema.toml"), ENOENT);
  EXPECT_EQ(
      tree.Save("default/made/.schema.toml", "splits = [\"m\"]\n[families.a]\nVERSIONS = 3\n"), 0);
  auto schema = tree.store->DescribeTable({"default", "made"});
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ((*schema)->FindFamily("a")->max_versions(), 3);
  EXPECT_EQ((*schema)->FindFamily("a")->keep_deleted_cells(), KeepDeletedCells::kFalse);
  EXPECT_EQ((*schema)->split_keys, std::vector<std::string>{"m"});
  EXPECT_FALSE(IsOpen(**schema));
  EXPECT_EQ(tree.Mkdir("default/made/r"), 0);
  EXPECT_EQ(tree.Mkdir("default/made/r/b"), EPERM);
}

TEST_F(NamesTest, ASchemaIsAlteredOrRefusedAsAWhole) {
  const std::string path = "default/t/.schema.toml";
  const std::string before = tree.ReadFile(path);
  EXPECT_EQ(tree.Save(path, before), 0) << "a copy changes nothing";
  EXPECT_EQ(tree.Save(path, "[families.g]\n"), EINVAL) << "f is left out";
  EXPECT_EQ(tree.Save(path, "[families.f]\nVERSIONS = 0\n"), EINVAL);
  EXPECT_EQ(tree.Save(path, "not toml"), EINVAL);
  EXPECT_EQ(tree.ReadFile(path), before);
  EXPECT_EQ(tree.Save(path, "[families.f]\nVERSIONS = 7\n[families.g]\n"), 0);
  EXPECT_EQ((*tree.store->DescribeTable(tree.table))->FindFamily("f")->max_versions(), 7);
  EXPECT_EQ(tree.Save(path, "[families.f]\ndrop = true\n[families.g]\n"), 0);
  EXPECT_EQ((*tree.store->DescribeTable(tree.table))->FindFamily("f"), nullptr);
  EXPECT_EQ(tree.Save(path, "enabled = false\n[families.g]\n"), 0);
  EXPECT_FALSE(*tree.store->IsTableEnabled(tree.table));
}

TEST_F(NamesTest, AnEditorsTemporaryAppliesWhenItIsRenamedIntoPlace) {
  const std::string path = "default/t/.schema.toml";
  EXPECT_EQ(tree.Save("default/t/.schema.toml.swp", "anything"), 0);
  EXPECT_EQ(tree.Rename(path, path + "~"), 0);
  EXPECT_EQ(tree.Error(path), ENOENT);
  EXPECT_EQ(tree.Save("default/t/..schema.toml.Xa1b2c", "[families.f]\nVERSIONS = 4\n"), 0);
  EXPECT_EQ(tree.Rename("default/t/..schema.toml.Xa1b2c", path), 0);
  EXPECT_EQ((*tree.store->DescribeTable(tree.table))->FindFamily("f")->max_versions(), 4);
  EXPECT_EQ(tree.Unlink(path + "~"), 0);
  EXPECT_EQ(tree.Unlink("default/t/.schema.toml.swp"), 0);
  EXPECT_EQ(tree.Error("default/t/..schema.toml.Xa1b2c"), ENOENT);
}

TEST_F(NamesTest, ATomlWrittenAfterItWasRemovedIsWhatWasWritten) {
  const std::string path = "default/t/.schema.toml";
  EXPECT_EQ(tree.Unlink(path), 0);
  EXPECT_EQ(tree.Save(path, "[families.f]\n"), 0);
  EXPECT_EQ((*tree.store->DescribeTable(tree.table))->FindFamily("f")->max_versions(), 1);
}

TEST_F(NamesTest, NamespacePropertiesAreWritten) {
  if (tree.store->traits().tables_need_a_family) GTEST_SKIP() << "mkdir makes no table yet";
  tree.Mkdir("ns");
  EXPECT_EQ(tree.Save("ns/.namespace.toml", "hbase.namespace.quota.maxtables = 1\n"), 0);
  EXPECT_EQ(tree.Mkdir("ns/a"), 0);
  EXPECT_EQ(tree.Mkdir("ns/b"), EDQUOT);
}

// ---- .versions ----------------------------------------------------------------------------------

TEST_F(NamesTest, AHistoryIsRestoredBelowVersions) {
  EXPECT_EQ(tree.Mkdir("default/t/r/f/.versions/old"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/.versions/old/5", "five"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/.versions/old/.7.Xa1b2c", "seven"), 0);
  EXPECT_EQ(tree.Rename("default/t/r/f/.versions/old/.7.Xa1b2c", "default/t/r/f/.versions/old/7"),
            0);
  EXPECT_EQ(tree.List("default/t/r/f/.versions/old"), (std::vector<std::string>{"7", "5"}));
  EXPECT_EQ(tree.ReadFile("default/t/r/f/old"), "seven");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/old@5"), "five");
}

// rm -r
TEST_F(NamesTest, AHistoryOfWhichTheLastVersionWentIsRemovedAtLast) {
  const std::string history = "default/t/r/f/.versions/q";
  tree.Save(kQ, "1");
  tree.clock->Advance(10);
  tree.Save(kQ, "2");
  for (const std::string& version : tree.List(history)) {
    EXPECT_EQ(tree.Unlink(history + "/" + version), 0);
  }
  EXPECT_EQ(tree.List(history), std::vector<std::string>());
  EXPECT_EQ(tree.Rmdir(history), 0);
  EXPECT_EQ(tree.Error(history), ENOENT);
  EXPECT_EQ(tree.Error(kQ), ENOENT);
}

// ---- Owner and mode -----------------------------------------------------------------------------

TEST_F(NamesTest, OrdinaryFilesStoreNoAttributes) {
  tree.Save(kQ, "x");
  tree.Mkdir("default/t/r2");
  tree.Mkdir("default/t/r2/f");
  tree.Save("default/t/r2/f/q", "x");
  EXPECT_FALSE(tree.store->DescribeTable({"cellfs", "attributes"}).ok());
}

// The cells that are stored for files, withdrawn ones apart.
int StoredAttributes(WritingTree& tree) {
  auto scanner = tree.store->OpenScanner(Caller::Superuser(), {"cellfs", "attributes"}, Scan());
  if (!scanner.ok()) return 0;
  int cells = 0;
  for (auto rows = (*scanner)->Next({}); rows.ok() && !rows->empty(); rows = (*scanner)->Next({})) {
    for (const RowCells& row : *rows) {
      for (const Cell& cell : row) cells += cell.family != "c" ? 1 : 0;
    }
  }
  return cells;
}

TEST_F(NamesTest, TemporariesLeaveNoAttributes) {
  CELLFS_NEEDS(withdraws);
  ASSERT_EQ(tree.Save(kQ, "old"), 0);
  for (const std::string temporary : {".q.Tmp123", ".q.Tmp456"}) {
    const std::string path = "default/t/r/f/" + temporary;
    const OpenFile file = tree.Create(path, true, ForWriting(), 0600);
    ASSERT_EQ(tree.Write(file, "new"), 0);
    ASSERT_EQ(tree.Close(file), 0);
    AttributeChange times;
    times.mtime = timespec{1600000000, 5};
    ASSERT_EQ(tree.Change(path, times), 0);
    EXPECT_GT(StoredAttributes(tree), 0);
    ASSERT_EQ(temporary == ".q.Tmp123" ? tree.Rename(path, kQ) : tree.Unlink(path), 0);
  }
  EXPECT_EQ(tree.Stat(kQ).st_mode & 0777, 0600u);
  EXPECT_EQ(tree.Stat(kQ).st_mtim.tv_nsec, 5);
  EXPECT_EQ(StoredAttributes(tree), 2);  // q's own
}

TEST_F(NamesTest, AttributesHoldInARowOfVeryManyColumns) {
  constexpr int kColumns = static_cast<int>(AttributeCache::kMaxRowEntries) + 50;
  const auto column = [](int i) {
    return CellPlace({"default", "t"}, "r", "f", std::to_string(i));
  };
  const auto mode = [](int i) { return static_cast<mode_t>(i % 2 == 0 ? 0600 : 0640); };
  for (int i = 0; i < kColumns; ++i) {
    AttributeUpdate update;
    update.mode = mode(i);
    ASSERT_TRUE(tree.filesystem->parts().attributes.Update(column(i), update).ok());
  }
  for (const bool again : {false, true}) {
    AttributeStore& attributes = tree.filesystem->parts().attributes;
    for (int i = 0; i < kColumns; i += 91) {
      ASSERT_EQ(attributes.Find(column(i), -1)->mode, mode(i)) << i;
    }
    if (!again) tree.Remount();
  }
}

TEST_F(NamesTest, OwnerAndModeBelongToTheColumnAndAreInherited) {
  tree.Put("r", "q", "1", 5);
  tree.Save(kQ, "2");
  AttributeChange change;
  change.mode = 0640;
  change.uid = 1000;
  EXPECT_EQ(tree.Change(kQ, change), 0);
  EXPECT_EQ(tree.Stat("default/t/r/f/q@5").st_mode & 07777, 0640u);
  change.mode = 0750;
  EXPECT_EQ(tree.Change("default/t", change), 0);
  tree.Remount();
  EXPECT_EQ(tree.Stat(kQ).st_uid, 1000u);
  EXPECT_EQ(tree.Stat("default/t/r/f/other").st_uid, 1000u);
  EXPECT_EQ(tree.Stat("default/t/r/f/other").st_mode & 07777, 0640u);
  EXPECT_EQ(tree.Stat("default/t/r/f").st_mode & 07777, 0750u);
  tree.Unlink(kQ);
  tree.Save(kQ, "anew");
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0644u) << "made anew with the caller's mode";
  EXPECT_EQ(tree.Stat(kQ).st_uid, 0u);
}

// The kernel has looked at the mode of the file before.
TEST(LateOpenTest, AnotherUserMustLookAgainWhereTheNameIsAnotherFilesByNow) {
  MountOptions options;
  options.allow_other = true;
  WritingTree tree(std::move(options));
  tree.MakeTable();
  tree.Put("r", "name", "public");
  tree.Put("r", "other", "secret");
  const NodePtr before = tree.LookUp("default/t/r/f/name")->node;
  const NodePtr family = tree.Directory("default/t/r/f");
  ASSERT_TRUE(tree.filesystem->Rename(tree.request, *family, "other", *family, "name", 0).ok());
  Request anybody = tree.request;
  anybody.uid = 1000;
  EXPECT_EQ(tree.filesystem->Open(anybody, *before, {}).status().error(), ESTALE);
  const auto opened = tree.filesystem->Open(tree.request, *before, {});
  ASSERT_TRUE(opened.ok());
  tree.filesystem->Release(*before, opened->handle);
}

}  // namespace
}  // namespace cellfs::fs
