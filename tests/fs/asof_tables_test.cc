// SPDX-License-Identifier: MIT
//
// Below .asof of the root and of a namespace there are the tables and schemas of that time.
#include <gtest/gtest.h>

#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

class AsofTablesTest : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;

  static std::string At(Timestamp time, const std::string& path) {
    return ".asof/" + std::to_string(time) + "/" + path;
  }
  Timestamp Later() {
    tree.clock->Advance(2000);
    return tree.clock->Now() - 1000;
  }

  WritingTree tree;
};

TEST_F(AsofTablesTest, ATableThatWasMadeSinceIsNotThere) {
  CELLFS_NEEDS(tells_past_catalog);
  ASSERT_EQ(tree.Mkdir("n"), 0);
  const Timestamp before = Later();
  tree.MakeTable();
  ASSERT_EQ(tree.Mkdir("later"), 0);
  const Timestamp now = Later();
  EXPECT_EQ(tree.List(At(before, "default")), Names{".namespace.toml"});
  EXPECT_EQ(tree.Error(At(before, "default/t")), ENOENT);
  EXPECT_EQ(tree.List("default/.asof/" + std::to_string(before)), Names{".namespace.toml"});
  EXPECT_EQ(tree.Error(At(before, "n")), 0);
  EXPECT_EQ(tree.Error(At(before, "later")), ENOENT);
  EXPECT_EQ(tree.Error(At(now, "later")), 0);
  EXPECT_EQ(tree.Error(At(now, "default/t")), 0);
  EXPECT_EQ(tree.Error(At(before, "hbase/meta")), 0) << "what the store says of itself";
  EXPECT_EQ(tree.Error("default/t/.asof/" + std::to_string(before)), 0)
      << "of its own a table shows what it has of that time";
}

TEST_F(AsofTablesTest, ARenamedTableIsThereUnderItsOldNameWithItsCells) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  tree.Put("r", "q", "one");
  ASSERT_EQ(tree.Change("default/t", AttributeChange{.mode = 0700, .uid = 1234}), 0);
  const struct stat was = tree.Stat("default/t");
  const Timestamp then = Later();
  ASSERT_EQ(tree.Mkdir("n"), 0);
  ASSERT_EQ(tree.Rename("default/t", "n/u"), 0);
  ASSERT_EQ(tree.Save("n/u/r/f/q", "two"), 0);
  tree.MakeTable();  // under the old name
  tree.Put("r", "q", "of another");
  EXPECT_EQ(tree.List(At(then, "default")), (Names{".namespace.toml", "t"}));
  EXPECT_EQ(tree.List(At(then, "default/t")), (Names{".schema.toml", "r"}));
  EXPECT_EQ(tree.List(At(then, "default/t/r/f")), Names{"q"});
  EXPECT_EQ(tree.ReadFile(At(then, "default/t/r/f/q")), "one");
  EXPECT_EQ(tree.Stat(At(then, "default/t")).st_uid, 1234u);
  EXPECT_EQ(tree.Stat(At(then, "default/t")).st_mode, was.st_mode);
  EXPECT_EQ(tree.Error(At(then, "n")), ENOENT);
  EXPECT_EQ(tree.ReadFile("n/u/.asof/" + std::to_string(then) + "/r/f/q"), "one");
  const Timestamp now = Later();
  EXPECT_EQ(tree.ReadFile(At(now, "n/u/r/f/q")), "two");
  EXPECT_EQ(tree.ReadFile(At(now, "default/t/r/f/q")), "of another");
}

TEST_F(AsofTablesTest, WhoHasItOpenGoesOnWhenItIsRenamed) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  tree.Put("r", "q", "one");
  const Timestamp then = Later();
  const std::string own = "default/t/.asof/" + std::to_string(then) + "/r/f/q";
  const OpenFile in_table = tree.Open(own, {});
  const OpenFile in_root = tree.Open(At(then, "default/t/r/f/q"), {});
  ASSERT_EQ(in_table.error + in_root.error, 0);
  ASSERT_EQ(tree.Rename("default/t", "default/u"), 0);
  EXPECT_EQ(tree.Read(in_table), "one");
  EXPECT_EQ(tree.Read(in_root), "one");
  EXPECT_EQ(tree.Close(in_table), 0);
  EXPECT_EQ(tree.Close(in_root), 0);
}

TEST_F(AsofTablesTest, WhoIsKeptFromWhereItIsNowIsKeptFromItsPast) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  tree.Put("r", "q", "one");
  ASSERT_EQ(tree.Mkdir("n"), 0);
  const Timestamp then = Later();
  ASSERT_EQ(tree.Rename("default/t", "n/t"), 0);
  EXPECT_EQ(tree.Stat(At(then, "default/t")).st_mode & 0555u, 0555u);
  MountOptions options;
  options.allow_other = true;
  tree.Remount(options);
  const auto look_up_as = [&](uid_t uid) {
    const auto table = tree.LookUp(At(then, "default/t"));
    Request request;
    request.uid = request.gid = uid;
    return tree.filesystem->LookUp(request, *table->node, "r").error();
  };
  EXPECT_EQ(look_up_as(kStranger), 0);
  ASSERT_EQ(tree.Change("n", AttributeChange{.mode = 0700}), 0);
  AttributeChange given;
  given.uid = kOwner;
  ASSERT_EQ(tree.Change("n", given), 0);
  EXPECT_EQ(tree.Stat(At(then, "default/t")).st_mode & 0555u, 0555u) << "it is that of then";
  EXPECT_EQ(look_up_as(kStranger), EACCES);
  EXPECT_EQ(look_up_as(kOwner), 0);
  // Where nobody asks, the mode says it.
  options.read_only = true;
  tree.Remount(options);
  EXPECT_EQ(tree.Stat(At(then, "default/t")).st_mode & 0555u, 0u);
}

