// SPDX-License-Identifier: MIT
//
// What `cellfs compact` removes in SQL.
#include "tests/obkv/layout.h"

namespace cellfs::obkv {
namespace {

class CompactionTest : public Layout {
 protected:
  void MakeTable(const std::map<std::string, std::string>& attributes) {
    FamilySchema family("f");
    for (const auto& [name, value] : attributes) ASSERT_TRUE(family.Set(name, value).ok());
    TableSchema schema(kTable);
    schema.families.emplace("f", family);
    ASSERT_TRUE(store_->CreateTable(me_, schema).ok());
  }
  void Compact(CompactionKind kind = CompactionKind::kMajor) {
    const Status done = store_->Compact(me_, kTable, kind);
    EXPECT_TRUE(done.ok()) << done.ToString();
  }
};

TEST_F(CompactionTest, RemovesVersionsBeyondMaxVersions) {
  MakeTable({{"VERSIONS", "2"}});
  Do("INSERT INTO layout.`htable1$f` (K, Q, T, V) VALUES ('a', 'q', -4, '4'), ('a', 'q', -3, '3'),"
     " ('a', 'q', -2, '2'), ('a', 'r', -1, '1'), ('b', 'q', -1, '1')");
  Compact(CompactionKind::kMinor);
  EXPECT_EQ(Rows("f").size(), 5u);
  Compact();
  EXPECT_EQ(Rows("f"), (Texts{"a/q/-4=4", "a/q/-3=3", "a/r/-1=1", "b/q/-1=1"}));
}

TEST_F(CompactionTest, RemovesWhatIsPastItsTimeButForMinVersions) {
  MakeTable({{"VERSIONS", "9"}, {"TTL", "10"}, {"MIN_VERSIONS", "1"}});
  Do("INSERT INTO layout.`htable1$f` (K, Q, T, V) VALUES ('a', 'q', -995000, 'young'),"
     " ('a', 'q', -980000, 'old'), ('b', 'q', -980000, 'last'), ('b', 'q', -970000, 'older')");
  Compact();
  EXPECT_EQ(Rows("f"), (Texts{"a/q/-995000=young", "b/q/-980000=last"}));
}

TEST_F(CompactionTest, RemovesCellsPastTheirOwnTime) {
  MakeTheirs("f", ", TTL bigint(20)");
  Do("INSERT INTO layout.`htable1$f` VALUES ('a', 'q', -990000, 'over', 5000),"
     " ('a', 'r', -990000, 'lives', 50000), ('a', 's', -990000, 'stays', NULL)");
  Compact();
  EXPECT_EQ(Rows("f"), (Texts{"a/r/-990000=lives", "a/s/-990000=stays"}));
}

TEST_F(CompactionTest, LeavesATableWithoutBoundsAsItIs) {
  MakeTheirs("f");
  Do("INSERT INTO layout.`htable1$f` VALUES ('a', 'q', -2, ''), ('a', 'q', -1, '')");
  Compact();
  EXPECT_EQ(Rows("f").size(), 2u);
}

// More than a step takes, of one column and of many.
TEST_F(CompactionTest, GoesOnStepByStep) {
  MakeTable({{"VERSIONS", "1"}});
  constexpr int kVersions = 1500;
  for (const std::string column : {"'a', 'q'", "'z', 'q'"}) {
    std::string values;
    for (int i = 1; i <= kVersions; ++i)
      values += (i == 1 ? "(" : ", (") + column + ", -" + std::to_string(i) + ", 'v')";
    Do("INSERT INTO layout.`htable1$f` (K, Q, T, V) VALUES " + values);
  }
  std::string values;
  for (int i = 0; i < 9000; ++i)
    values += (i == 0 ? "('m', 'q" : ", ('m', 'q") + std::to_string(i) + "', -1, 'v')";
  Do("INSERT INTO layout.`htable1$f` (K, Q, T, V) VALUES " + values);
  Compact();
  const Texts rows = Rows("f");
  ASSERT_EQ(rows.size(), 9002u);
  EXPECT_EQ(rows.front(), "a/q/-1500=v");
  EXPECT_EQ(rows.back(), "z/q/-1500=v");
}

}  // namespace
}  // namespace cellfs::obkv
