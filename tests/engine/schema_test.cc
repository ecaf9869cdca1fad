// SPDX-License-Identifier: MIT
#include "engine/schema.h"

#include <gtest/gtest.h>

#include "engine/split_keys.h"

namespace cellfs {
namespace {

using Keys = std::vector<std::string>;

TEST(SchemaTest, AFamilySaysNothingAndHasHBasesDefaults) {
  const FamilySchema family("f");
  EXPECT_TRUE(family.attributes().empty());
  EXPECT_EQ(family.Get("versions"), "1");
  EXPECT_EQ(family.Get("TTL"), "FOREVER");
  EXPECT_EQ(family.Get("BLOOMFILTER"), "ROW");
  EXPECT_EQ(family.Get("anything"), "");
}

TEST(SchemaTest, KnownAttributesAreFoundInAnyCaseAndSetTheirMembers) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("versions", "3").ok());
  ASSERT_TRUE(family.Set("Keep_Deleted_Cells", "ttl").ok());
  ASSERT_TRUE(family.Set("compression", "zstd").ok());
  ASSERT_TRUE(family.Set("index_block_encoding", "none").ok());
  ASSERT_TRUE(family.Set("BLOCKSIZE", "128K").ok());
  EXPECT_EQ(family.block_size(), 131072);
  ASSERT_TRUE(family.Set("BLOCKSIZE", "64KB").ok());
  EXPECT_EQ(family.attributes(), (Attributes{{"VERSIONS", "3"},
                                             {"KEEP_DELETED_CELLS", "TTL"},
                                             {"COMPRESSION", "ZSTD"},
                                             {"INDEX_BLOCK_ENCODING", "NONE"},
                                             {"BLOCKSIZE", "65536"}}));
  EXPECT_EQ(family.max_versions(), 3);
  EXPECT_EQ(family.keep_deleted_cells(), KeepDeletedCells::kTtl);
  EXPECT_EQ(family.compression(), Compression::kZstandard);
  EXPECT_EQ(family.block_size(), 65536);
}

TEST(SchemaTest, ACompressionThatWeLackIsKeptByNameAndCompressesNothing) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("COMPRESSION", "GZ").ok());
  EXPECT_EQ(family.Get("COMPRESSION"), "GZ");
  EXPECT_EQ(family.compression(), Compression::kNone);
}

TEST(SchemaTest, UnsetGoesBackToTheDefault) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("TTL", "60").ok());
  ASSERT_TRUE(family.Set("DELETED_TTL", "5").ok());
  family.Unset("ttl");
  family.Unset("DELETED_TTL");
  EXPECT_EQ(family.time_to_live(), kForever);
  EXPECT_EQ(family.deleted_ttl(), std::nullopt);
  EXPECT_EQ(family, FamilySchema("f"));

  TableSchema table(ParseTableName("t"));
  ASSERT_TRUE(table.Set("MEMSTORE_FLUSHSIZE", "2 MB").ok());
  EXPECT_EQ(table.memstore_flush_size(), 2 << 20);
  table.Unset("MEMSTORE_FLUSHSIZE");
  EXPECT_EQ(table.memstore_flush_size(), std::nullopt);
}

TEST(SchemaTest, TimeToLiveIsReadInAllOfHBasesForms) {
  const std::pair<const char*, int32_t> forms[] = {
      {"3600", 3600},     {"FOREVER", kForever},           {"2147483647", kForever},
      {"1 HOUR", 3600},   {"1 DAYS 2 HOURS", 93600},       {"1 DAYS 2 HOURS 3600 SECONDS", 97200},
      {"10minutes", 600}, {"86400 SECONDS (1 DAY)", 86400}};
  for (const auto& [text, seconds] : forms) {
    FamilySchema family("f");
    ASSERT_TRUE(family.Set("TTL", text).ok()) << text;
    EXPECT_EQ(family.time_to_live(), seconds) << text;
  }
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("TTL", "2147483647").ok());
  EXPECT_EQ(family.Get("TTL"), "FOREVER");
}