TEST_F(AsofTablesTest, SchemasAreOfThatTime) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable("1000");
  tree.Put("r", "q", "f");
  tree.Put("r", "q", "g", kLatestTimestamp, "g");
  const Timestamp then = Later();
  const std::string was = tree.ReadFile("default/t/.schema.toml");
  TableSchema schema(tree.table);
  schema.families["f"] = FamilySchema("f");
  schema.families["later"] = FamilySchema("later");
  ASSERT_TRUE(tree.store->AlterTable(Caller::Superuser(), schema).ok());
  tree.Put("r", "q", "with an old timestamp", then - 500, "later");
  EXPECT_NE(tree.ReadFile("default/t/.schema.toml"), was);
  for (const std::string& table :
       {At(then, "default/t"), "default/t/.asof/" + std::to_string(then)}) {
    EXPECT_EQ(tree.ReadFile(table + "/.schema.toml"), was);
    EXPECT_EQ(tree.List(table + "/r"), Names{"f"}) << "g is empty, later was not there";
    EXPECT_EQ(tree.List(table + "/r/g"), Names());
    EXPECT_EQ(tree.Error(table + "/r/g/q"), ENOENT);
    EXPECT_EQ(tree.Error(table + "/r/later"), ENOENT);
  }
}

TEST_F(AsofTablesTest, OfDroppedTablesThoseAreThereThatHeldNothing) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  ASSERT_EQ(tree.Mkdir("default/empty"), 0);
  const Timestamp then = Later();
  ASSERT_EQ(tree.Rmdir("default/empty"), 0);
  EXPECT_EQ(tree.List(At(then, "default")), (Names{".namespace.toml", "empty", "t"}));
  EXPECT_EQ(tree.List(At(then, "default/empty")), Names{".schema.toml"});
  EXPECT_EQ(tree.Error(At(then, "default/empty/r")), ENOENT);
}

// Its attributes went with it: a moment that somebody looked at in time has them still.
TEST_F(AsofTablesTest, OneThatHeldNothingIsClosedOnceItsModeIsForgotten) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  for (const bool is_pinned : {true, false}) {
    ASSERT_EQ(tree.Mkdir("default/empty"), 0);
    ASSERT_EQ(tree.Change("default/empty", {.mode = 0750, .uid = 7}), 0);
    const Timestamp then = Later();
    const std::string path = At(then, "default/empty");
    if (is_pinned) {
      EXPECT_EQ(tree.Stat(path).st_mode & 0777u, 0750u);
    }
    Later();
    ASSERT_EQ(tree.Rmdir("default/empty"), 0);
    EXPECT_EQ(tree.Stat(path).st_mode & 0777u, is_pinned ? 0750u : 0700u);
    EXPECT_EQ(tree.Stat(path).st_uid, is_pinned ? 7u : tree.Stat("default").st_uid);
    Later();
  }
}

TEST_F(AsofTablesTest, WhoReadsInOneThatIsDroppedForGoodHearsOfIt) {
  CELLFS_NEEDS(tells_past_catalog);
  tree.MakeTable();
  tree.Put("r", "q", "one");
  const Timestamp then = Later();
  const auto table = tree.LookUp(At(then, "default/t"));
  const auto row = tree.LookUp(At(then, "default/t/r"));
  ASSERT_TRUE(table.ok() && row.ok());
  ASSERT_TRUE(tree.store->DisableTable(Caller::Superuser(), tree.table).ok());
  ASSERT_TRUE(tree.store->DropTable(Caller::Superuser(), tree.table).ok());
  EXPECT_EQ(tree.List(At(then, "default")), Names{".namespace.toml"});
  EXPECT_EQ(tree.Error(At(then, "default/t")), ENOENT);
  for (const NodePtr& node : {table->node, row->node}) {
    auto opened = tree.filesystem->OpenListing(tree.request, *node);
    const auto listed = tree.filesystem->List(tree.request, *opened->directory, 0,
                                              [](const DirectoryEntry&) { return true; });
    EXPECT_EQ(listed.error(), EIO);
    EXPECT_EQ(tree.filesystem->LookUp(tree.request, *node, "f").error(), EIO);
  }
}

TEST_F(AsofTablesTest, WhatIsToComeIsThePresent) {
  CELLFS_NEEDS(tells_past_catalog);
  const Timestamp later = tree.clock->Now() + 5000;
  EXPECT_EQ(tree.Error(At(later, "default/t")), ENOENT);
  tree.MakeTable();
  EXPECT_EQ(tree.Error(At(later, "default/t")), 0);
}

TEST(AsofLinkTest, NoneLeadsToItself) {
  Tree tree;
  EXPECT_EQ(tree.Error(".asof/9223372036854775807"), ENOENT);
  EXPECT_EQ(tree.Error(".asof/9223372036854775806"), 0);
}

TEST(DroppedPlaceTest, SaysThatItIsDeleted) {
  Place place = NamespacePlace("n").As(PlaceKind::kDropped);
  place.name = "t";
  EXPECT_EQ(place.ToString(), "n/.deleted/t");
  place.table.namespace_name.clear();
  EXPECT_EQ(place.ToString(), "/.deleted/t");
}

}  // namespace
}  // namespace cellfs::fs
