// SPDX-License-Identifier: MIT
//
// Where owners and modes are kept: in a table that the mount is told, or nowhere.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs/operations/callers_store.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

MountOptions With(std::optional<TableName> table) {
  MountOptions options;
  options.attributes_table = std::move(table);
  return options;
}

struct AttributesTableTest : testing::Test {
  explicit AttributesTableTest(std::optional<TableName> table) : tree(With(std::move(table))) {
    tree.MakeTable();
    tree.Put("r", "q", "x", kStart - 1000);
  }
  int Set(const std::string& path, const AttributeChange& change) {
    return tree.Change(path, change);
  }
  WritingTree tree;
};

struct AttributesOffTest : AttributesTableTest {
  AttributesOffTest() : AttributesTableTest(std::nullopt) {}
};

TEST_F(AttributesOffTest, OnlyWhatIsShownMayBeSaid) {
  for (const char* path : {kQ, "default/t/r/f", "default/t/r", "default/t", "default"}) {
    const struct stat shown = tree.Stat(path);
    EXPECT_EQ(Set(path, {.mode = shown.st_mode & 07777, .uid = shown.st_uid, .gid = shown.st_gid}),
              0)
        << path;
    EXPECT_EQ(Set(path, {.mode = 0600}), EPERM) << path;
    EXPECT_EQ(Set(path, {.uid = 5}), EPERM) << path;
    EXPECT_EQ(tree.Stat(path).st_mode, shown.st_mode) << path;
  }
  EXPECT_FALSE(tree.store->DescribeNamespace("cellfs").ok()) << "nothing is stored";
}

TEST_F(AttributesOffTest, TimesAreTimestamps) {
  EXPECT_EQ(Set(kQ, {.mtime = timespec{1, 0}}), EPERM);
  timespec same = ToTimespec(kStart - 1000);
  same.tv_nsec += 999;
  EXPECT_EQ(Set(kQ, {.mtime = same}), 0);
  EXPECT_EQ(Set("default/t/r/f", {.mtime = timespec{1, 0}}), 0) << "as every copy does";
  EXPECT_NE(tree.Stat("default/t/r/f").st_mtime, 1);
  const OpenFile copy = tree.Create("default/t/r/f/copy");
  EXPECT_EQ(tree.Write(copy, "x"), 0);
  EXPECT_EQ(tree.SetTime(copy, {1000, 1}), 0);
  EXPECT_EQ(tree.Close(copy), 0);
  EXPECT_EQ(tree.Stat("default/t/r/f/copy").st_mtime, 1000);
}

TEST_F(AttributesOffTest, EverythingElseGoesOn) {
  tree.request.uid = 77;
  ASSERT_EQ(tree.Mkdir("default/new"), 0);
  ASSERT_EQ(tree.Mkdir("default/new/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/new/r/f"), 0);
  ASSERT_EQ(tree.Save("default/new/r/f/.q.tmp123", "x"), 0);
  ASSERT_EQ(tree.Rename("default/new/r/f/.q.tmp123", "default/new/r/f/q"), 0);
  EXPECT_EQ(tree.Stat("default/new/r/f/q").st_uid, 0u);
  tree.Remount(With(std::nullopt));
  EXPECT_EQ(tree.ReadFile("default/new/r/f/q"), "x");
  ASSERT_EQ(tree.Unlink("default/new/r/f/q"), 0);
  ASSERT_EQ(tree.Rmdir("default/new/r/f"), 0);
  ASSERT_EQ(tree.Rmdir("default/new/r"), 0);
  EXPECT_EQ(tree.Rmdir("default/new"), 0);
}

struct AnotherAttributesTableTest : AttributesTableTest {
  AnotherAttributesTableTest() : AttributesTableTest(kName) {}
  static inline const TableName kName{"default", "owners"};
};

TEST_F(AnotherAttributesTableTest, KeepsThemAndIsNotShown) {
  ASSERT_EQ(Set(kQ, {.mode = 0600}), 0);
  EXPECT_TRUE(tree.store->DescribeTable(kName).ok());
  EXPECT_FALSE(tree.store->DescribeNamespace("cellfs").ok());
  tree.Remount(With(kName));
  EXPECT_EQ(tree.Stat(kQ).st_mode & 07777, 0600u);
  EXPECT_EQ(tree.List("default"), (std::vector<std::string>{".namespace.toml", "t"}));
  EXPECT_EQ(tree.Error("default/owners"), ENOENT);
  CallersStore commands(*tree.filesystem, Credentials{});
  EXPECT_EQ(commands.DescribeTable(kName).status().code(), StatusCode::kTableNotFound);
  EXPECT_EQ(commands.DisableTable(Caller::Superuser(), kName).code(), StatusCode::kTableNotFound);
  EXPECT_EQ(commands.ListTables("default")->size(), 1u);
}

}  // namespace
}  // namespace cellfs::fs
