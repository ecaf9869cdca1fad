// SPDX-License-Identifier: MIT
#include "engine/hbase/region_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cellfs::hbase {
namespace {

const TableName kTable{.name = "t"};

Region RegionOf(const std::string& start, const std::string& end, const std::string& name = "r",
                uint16_t port = 1) {
  return {.name = name,
          .table = kTable,
          .start_key = start,
          .end_key = end,
          .server = {.host = "h", .port = port}};
}

TEST(RegionCache, KnowsWhatItWasTold) {
  RegionCache cache;
  EXPECT_FALSE(cache.Find(kTable, "a"));
  cache.Remember(RegionOf("b", "d"));
  EXPECT_FALSE(cache.Find(kTable, "a"));
  EXPECT_TRUE(cache.Find(kTable, "b"));
  EXPECT_TRUE(cache.Find(kTable, "cz"));
  EXPECT_FALSE(cache.Find(kTable, "d"));
  EXPECT_FALSE(cache.Find({.name = "u"}, "b"));
}

TEST(RegionCache, ForgetsOnlyWhatIsStillSo) {
  RegionCache cache;
  const Region before = RegionOf("b", "d", "r", 1);
  cache.Remember(RegionOf("b", "d", "r", 2));  // somebody has looked it up again
  cache.Forget(before);
  EXPECT_TRUE(cache.Find(kTable, "c"));
  cache.ForgetAllAt({.host = "h", .port = 1});
  EXPECT_TRUE(cache.Find(kTable, "c"));
  cache.ForgetAllAt({.host = "h", .port = 2});
  EXPECT_FALSE(cache.Find(kTable, "c"));
}

// Against a list in which the newest region that holds a row counts, until one overlaps it.
TEST(RegionCache, AgreesWithAList) {
  std::mt19937 random(5);
  const auto key = [&](size_t n) { return n == 0 ? std::string() : std::string(1, char('a' + n)); };
  for (int round = 0; round < 300; ++round) {
    RegionCache cache;
    std::vector<Region> list;
    for (int step = 0; step < 30; ++step) {
      const size_t start = random() % 8;
      const size_t end = random() % 4 == 0 ? 0 : start + 1 + random() % 3;
      const Region region = RegionOf(key(start), key(end), std::to_string(step));
      std::erase_if(list, [&](const Region& other) {
        const bool begins_before_its_end = region.end_key.empty() || other.start_key < region.end_key;
        const bool ends_behind_its_start = other.end_key.empty() || other.end_key > region.start_key;
        return begins_before_its_end && ends_behind_its_start;
      });
      list.push_back(region);
      cache.Remember(region);
      for (size_t n = 0; n < 12; ++n) {
        const std::string row = key(n);
        const auto found = cache.Find(kTable, row);
        const auto expected =
            std::ranges::find_if(list, [&](const Region& r) { return r.Contains(row); });
        ASSERT_EQ(found.has_value(), expected != list.end());
        if (found) {
          ASSERT_EQ(found->name, expected->name);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cellfs::hbase
