// SPDX-License-Identifier: MIT
//
// Tables that another client drops, or makes anew under the same name, while a mount knows of
// something in them that is not stored.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fs/nodes/column_lock.h"
#include "fs/operations/callers_store.h"
#include "fs/store/seen_tables.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {

TableSchema SeenWith(std::vector<int64_t> regions, int64_t state) {
  TableSchema schema(kTable);
  schema.set_incarnation({.regions = std::move(regions), .state = state});
  return schema;
}

TEST(SeenTablesTest, OnlyBothStampsMakeAnother) {
  SeenTables seen;
  EXPECT_FALSE(seen.IsAnother(SeenWith({5, 6}, 1)));
  EXPECT_FALSE(seen.IsAnother(SeenWith({5, 7, 8}, 1))) << "split";
  EXPECT_FALSE(seen.IsAnother(SeenWith({5, 7, 8}, 9))) << "disabled";
  EXPECT_FALSE(seen.IsAnother(SeenWith({}, 10))) << "on its way";
  EXPECT_TRUE(seen.IsAnother(SeenWith({11}, 10)));
  EXPECT_FALSE(seen.IsAnother(SeenWith({11}, 10)));
  EXPECT_FALSE(seen.IsAnother(SeenWith({5, 7, 8}, 9))) << "an answer that comes late";
  EXPECT_FALSE(seen.IsAnother(SeenWith({11}, 10)));
}

TEST(SeenTablesTest, WhatGoesIsToldOnce) {
  SeenTables seen;
  EXPECT_FALSE(seen.IsGone(kTable));
  EXPECT_FALSE(seen.IsAnother(SeenWith({5}, 1)));
  EXPECT_TRUE(seen.IsGone(kTable));
  EXPECT_FALSE(seen.IsGone(kTable));
  EXPECT_FALSE(seen.IsAnother(SeenWith({7}, 7)));
}

TEST(SeenTablesTest, WhatThisMountMakesAnewIsTheSame) {
  SeenTables seen;
  EXPECT_FALSE(seen.IsAnother(SeenWith({5}, 1)));
  {
    const SeenTables::Making making(seen, kTable);
    EXPECT_FALSE(seen.IsGone(kTable));
    EXPECT_FALSE(seen.IsAnother(SeenWith({7}, 7)));
  }
  EXPECT_FALSE(seen.IsAnother(SeenWith({8}, 8)));
  EXPECT_TRUE(seen.IsAnother(SeenWith({9}, 9)));
}

struct TableMadeAnewTest : testing::Test {
  TableMadeAnewTest() {
    tree.MakeTable();
    tree.Put("emptied", "q", "x");
    EXPECT_EQ(tree.Unlink("default/t/emptied/f/q"), 0);
    EXPECT_EQ(tree.Mkdir("default/t/made"), 0);
    EXPECT_EQ(tree.Mkdir("default/t/made/f"), 0);
    EXPECT_EQ(tree.Unlink(kSchemaPath), 0);
    EXPECT_EQ(tree.List(kTablePath), (std::vector<std::string>{"emptied", "made"}));
  }
  Store& elsewhere() { return static_cast<RemoteStore&>(*tree.store).elsewhere(); }
  void DropElsewhere() {
    ASSERT_TRUE(elsewhere().DisableTable(Caller::Superuser(), tree.table).ok());
    ASSERT_TRUE(elsewhere().DropTable(Caller::Superuser(), tree.table).ok());
  }

  WritingTree tree{{}, StoreKind::kRemote};
};

TEST_F(TableMadeAnewTest, WhatWasEmptiedOrMadeInTheOneBeforeHasGone) {
  DropElsewhere();
  tree.MakeTable();
  EXPECT_EQ(tree.List(kTablePath), std::vector<std::string>{".schema.toml"});
  EXPECT_EQ(tree.Error("default/t/made/f"), ENOENT);
  EXPECT_TRUE(tree.filesystem->parts().tree.directory_times.All().empty());
  EXPECT_EQ(tree.Rmdir(kTablePath), 0);
}

// Who puts to an open file describes its table.
TEST_F(TableMadeAnewTest, ItMayBeSeenUnderAColumnsLock) {
  struct Nobody : KernelNotifier {
    void InvalidateInode(const Node& /*node*/) override {}
    void InvalidateAttributes(const Node& /*node*/) override {}
    void InvalidateEntry(const Node& /*directory*/, const std::string& /*name*/) override {}
  } kernel;
  Parts& parts = tree.filesystem->parts();
  parts.tree.kernel.SetNotifier(&kernel);
  const NodePtr known = tree.Directory("default/t/made");
  DropElsewhere();
  tree.MakeTable();
  {
    const auto lock =
        ColumnLock::Of(parts.tree.columns, CellPlace(tree.table, "made", "f", "q"));
    EXPECT_TRUE(parts.store.DescribeTable(tree.table).ok());
  }
  EXPECT_EQ(parts.tree.unstored.Find(RowPlace(tree.table, "made")), nullptr);
  parts.tree.kernel.SetNotifier(nullptr);
}

// A process that stands in the table looks rows up without looking at the table.
TEST_F(TableMadeAnewTest, ALookAtARowAloneSeesIt) {
  const NodePtr table = tree.Directory(kTablePath);
  DropElsewhere();
  EXPECT_EQ(tree.filesystem->LookUp(tree.request, *table, "made").error(), ENOENT);
  tree.MakeTable();
  EXPECT_EQ(tree.filesystem->LookUp(tree.request, *table, "emptied").error(), ENOENT);
}

TEST_F(TableMadeAnewTest, OneThatIsMadeHereAfterwardsIsEmpty) {
  DropElsewhere();
  EXPECT_EQ(tree.Error(kTablePath), ENOENT);
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  EXPECT_EQ(tree.List(kTablePath), std::vector<std::string>{});
  ASSERT_EQ(tree.Mkdir("default/t/a"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/b"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/a/f"), 0);
  EXPECT_EQ(tree.List(kTablePath), (std::vector<std::string>{".schema.toml", "a", "b"}))
      << "its first family makes it in the store";
}

TEST_F(TableMadeAnewTest, WhatWasSplitOrMadeAnewHereIsTheSame) {
  static_cast<RemoteStore&>(*tree.store).Restamp(tree.table, {.regions = true});
  EXPECT_EQ(tree.List(kTablePath), (std::vector<std::string>{"emptied", "made"}));
  CallersStore commands(*tree.filesystem, Credentials{});
  TableSchema split = **tree.store->DescribeTable(tree.table);
  split.split_keys = {"k"};
  ASSERT_TRUE(commands.RecreateTable(Caller::Superuser(), split).ok());
  EXPECT_EQ(tree.List(kTablePath), (std::vector<std::string>{".schema.toml", "emptied", "made"}));
}

}  // namespace
}  // namespace cellfs::fs
