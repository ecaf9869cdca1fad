// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "engine/byte_size.h"
#include "engine/options.h"

namespace cellfs {
namespace {

TEST(SiteSettingsTest, TakesTextAndGivesItBack) {
  SiteSettings site;
  EXPECT_TRUE(site.Set("hbase.hregion.keyvalue.timestamp.slop.millisecs", "1000").ok());
  EXPECT_TRUE(site.Set("hbase.column.max.version", "3").ok());
  EXPECT_TRUE(site.Set("hbase.security.authorization", "true").ok());
  EXPECT_TRUE(site.Set("hbase.hstore.compaction.ratio", "1.3").ok());
  EXPECT_EQ(site.timestamp_slop, 1000);
  EXPECT_EQ(site.default_max_versions, 3);
  EXPECT_TRUE(site.authorization);
  EXPECT_EQ(site.compaction_ratio, 1.3);

  SiteSettings copy;
  for (const auto& [key, value] : site.ToMap()) EXPECT_TRUE(copy.Set(key, value).ok()) << key;
  EXPECT_EQ(copy.ToMap(), site.ToMap());
  EXPECT_EQ(site.ToMap().size(), 14u);
}

TEST(SiteSettingsTest, SizesHaveUnits) {
  SiteSettings site;
  EXPECT_TRUE(site.Set("hbase.hregion.memstore.flush.size", "64M").ok());
  EXPECT_TRUE(site.Set("hbase.table.max.rowsize", "1.5 GB").ok());
  EXPECT_EQ(site.memstore_flush_size, int64_t{64} << 20);
  EXPECT_EQ(site.max_row_size, int64_t{3} << 29);
  EXPECT_FALSE(site.Set("hbase.hstore.time.to.purge.deletes", "5K").ok()) << "no size";
}

TEST(ByteSizeTest, IsWithUnitsOf1024) {
  for (const auto& [text, bytes] :
       {std::pair{"0", int64_t{0}}, {"1000", 1000}, {"5K", 5 << 10}, {"1.5m", 3 << 19},
        {"10G", int64_t{10} << 30}, {"10 GB", int64_t{10} << 30}, {"2TiB", int64_t{2} << 40},
        {"7B", 7}, {"9223372036854775807", std::numeric_limits<int64_t>::max()}})
    EXPECT_EQ(ParseByteSize(text), bytes) << text;
  for (const char* text : {"", "G", "-1", "1X", "1KK", "nan", "inf", "1e3", "99999999T", "1 G x",
                           "9223372036854775808", " 1", "1  G", "1 ", "1iB"})
    EXPECT_EQ(ParseByteSize(text), std::nullopt) << text;
}

TEST(SiteSettingsTest, RefusesWhatItDoesNotKnowAndNamesIt) {
  SiteSettings site;
  const std::map<std::string, std::string> before = site.ToMap();
  EXPECT_EQ(site.Set("hbase.unknown", "1").code(), StatusCode::kIllegalArgument);
  for (const char* bad : {"", "x", "3x", " 3", "0", "-1", "2147483648", "99999999999999999999"}) {
    Status status = site.Set("hbase.column.max.version", bad);
    EXPECT_EQ(status.code(), StatusCode::kIllegalArgument) << bad;
    EXPECT_NE(status.message().find("hbase.column.max.version"), std::string::npos);
  }
  for (const char* bad : {"", "x", "-1", "nan", "1.5x"})
    EXPECT_FALSE(site.Set("hbase.hstore.compaction.ratio", bad).ok()) << bad;
  EXPECT_FALSE(site.Set("hbase.security.authorization", "yes").ok());
  EXPECT_EQ(site.ToMap(), before);
}

}  // namespace
}  // namespace cellfs
