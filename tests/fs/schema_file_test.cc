// SPDX-License-Identifier: MIT
#include "fs/schema/schema_file.h"

#include <gtest/gtest.h>

#include <random>

namespace cellfs::fs {
namespace {

const TableName kWebTable{"default", "web"};

std::string RefusalOf(std::string_view text) {
  auto file = ReadTableFile(text, kWebTable);
  if (file.ok()) return "accepted";
  EXPECT_EQ(file.status().code(), StatusCode::kIllegalArgument);
  return file.status().message();
}

TEST(SchemaFileTest, ReadsATable) {
  auto file = ReadTableFile(R"(
open = true
enabled = false
READONLY = true
hbase.rsgroup.name = "fast"
team = "search"
splits = ["g", "t%00"]
[space_quota]
limit = 1000
policy = "NO_WRITES"
[families.anchor]
VERSIONS = 3
TTL = "1 DAYS"
KEEP_DELETED_CELLS = true
[families.contents]
)",
                            kWebTable);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_TRUE(IsOpen(file->schema));
  EXPECT_FALSE(file->enabled);
  EXPECT_TRUE(file->schema.read_only());
  EXPECT_EQ(file->schema.Get("hbase.rsgroup.name"), "fast");
  EXPECT_EQ(file->schema.Get("team"), "search");
  EXPECT_EQ(file->schema.split_keys, (std::vector<std::string>{"g", std::string("t\0", 2)}));
  EXPECT_EQ(file->space_quota, (SpaceQuota{1000, SpaceViolationPolicy::kNoWrites}));
  const FamilySchema* anchor = file->schema.FindFamily("anchor");
  ASSERT_NE(anchor, nullptr);
  EXPECT_EQ(anchor->max_versions(), 3);
  EXPECT_EQ(anchor->time_to_live(), 86400);
  EXPECT_EQ(anchor->keep_deleted_cells(), KeepDeletedCells::kTrue);
  EXPECT_NE(file->schema.FindFamily("contents"), nullptr);
}

TEST(SchemaFileTest, ATableIsClosedAndEnabledUnlessItSaysOtherwise) {
  auto file = ReadTableFile("[families.f]\n", kWebTable);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(IsOpen(file->schema));
  EXPECT_TRUE(file->enabled);
  EXPECT_FALSE(file->has_splits);
}

TEST(SchemaFileTest, AFamilyThatSaysDropIsNotInTheSchema) {
  auto file = ReadTableFile("[families.f]\n[families.g]\nVERSIONS = 2\ndrop = true\n", kWebTable);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->dropped, std::set<std::string>{"g"});
  EXPECT_EQ(file->schema.families.size(), 1u);
}

TEST(SchemaFileTest, SplitsByAlgorithm) {
  auto file = ReadTableFile(
      "splits = {algorithm = \"hex\", start = \"00\", end = \"ff\", regions = 4}\n[families.f]\n",
      kWebTable);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->schema.split_keys, (std::vector<std::string>{"40", "80", "c0"}));
}

TEST(SchemaFileTest, AQuotaHasUnits) {
  const auto file = ReadTableFile("[space_quota]\nlimit = \"1.5G\"\n", kWebTable);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->space_quota->limit, int64_t{3} << 29);
  EXPECT_NE(RefusalOf("[space_quota]\nlimit = \"much\"\n").find("10G"), std::string::npos);
}

