// SPDX-License-Identifier: MIT
//
// What schemas of ordinary users' tables take.
#include "fs/schema/schema_shares.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "fs/requests/running_request.h"
#include "tests/fs/hooked_store.h"
#include "tests/fs/names.h"

namespace cellfs::fs {
namespace {

struct SchemaSharesTest : testing::Test {
  void SetUp() override {
    if (tree.store->traits().has_other_writers) GTEST_SKIP() << "a cluster counts for itself";
  }
  // Makes tables of 400 KB each, up to so many; how many there are then.
  int MakeTables(uid_t uid, const std::string& name, int up_to) {
    const RunningRequest running(uid, nullptr);
    tree.request.uid = uid;
    const std::string text = "note = \"" + std::string(400'000, 'n') + "\"\n[families.f]\n";
    for (int made = 0; made < up_to; ++made) {
      const std::string table = "default/" + name + std::to_string(made);
      if (tree.Mkdir(table) != 0) return made;
      if (tree.Save(table + "/.schema.toml", text) != 0) {
        EXPECT_EQ(tree.Rmdir(table), 0);
        return made;
      }
    }
    return up_to;
  }
  HookedTree tree;
};

// Changes of several tables go on at the same time.
TEST_F(SchemaSharesTest, WhatIsAboutToBeSaidCounts) {
  ASSERT_EQ(tree.Change("default", AttributeChange{.mode = 0777}), 0);
  const int most = MakeTables(kOne, "one", 100);
  const RunningRequest running(kOne, nullptr);
  tree.request.uid = kOne;
  const std::string last = "default/one" + std::to_string(most - 1);
  ASSERT_EQ(tree.Save(last + "/.schema.toml", "[families.f]\n"), 0);
  ASSERT_EQ(tree.Mkdir("default/beside"), 0);
  const std::string text = "note = \"" + std::string(400'000, 'n') + "\"\n[families.f]\n";
  int beside = 0;
  tree.hooked->before_alteration = [&] {
    beside = std::async(std::launch::async, [&] {
               const RunningRequest other(kOne, nullptr);
               return tree.Save("default/beside/.schema.toml", text);
             }).get();
  };
  EXPECT_EQ(tree.Save(last + "/.schema.toml", text), 0);
  EXPECT_EQ(beside, EDQUOT);
}

TEST_F(SchemaSharesTest, EachMayHaveAsMuchAsIsLeftThen) {
  ASSERT_EQ(tree.Change("default", AttributeChange{.mode = 0777}), 0);
  const int first = MakeTables(kOne, "one", 100);
  EXPECT_NEAR(first, 10, 1);
  EXPECT_NE(tree.ReadFile(".cellfs/errors").find("drop tables"), std::string::npos);
  EXPECT_NEAR(MakeTables(kTwo, "two", 100), 5, 1);
  EXPECT_EQ(MakeTables(0, "root", 12), 12) << "who mounted it may make more";
  const RunningRequest running(kOne, nullptr);
  tree.request.uid = kOne;
  EXPECT_EQ(tree.Save("default/one0/.schema.toml", "[families.f]\n"), 0) << "less is always taken";
}

// Else each mkdir would ask for all tables of a cluster.
TEST(SchemaSharesOfAClusterTest, AreNotCounted) {
  WritingTree tree({}, StoreKind::kRemote);
  ASSERT_EQ(tree.Change("default", AttributeChange{.mode = 0777}), 0);
  const auto asked_for = [&](const std::string& table) {
    const RunningRequest running(kOne, nullptr);
    tree.request.uid = kOne;
    const int before = static_cast<RemoteStore&>(*tree.store).descriptions();
    EXPECT_EQ(tree.Mkdir(table), 0);
    EXPECT_EQ(tree.Mkdir(table + "/r"), 0);
    EXPECT_EQ(tree.Mkdir(table + "/r/f"), 0);
    return static_cast<RemoteStore&>(*tree.store).descriptions() - before;
  };
  const int alone = asked_for("default/a");
  for (const char* table : {"b", "c", "d"}) {
    TableSchema schema(TableName{"default", table});
    schema.families["f"] = FamilySchema("f");
    ASSERT_TRUE(tree.store->CreateTable(Caller::Superuser(), schema).ok());
  }
  EXPECT_EQ(asked_for("default/e"), alone);
}

}  // namespace
}  // namespace cellfs::fs
