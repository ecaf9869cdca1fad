// SPDX-License-Identifier: MIT
//
// The tree as it is read: what is found, what is listed, what stat shows.
#include "fs/reading/reading.h"

#include <gtest/gtest.h>

#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;

TEST(ReadingTest, APathOfFiveNamesIsACell) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "q", "value", kStart - 1500);
  const auto entry = tree.LookUp("default/t/r/f/q");
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->attributes.st_size, 5);
  EXPECT_EQ(entry->attributes.st_blocks, 1);
  EXPECT_EQ(entry->attributes.st_nlink, 1u);
  EXPECT_EQ(entry->attributes.st_mode, static_cast<mode_t>(S_IFREG | 0644));
  EXPECT_EQ(entry->attributes.st_mtim.tv_sec, (kStart - 1500) / 1000);
  EXPECT_EQ(entry->attributes.st_mtim.tv_nsec, 500000000);
  const Place cell = CellPlace(tree.table, "r", "f", "q");
  const TableId table = (*tree.store->DescribeTable(tree.table))->id();
  EXPECT_EQ(entry->attributes.st_ino, cell.InodeNumberIn(table, cell.InodeNumber()));
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "value");
}

TEST(ReadingTest, WhatIsNotThereIsENOENT) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "q", "value");
  for (const char* path :
       {"nowhere", "default/u", "default/t/s", "default/t/r/g", "default/t/r/f/p",
        "default/t/r/f/q@5", "cellfs", "default/t/.asof/tomorrow", "default/t/.scan/limt=1"}) {
    EXPECT_EQ(tree.Error(path), ENOENT) << path;
  }
}

TEST(ReadingTest, ListsInByteOrder) {
  Tree tree;
  tree.MakeTable();
  for (const char* row : {"b", "a", "\xc3\xa9", "B", "a/b"}) tree.Put(row, "q", "v");
  for (const char* qualifier : {"z", "", "a@5", "m"}) tree.Put("b", qualifier, "v");
  EXPECT_EQ(tree.List(""), (Names{"default", "hbase"}));
  EXPECT_EQ(tree.List("default"), (Names{".namespace.toml", "t"}));
  EXPECT_EQ(tree.List("default/t"), (Names{".schema.toml", "B", "a", "a%2Fb", "b", "\xc3\xa9"}));
  EXPECT_EQ(tree.List("default/t/b"), Names{"f"});
  EXPECT_EQ(tree.List("default/t/b/f"), (Names{"%empty", "a%405", "m", "q", "z"}));
}

TEST(ReadingTest, EveryListedNameIsFound) {
  Tree tree;
  tree.MakeTable();
  for (const std::string& qualifier :
       {std::string(".."), std::string(".versions"), std::string("%41"), std::string(400, 'x'),
        std::string("a\0b", 3)}) {
    tree.Put("r", qualifier, qualifier);
  }
  const Names names = tree.List("default/t/r/f");
  EXPECT_EQ(names.size(), 5u);
  for (const std::string& name : names) {
    EXPECT_EQ(tree.Error("default/t/r/f/" + name), 0) << name;
    EXPECT_LE(name.size(), 255u);
  }
}

TEST(ReadingTest, AShortenedNameHasItsKeyInTheKeysDirectory) {
  Tree tree;
  tree.MakeTable();
  const std::string row(1000, 'k');
  tree.Put(row, "q", "v");
  const std::string name = tree.List("default/t")[1];
  EXPECT_EQ(tree.ReadFile("default/t/" + name + "/f/q"), "v");
  EXPECT_EQ(tree.ReadFile(".cellfs/keys/" + name), row);
}

TEST(ReadingTest, AVersionReadsByItsTimestampBehindNewerOnes) {
  Tree tree;
  tree.MakeTable();
  for (Timestamp t = 1; t <= 3; ++t) tree.Put("r", "q", "v" + std::to_string(t), t);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q"), "v3");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/q@1"), "v1");
  EXPECT_EQ(tree.List("default/t/r/f/.versions"), Names{"q"});
  EXPECT_EQ(tree.List("default/t/r/f/.versions/q"), (Names{"3", "2", "1"}));
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.versions/q/2"), "v2");
  EXPECT_EQ(tree.Error("default/t/r/f/q@4"), ENOENT);
  EXPECT_EQ(tree.LookUp("default/t/r/f/q@1")->name_valid_seconds, 0);
}

TEST(ReadingTest, VersionsListsAsManyAsVersionsSays) {
  Tree tree;
  tree.MakeTable();
  for (Timestamp t = 1; t <= 12; ++t) tree.Put("r", "q", "v", t);
  const Names names = tree.List("default/t/r/f/.versions/q");
  ASSERT_EQ(names.size(), 10u);
  EXPECT_EQ(names.front(), "12");
  EXPECT_EQ(names.back(), "3");
}

TEST(ReadingTest, ADeletedColumnIsShownWithItsLastValue) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "gone", "first", kStart - 20);
  tree.Put("r", "gone", "last", kStart - 10);
  tree.Put("r", "here", "v");
  tree.Delete("r", "gone");
  EXPECT_EQ(tree.Error("default/t/r/f/gone"), ENOENT);
  EXPECT_EQ(tree.List("default/t/r/f"), Names{"here"});
  EXPECT_EQ(tree.List("default/t/r/f/.deleted"), Names{"gone"});
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.deleted/gone"), "last");
  EXPECT_EQ(tree.Error("default/t/r/f/.deleted/here"), ENOENT);
  EXPECT_EQ(tree.List("default/t/r/f/.versions"), (Names{"gone", "here"}));
}

