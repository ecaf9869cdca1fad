// SPDX-License-Identifier: MIT
//
// Tables that mkdir makes where a table needs a family.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fs/operations/callers_store.h"
#include "fs/schema/schema_file.h"
#include "tests/fs/names.h"
#include "tests/fs/writing_tree.h"

namespace cellfs::fs {
namespace {


struct KeptTablesTest : testing::Test {
  Store& elsewhere() { return static_cast<RemoteStore&>(*tree.store).elsewhere(); }
  bool IsStored() { return elsewhere().DescribeTable(tree.table).ok(); }
  void MakeElsewhere() {
    TableSchema schema(tree.table);
    schema.families.emplace("theirs", FamilySchema("theirs"));
    ASSERT_TRUE(elsewhere().CreateTable(Caller::Superuser(), schema).ok());
  }
  mode_t ModeOf(const std::string& path) { return tree.Stat(path).st_mode & 07777; }

  WritingTree tree{{}, StoreKind::kRemote};
};

TEST_F(KeptTablesTest, OneIsInThisMountUntilItsFirstFamily) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  EXPECT_FALSE(IsStored());
  EXPECT_EQ(tree.Mkdir(kTablePath), EEXIST);
  EXPECT_EQ(tree.Error(kTablePath), 0);
  EXPECT_EQ(tree.List("default"), (std::vector<std::string>{".namespace.toml", "t"}));
  EXPECT_EQ(tree.List(kTablePath), std::vector<std::string>{});
  EXPECT_EQ(tree.ReadFile(kSchemaPath).find("[families"), std::string::npos);
  EXPECT_EQ(tree.Error("default/t/r"), ENOENT);
  EXPECT_EQ(tree.Error("default/t/.scan/start=a"), 0);
  EXPECT_EQ(tree.Mkdir("default/t/r"), 0);
  EXPECT_EQ(tree.List(kTablePath), (std::vector<std::string>{".schema.toml", "r"}));
  EXPECT_EQ(tree.Error("default/t/r/f"), ENOENT);
  EXPECT_FALSE(IsStored());

  ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
  EXPECT_TRUE(IsStored());
  ASSERT_EQ(tree.Mkdir("default/t/r/g"), 0);
  EXPECT_EQ(tree.Save("default/t/r/g/q", "x"), 0);
  tree.Remount();
  EXPECT_EQ(tree.ReadFile("default/t/r/g/q"), "x");
}

TEST_F(KeptTablesTest, AWrittenSchemaMakesIt) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Save(kSchemaPath, "open = true\n"), 0);
  EXPECT_FALSE(IsStored()) << "a copy of what it is says nothing new";
  ASSERT_EQ(tree.Save(kSchemaPath, "open = true\nsplits = [\"m\"]\n[families.f]\nVERSIONS = 3\n"),
            0);
  ASSERT_TRUE(IsStored());
  const auto schema = *elsewhere().DescribeTable(tree.table);
  EXPECT_EQ(schema->split_keys, std::vector<std::string>{"m"});
  EXPECT_EQ(schema->FindFamily("f")->max_versions(), 3);
}

TEST_F(KeptTablesTest, WhatElseWasSaidOfItGoesWithIt) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  CallersStore commands(*tree.filesystem, Credentials{});
  const Caller& caller = Caller::Superuser();
  const SpaceQuota quota{.limit = 1048576};
  ASSERT_TRUE(commands.SetTableSpaceQuota(caller, tree.table, quota).ok());
  ASSERT_TRUE(commands.DisableTable(caller, tree.table).ok());
  EXPECT_FALSE(IsStored());
  EXPECT_NE(tree.ReadFile(kSchemaPath).find("enabled = false"), std::string::npos);
  ASSERT_TRUE(commands.SplitTable(caller, tree.table, "k").ok());
  EXPECT_FALSE(commands.SplitTable(caller, tree.table, "k").ok());
  ASSERT_TRUE(commands.AddFamily(caller, tree.table, FamilySchema("f")).ok());
  EXPECT_FALSE(*elsewhere().IsTableEnabled(tree.table));
  EXPECT_EQ(*elsewhere().TableSpaceQuota(tree.table), quota);
  EXPECT_EQ((*elsewhere().DescribeTable(tree.table))->split_keys, std::vector<std::string>{"k"});
}