TEST(SchemaFileTest, ErrorsNameLineKeyAndWhatIsAllowed) {
  std::string refusal = RefusalOf("[families.f]\n\nVERSIONS = 0\n");
  EXPECT_NE(refusal.find("line 3"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("VERSIONS"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("1 to"), std::string::npos) << refusal;
  EXPECT_EQ(RefusalOf("a = \n").substr(0, 6), "line 1");
  EXPECT_NE(RefusalOf("\nopen = 1\n").find("line 2: open: true or false"), std::string::npos);
  EXPECT_NE(RefusalOf("[familys.f]\n").find("[families.<name>]"), std::string::npos);
  EXPECT_NE(RefusalOf("splits = [\"b\", \"a\"]\n").find("ascend"), std::string::npos);
  EXPECT_NE(RefusalOf("[space_quota]\nlimit = 0\n").find("line 2: space_quota.limit"),
            std::string::npos);
  EXPECT_NE(RefusalOf("[families.\".f\"]\n").find("line 1"), std::string::npos);
  EXPECT_NE(RefusalOf("[families.f]\nVERSIONS = 2\nMIN_VERSIONS = 3\n").find("MIN_VERSIONS"),
            std::string::npos);
  EXPECT_NE(RefusalOf("[families.f]\nVERSIONS = 1.5\n").find("line 2: VERSIONS"),
            std::string::npos);
}

TEST(SchemaFileTest, WhatIsWrittenIsReadBack) {
  std::mt19937 random(5);
  auto text = [&] {
    std::string bytes;
    for (size_t i = random() % 6; i > 0; --i) bytes += "a\"\\\n 0.\x7f"[random() % 8];
    return bytes;
  };
  auto pick = [&](std::vector<std::string> from) { return from[random() % from.size()]; };
  for (int i = 0; i < 500; ++i) {
    TableFile file;
    file.schema = TableSchema(kWebTable);
    file.enabled = random() % 2;
    if (random() % 2) static_cast<void>(file.schema.Set(kOpenAttribute, "true"));
    if (random() % 2) static_cast<void>(file.schema.Set("DURABILITY", "FSYNC_WAL"));
    ASSERT_TRUE(file.schema.Set("READONLY", pick({"true", "false"})).ok());
    ASSERT_TRUE(file.schema.Set("note" + std::to_string(i) + text(), text()).ok());
    if (random() % 2) file.schema.split_keys = {std::string("\x01\xff%41\0", 6), "\xc3\xa9"};
    if (random() % 2) file.space_quota = SpaceQuota{5, SpaceViolationPolicy::kDisable};
    for (std::string name : {"f", "a b", "\xff", "10"}) {
      FamilySchema family(name);
      ASSERT_TRUE(family.Set("VERSIONS", std::to_string(1 + random() % 9)).ok());
      ASSERT_TRUE(family.Set("TTL", pick({"FOREVER", "3600"})).ok());
      ASSERT_TRUE(family.Set("KEEP_DELETED_CELLS", pick({"TRUE", "FALSE", "TTL"})).ok());
      ASSERT_TRUE(family.Set("BLOCKCACHE", pick({"true", "false"})).ok());
      ASSERT_TRUE(family.Set("x" + text(), pick({"007", "7", "true", "-1", "1e5", text()})).ok());
      file.schema.families.insert_or_assign(name, family);
    }
    std::string written = WriteTableFile(file);
    auto read = ReadTableFile(written, kWebTable);
    ASSERT_TRUE(read.ok()) << read.status().ToString() << "\n" << written;
    EXPECT_EQ(WriteTableFile(*read), written);
    EXPECT_EQ(read->schema.split_keys, file.schema.split_keys);
    EXPECT_EQ(read->schema.attributes(), file.schema.attributes());
    EXPECT_EQ(read->space_quota, file.space_quota);
    EXPECT_EQ(read->enabled, file.enabled);
    for (const auto& [name, family] : file.schema.families) {
      const FamilySchema* other = read->schema.FindFamily(name);
      ASSERT_NE(other, nullptr) << name;
      for (const auto& [attribute, value] : family.attributes()) {
        EXPECT_EQ(other->Get(attribute), value) << attribute;
      }
    }
  }
}

TEST(SchemaFileTest, NamespacesTravelWithTheirPropertiesAndQuota) {
  NamespaceFile file;
  file.schema = {"shop", {{"hbase.namespace.quota.maxtables", "5"}, {"team", "a b"}}};
  file.space_quota = SpaceQuota{1 << 20, SpaceViolationPolicy::kNoInserts};
  auto read = ReadNamespaceFile(WriteNamespaceFile(file), "shop");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->schema.properties, file.schema.properties);
  EXPECT_EQ(read->space_quota, file.space_quota);
  auto dotted = ReadNamespaceFile("hbase.namespace.quota.maxtables = 5\n", "shop");
  ASSERT_TRUE(dotted.ok());
  EXPECT_EQ(dotted->schema.properties.at("hbase.namespace.quota.maxtables"), "5");
}

}  // namespace
}  // namespace cellfs::fs