TEST(ReadingTest, ACounterIsItsNumber) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "hits", std::string("\0\0\0\0\0\0\1\2", 8));
  tree.Put("r", "below", std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8));
  tree.Put("r", "text", "no counter");
  EXPECT_EQ(tree.List("default/t/r/f/.counters"), (Names{"below", "hits"}));
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/hits"), "258\n");
  EXPECT_EQ(tree.LookUp("default/t/r/f/.counters/hits")->attributes.st_size, 4);
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/below"), "-2\n");
  EXPECT_EQ(tree.ReadFile("default/t/r/f/.counters/text"), "<open EINVAL>");
}

TEST(ReadingTest, AQueryShowsTheRowsOfItsScan) {
  Tree tree;
  tree.MakeTable();
  for (const char* row : {"a", "b", "c", "d"}) {
    tree.Put(row, "q", "1", 1);
    tree.Put(row, "q", "2", 2);
  }
  EXPECT_EQ(tree.List("default/t/.scan/start=b,stop=d"), (Names{"b", "c"}));
  EXPECT_EQ(tree.List("default/t/.scan/reverse,limit=2"), (Names{"d", "c"}));
  EXPECT_EQ(tree.List("default/t/.scan/versions=2/a/f"), (Names{"q@2", "q@1"}));
  EXPECT_EQ(tree.ReadFile("default/t/.scan/versions=2/a/f/q@1"), "1");
  EXPECT_EQ(tree.ReadFile("default/t/.scan/time_range=0..2/a/f/q"), "1");
  EXPECT_EQ(tree.Error("default/t/.scan/start=b/a"), ENOENT);
  const auto entry = tree.LookUp("default/t/.scan/start=b/c/f/q");
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->name_valid_seconds, 0);
  EXPECT_EQ(entry->attributes.st_mode & 0777, 0644u);
}

TEST(ReadingTest, ControlNamesAreFoundButNotListed) {
  Tree hidden;
  hidden.MakeTable();
  hidden.Put("r", "q", "v");
  EXPECT_EQ(hidden.List("default/t/r/f"), Names{"q"});
  EXPECT_EQ(hidden.Error("default/t/r/f/.versions"), 0);

  MountOptions options;
  options.controls = Controls::kVisible;
  Tree visible(options);
  visible.MakeTable();
  visible.Put("r", "q", "v");
  EXPECT_EQ(visible.List("default/t/r/f"), (Names{".versions", "q"}));

  options.controls = Controls::kOff;
  Tree off(options);
  off.MakeTable();
  off.Put("r", "q@5", "v");
  EXPECT_EQ(off.List("default/t/r/f"), Names{"q@5"});
  EXPECT_EQ(off.Error("default/t/r/f/.versions"), ENOENT);
  EXPECT_EQ(off.Error(".cellfs"), ENOENT);
}

TEST(ReadingTest, NamesAndAttributesAreGoodUntilTheNextExpiry) {
  Tree tree;
  if (tree.store->traits().has_other_writers) GTEST_SKIP() << "about what is known exactly";
  tree.MakeTable("100");
  tree.Put("r", "q", "v", kStart - 40000, "g");
  tree.Put("r", "q", "v");
  EXPECT_DOUBLE_EQ(tree.LookUp("default/t/r/g/q")->attributes_valid_seconds, 60);
  EXPECT_DOUBLE_EQ(tree.LookUp("default/t/r/f/q")->attributes_valid_seconds, kForeverSeconds);
  const auto family = tree.LookUp("default/t/r/g");
  EXPECT_FALSE(tree.filesystem->OpenListing(tree.request, *family->node)->cache_listing);
  tree.clock->Advance(60001);
  EXPECT_EQ(tree.Error("default/t/r/g/q"), ENOENT);
}

TEST(ReadingTest, ADirectoryShowsTheTimeThatWasSet) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "q", "v");
  const auto family = tree.LookUp("default/t/r/f");
  AttributeChange change;
  change.mtime = timespec{1000, 5};
  ASSERT_TRUE(tree.filesystem->SetAttributes(tree.request, *family->node, change, nullptr).ok());
  const auto shown = tree.LookUp("default/t/r/f")->attributes;
  EXPECT_EQ(shown.st_mtim.tv_sec, 1000);
  EXPECT_EQ(shown.st_mtim.tv_nsec, 5);
}

TEST(ReadingTest, AnEmptyDeclaredFamilyIsFoundWhereTheRowHasCells) {
  Tree tree;
  tree.MakeTable("100");
  tree.Put("r", "q", "v");
  EXPECT_EQ(tree.Error("default/t/r/g"), 0);
  EXPECT_EQ(tree.List("default/t/r"), Names{"f"});
  // In a row just made none is.
  UnstoredEntry made;
  made.place = RowPlace(tree.table, "new");
  tree.filesystem->parts().tree.unstored.Add(std::make_shared<const UnstoredEntry>(made));
  EXPECT_EQ(tree.List("default/t"), (Names{".schema.toml", "new", "r"}));
  EXPECT_EQ(tree.Error("default/t/new/f"), ENOENT);
}

TEST(ReadingTest, AReaderThatWasOpenSeesTheNewestValue) {
  Tree tree;
  tree.MakeTable();
  tree.Put("r", "q", "one", 1);
  const auto entry = tree.LookUp("default/t/r/f/q");
  FileHandle* handle = tree.filesystem->Open(tree.request, *entry->node, {})->handle;
  EXPECT_EQ(handle->Read(0, 10, ReadFor::kProgram)->bytes, "one");
  tree.Put("r", "q", "two", 2);
  entry->node->ContentChanged();
  EXPECT_EQ(handle->Read(0, 10, ReadFor::kProgram)->bytes, "two");
  tree.filesystem->Release(*entry->node, handle);
}

}  // namespace
}  // namespace cellfs::fs
