// SPDX-License-Identifier: MIT
//
// OceanBase's own options of tables, as its SHOW CREATE TABLE and MariaDB's spell them.
#include "engine/obkv/table_options.h"

#include <gtest/gtest.h>

#include "engine/obkv/table_note.h"

namespace cellfs::obkv {
namespace {

TEST(TableOptions, AttributesAreFoundWhereTheyStand) {
  EXPECT_EQ(AttributesIn("CREATE TABLE `t$f` (\n  `K` varbinary(1024) NOT NULL\n) ORGANIZATION INDEX"
                         " KV_ATTRIBUTES = '{\"Hbase\": {\"MaxVersions\": 3}}'\n partition by key(K)"),
            R"({"Hbase": {"MaxVersions": 3}})");
  EXPECT_EQ(AttributesIn("CREATE TABLE `t` (`K` int) COMMENT='it''s KV_ATTRIBUTES = ''no'''"
                         " /* `KV_ATTRIBUTES`='{}' */"),
            "{}");
  EXPECT_EQ(AttributesIn("CREATE TABLE `KV_ATTRIBUTES` (`=` int) COMMENT='KV_ATTRIBUTES = '"), "");
  EXPECT_EQ(AttributesIn("CREATE TABLE t KV_ATTRIBUTES ="), "");
  EXPECT_EQ(AttributesIn("CREATE TABLE t COMMENT='without an end"), "");
}

TEST(TableOptions, AttributesSayVersionsAndTimeToLive) {
  FamilySchema family("f");
  ReadAttributes(R"({"Hbase": {"MaxVersions": 3, "TimeToLive": 60, "CreatedBy": "Admin"}})", family);
  EXPECT_EQ(family.max_versions(), 3);
  EXPECT_EQ(family.time_to_live(), 60);
  ASSERT_TRUE(family.Set("TTL", "FOREVER").ok());
  EXPECT_EQ(WriteAttributes(family, R"({"Hbase":{"TimeToLive":60,"CreatedBy":"Admin"},"More":1})"),
            R"({"Hbase":{"CreatedBy":"Admin","MaxVersions":3},"More":1})");
  ReadAttributes(R"({"Hbase": {"MaxVersions": 99999999999, "TimeToLive": -1}})", family);
  EXPECT_EQ(family.max_versions(), kAllVersions);
  EXPECT_EQ(family.time_to_live(), kForever);
  EXPECT_EQ(WriteAttributes(family, ""), "");
  for (const char* const odd : {"", "[]", "{", R"({"Hbase": 3})"}) {
    FamilySchema same("f");
    ReadAttributes(odd, same);
  }
}

}  // namespace
}  // namespace cellfs::obkv