TEST_F(KeptTablesTest, ItHasItsMakersOwnerAndModeAndTheTableHasThem) {
  tree.request.uid = 1234;
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  EXPECT_EQ(tree.Stat(kTablePath).st_uid, 1234u);
  ASSERT_EQ(tree.Change(kTablePath, AttributeChange{.mode = 0750, .uid = 5678}), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
  ASSERT_EQ(tree.Save("default/t/r/f/q", "x"), 0);
  tree.Remount();
  EXPECT_EQ(tree.Stat(kTablePath).st_uid, 5678u);
  EXPECT_EQ(ModeOf(kTablePath), 0750u);
}

TEST_F(KeptTablesTest, ItGoes) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Rmdir(kTablePath), 0);
  EXPECT_EQ(tree.Error(kTablePath), ENOENT);
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  EXPECT_EQ(tree.Rmdir("default"), EPERM);
  ASSERT_EQ(tree.Mkdir("ns"), 0);
  ASSERT_EQ(tree.Mkdir("ns/t"), 0);
  EXPECT_EQ(tree.Rmdir("ns"), ENOTEMPTY);
  CallersStore commands(*tree.filesystem, Credentials{});
  EXPECT_FALSE(commands.DropNamespace(Caller::Superuser(), "ns").ok());
  EXPECT_TRUE(commands.DisableAndTruncateTable(Caller::Superuser(), {"ns", "t"}).ok());
  EXPECT_TRUE(commands.DisableAndDropTable(Caller::Superuser(), {"ns", "t"}).ok());
  EXPECT_EQ(tree.Rmdir("ns"), 0);
  tree.Remount();
  EXPECT_EQ(tree.Error(kTablePath), ENOENT);
}

TEST_F(KeptTablesTest, AnothersTableTakesItsPlace) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  MakeElsewhere();
  EXPECT_EQ(tree.Mkdir("default/t/r/f"), EPERM) << "it is not open to new families";
  EXPECT_EQ(tree.Mkdir("default/t/r/theirs"), 0);
  EXPECT_EQ(tree.Save("default/t/r/theirs/q", "x"), 0);
  EXPECT_EQ(tree.List("default"), (std::vector<std::string>{".namespace.toml", "t"}));
  ASSERT_TRUE(elsewhere().DisableTable(Caller::Superuser(), tree.table).ok());
  ASSERT_TRUE(elsewhere().DropTable(Caller::Superuser(), tree.table).ok());
  EXPECT_EQ(tree.Error(kTablePath), ENOENT) << "what was kept has gone";
}

TEST_F(KeptTablesTest, AnothersTableThatIsMadeAtTheSameMomentTakesItsPlace) {
  const auto make_elsewhere = [&](bool is_open) {
    static_cast<RemoteStore&>(*tree.store).BeforeNextTable([is_open, this](Store& elsewhere) {
      TableSchema schema(tree.table);
      ASSERT_TRUE(schema.Set(std::string(kOpenAttribute), is_open ? "true" : "false").ok());
      schema.families.emplace("theirs", FamilySchema("theirs"));
      ASSERT_TRUE(elsewhere.CreateTable(Caller::Superuser(), schema).ok());
    });
  };
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  make_elsewhere(/*is_open=*/true);
  EXPECT_EQ(tree.Mkdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Save("default/t/r/f/q", "x"), 0);
  EXPECT_EQ((*elsewhere().DescribeTable(tree.table))->families.size(), 2u);

  ASSERT_TRUE(elsewhere().DisableTable(Caller::Superuser(), tree.table).ok());
  ASSERT_TRUE(elsewhere().DropTable(Caller::Superuser(), tree.table).ok());
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  make_elsewhere(/*is_open=*/false);
  EXPECT_EQ(tree.Mkdir("default/t/r/f"), EPERM) << "it is not open to new families";
  EXPECT_EQ(tree.Mkdir("default/t/r/theirs"), 0);
}

// For one that nobody can see would be there for nobody.
TEST_F(KeptTablesTest, ACommandMakesNone) {
  CallersStore commands(*tree.filesystem, Credentials{});
  EXPECT_FALSE(commands.CreateTable(Caller::Superuser(), TableSchema(tree.table)).ok());
  EXPECT_EQ(tree.Error(kTablePath), ENOENT);
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  TableSchema schema(tree.table);
  schema.families.emplace("f", FamilySchema("f"));
  EXPECT_EQ(commands.CreateTable(Caller::Superuser(), schema).code(), StatusCode::kTableExists);
  EXPECT_TRUE(commands.DescribeTable(tree.table).ok());
}

TEST_F(KeptTablesTest, AFamilyThatMkdirDeclaredStays) {
  ASSERT_EQ(tree.Mkdir(kTablePath), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r"), 0);
  ASSERT_EQ(tree.Mkdir("default/t/r/f"), 0);
  EXPECT_EQ(tree.Rmdir("default/t/r/f"), 0);
  EXPECT_NE((*elsewhere().DescribeTable(tree.table))->FindFamily("f"), nullptr)
      << "another client may just write to it";
  EXPECT_EQ(tree.Rmdir("default/t/r"), 0);
  EXPECT_EQ(tree.Rmdir(kTablePath), 0);
  EXPECT_FALSE(IsStored());
}

}  // namespace
}  // namespace cellfs::fs