TEST(SchemaTest, AWrongValueIsRefusedAndNamedAndChangesNothing) {
  using Refusal = std::tuple<const char*, const char*, StatusCode>;
  constexpr auto kIllegal = StatusCode::kIllegalArgument;
  constexpr auto kDoNotRetry = StatusCode::kDoNotRetry;
  for (const auto& [attribute, value, code] :
       {Refusal{"VERSIONS", "0", kIllegal}, Refusal{"VERSIONS", "many", kIllegal},
        Refusal{"VERSIONS", "2147483648", kIllegal}, Refusal{"VERSIONS", "", kIllegal},
        Refusal{"BLOCKSIZE", "1023", kDoNotRetry}, Refusal{"BLOCKSIZE", "16777217", kDoNotRetry},
        Refusal{"TTL", "0", kDoNotRetry}, Refusal{"TTL", "-1", kDoNotRetry},
        Refusal{"TTL", "1 FORTNIGHT", kIllegal}, Refusal{"TTL", "1 2", kIllegal},
        Refusal{"TTL", "99999999999999999999", kIllegal}, Refusal{"IN_MEMORY", "yes", kIllegal},
        Refusal{"KEEP_DELETED_CELLS", "TRUE TTL", kIllegal},
        Refusal{"BLOOMFILTER", "COL", kIllegal}, Refusal{"REPLICATION_SCOPE", "2", kDoNotRetry}}) {
    FamilySchema family("fam");
    const Status status = family.Set(attribute, value);
    EXPECT_EQ(status.code(), code) << attribute << " " << value;
    EXPECT_NE(status.message().find("'fam'"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(attribute), std::string::npos) << status.message();
    EXPECT_EQ(family, FamilySchema("fam"));
  }
  TableSchema table(ParseTableName("t"));
  EXPECT_EQ(table.Set("MAX_FILESIZE", "2097151").code(), kDoNotRetry);
  EXPECT_EQ(table.Set("MEMSTORE_FLUSHSIZE", "1048575").code(), kDoNotRetry);
  EXPECT_EQ(table.Set("DURABILITY", "MAYBE").code(), kIllegal);
  EXPECT_TRUE(table.attributes().empty());
}

TEST(SchemaTest, MetadataIsKeptAsItIs) {
  TableSchema table(ParseTableName("t"));
  ASSERT_TRUE(table.Set("hbase.RSGROUP.name", "g").ok());
  ASSERT_TRUE(table.Set("My Key", std::string("\0x", 2)).ok());
  EXPECT_EQ(table.attributes(),
            (Attributes{{"hbase.rsgroup.name", "g"}, {"My Key", std::string("\0x", 2)}}));
}

TEST(SchemaTest, MinVersionsAreAtMostVersions) {
  FamilySchema family("f");
  ASSERT_TRUE(family.Set("MIN_VERSIONS", "2").ok());
  EXPECT_EQ(family.Check().code(), StatusCode::kIllegalArgument);
  ASSERT_TRUE(family.Set("VERSIONS", "2").ok());
  EXPECT_TRUE(family.Check().ok());
}

TEST(SchemaTest, HexSplitsDivideTheNumbersOfEightDigits) {
  EXPECT_EQ(*SplitKeys("hex", "", "", 4), (Keys{"40000000", "80000000", "c0000000"}));
  EXPECT_EQ(*SplitKeys("hex", "", "", 3), (Keys{"55555555", "aaaaaaaa"}));
  EXPECT_EQ(*SplitKeys("hex", "10", "1F", 2), (Keys{"18"}));
  EXPECT_EQ(*SplitKeys("hex", "", "", 1), Keys{});
}

TEST(SchemaTest, UniformSplitsDivideTheBytes) {
  const std::string zeros(7, '\0');
  EXPECT_EQ(*SplitKeys("uniform", "", "", 4),
            (Keys{"\x40" + zeros, "\x80" + zeros, "\xc0" + zeros}));
  EXPECT_EQ(*SplitKeys("uniform", "a", "c", 2), (Keys{"b"}));
  // No byte lies between: one more makes room.
  EXPECT_EQ(*SplitKeys("uniform", "a", "b", 4), (Keys{"a\x40", "a\x80", "a\xc0"}));
}

TEST(SchemaTest, SplitsThatMakeNoSenseAreRefused) {
  for (const auto& keys : {SplitKeys("round", "", "", 2), SplitKeys("hex", "", "", 0),
                           SplitKeys("hex", "g", "", 2), SplitKeys("hex", "2", "1", 2),
                           SplitKeys("hex", "1", "2", 3), SplitKeys("uniform", "b", "a", 2)}) {
    EXPECT_EQ(keys.status().code(), StatusCode::kIllegalArgument);
  }
}

}  // namespace
}  // namespace cellfs
