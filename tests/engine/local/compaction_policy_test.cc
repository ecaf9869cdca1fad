// SPDX-License-Identifier: MIT
#include "engine/local/compaction_policy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace cellfs {
namespace {

using Sizes = std::vector<uint64_t>;

// Without a minimal size, so that small numbers count as large files do.
CompactionLimits Limits() { return {.min_files = 3, .max_files = 5, .min_size = 10}; }

// "2-5": the files [2, 5); "none".
std::string Selected(const Sizes& sizes, const CompactionLimits& limits = Limits()) {
  const auto range = SelectCompaction(sizes, limits);
  if (!range) return "none";
  return std::to_string(range->begin) + "-" + std::to_string(range->end);
}

TEST(CompactionPolicyTest, TooFewFilesStay) {
  EXPECT_EQ(Selected({}), "none");
  EXPECT_EQ(Selected({50, 50}), "none");
  EXPECT_EQ(Selected({50, 50, 50}), "0-3");
}

TEST(CompactionPolicyTest, AFileMuchLargerThanTheOthersTogetherStays) {
  EXPECT_EQ(Selected({1000, 50, 40, 30}), "1-4");
  EXPECT_EQ(Selected({1000, 100, 12, 12}), "none") << "100 > 1.2 * 24";
  EXPECT_EQ(Selected({120, 50, 50}), "0-3") << "120 <= 1.2 * 100";
  EXPECT_EQ(Selected({121, 50, 50}), "none");
}

TEST(CompactionPolicyTest, MoreFilesAreBetterAndThenFewerBytes) {
  EXPECT_EQ(Selected({50, 50, 50, 50}), "0-4");
  EXPECT_EQ(Selected({50, 50, 50, 50, 50, 50}), "0-5") << "of equals the oldest";
  EXPECT_EQ(Selected({60, 50, 50, 50, 50, 50}), "1-6");
}

TEST(CompactionPolicyTest, SmallRunsNeedNotBeAlike) {
  EXPECT_EQ(Selected({7, 1, 1}), "0-3");
  EXPECT_EQ(Selected({8, 1, 1}), "none") << "10 together are no longer small";
  CompactionLimits flush_sized;
  EXPECT_EQ(Selected({1 << 20, 1 << 10, 1 << 10}, flush_sized), "0-3");
}

TEST(CompactionPolicyTest, OldFilesOverTheMaximalSizeStayAndNoRunIsLarger) {
  CompactionLimits limits = Limits();
  limits.max_size = 200;
  EXPECT_EQ(Selected({500, 300, 60, 60, 60}, limits), "2-5");
  EXPECT_EQ(Selected({60, 60, 60, 60}, limits), "0-3");
  EXPECT_EQ(Selected({100, 100, 100}, limits), "none");
}

TEST(CompactionPolicyTest, WithTooManyFilesTheSmallestRunGoesIfNoneIsAlike) {
  CompactionLimits limits = Limits();
  const Sizes thirds{6400, 2000, 600, 180, 50, 12};
  limits.blocking_files = 7;
  EXPECT_EQ(Selected(thirds, limits), "none");
  limits.blocking_files = 6;
  EXPECT_EQ(Selected(thirds, limits), "3-6");
}

TEST(CompactionPolicyTest, WithTooManyFilesTheMostFilesPerByteGo) {
  CompactionLimits limits = Limits();
  // Five of the first at 100 bytes each, or three of the last at 20.
  const Sizes sizes{100, 100, 100, 100, 100, 20, 20, 20};
  EXPECT_EQ(Selected(sizes, limits), "3-8") << "as many files for the fewest bytes";
  limits.blocking_files = 8;
  EXPECT_EQ(Selected(sizes, limits), "5-8");
}

TEST(CompactionPolicyTest, TwoFilesAreTheLeast) {
  CompactionLimits limits = Limits();
  limits.min_files = 0;
  EXPECT_EQ(Selected({50}, limits), "none");
  EXPECT_EQ(Selected({50, 50}, limits), "0-2");
}

TEST(CompactionPolicyTest, WhatIsSelectedObeysTheLimits) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    CompactionLimits limits = Limits();
    limits.max_files = 3 + random() % 8;
    limits.min_size = random() % 500;
    if (random() % 2 == 0) limits.max_size = 1000 + random() % 10000;
    Sizes sizes(random() % 20);
    for (uint64_t& size : sizes) size = random() % (uint64_t{1} << (1 + random() % 14));
    const auto range = SelectCompaction(sizes, limits);
    const bool lags_behind = sizes.size() >= limits.blocking_files;
    if (!range) {
      EXPECT_TRUE(!lags_behind || sizes.back() > limits.max_size);
      continue;
    }
    ASSERT_LE(range->end, sizes.size());
    const Sizes run(sizes.begin() + static_cast<std::ptrdiff_t>(range->begin),
                    sizes.begin() + static_cast<std::ptrdiff_t>(range->end));
    EXPECT_GE(run.size(), limits.min_files);
    EXPECT_LE(run.size(), limits.max_files);
    if (lags_behind) continue;
    const uint64_t total = std::accumulate(run.begin(), run.end(), uint64_t{0});
    EXPECT_LE(total, limits.max_size);
    if (total < limits.min_size) continue;
    for (const uint64_t size : run) {
      EXPECT_LE(static_cast<double>(size), static_cast<double>(total - size) * limits.ratio);
    }
  }
}

TEST(CompactionPolicyTest, FilesAndRewritesGrowWithTheLogarithmOfTheData) {
  std::mt19937 random(7);
  CompactionLimits limits;
  limits.min_size = 0;
  Sizes sizes;
  uint64_t written = 0;
  uint64_t flushed = 0;
  size_t most = 0;
  for (int flush = 0; flush < 20000; ++flush) {
    sizes.push_back(50 + random() % 100);
    flushed += sizes.back();
    while (const auto range = SelectCompaction(sizes, limits)) {
      const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(range->begin);
      const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(range->end);
      const uint64_t total = std::accumulate(begin, end, uint64_t{0});
      written += total;
      *begin = total;
      sizes.erase(begin + 1, end);
    }
    most = std::max(most, sizes.size());
  }
  EXPECT_LE(most, limits.blocking_files);
  EXPECT_LE(written / flushed, 15u) << "log2 of 20000";
}

constexpr Timestamp kDay = 24LL * 60 * 60 * 1000;

TEST(CompactionPolicyTest, AMajorCompactionIsDueWhenTheOldestFileIsOlderThanThePeriod) {
  const MajorSchedule exact{.period = 7 * kDay, .jitter = 0};
  EXPECT_FALSE(NeedsMajor(10 * kDay, 3 * kDay, exact, "t", "f"));
  EXPECT_TRUE(NeedsMajor(10 * kDay + 1, 3 * kDay, exact, "t", "f"));
  EXPECT_FALSE(NeedsMajor(10000 * kDay, 0, {.period = 0}, "t", "f"));
}

TEST(CompactionPolicyTest, TheJitterSpreadsTablesAndIsTheSameEachTime) {
  const auto due_after = [](const std::string& table, const std::string& family) {
    int64_t days = 0;
    while (!NeedsMajor(days * kDay / 10, 0, {}, table, family)) ++days;
    return days;  // tenths
  };
  std::set<int64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const int64_t days = due_after("t" + std::to_string(i), "f");
    EXPECT_GE(days, 35);
    EXPECT_LE(days, 106);
    EXPECT_EQ(due_after("t" + std::to_string(i), "f"), days);
    seen.insert(days);
  }
  EXPECT_GT(seen.size(), 30u);
  EXPECT_NE(due_after("ab", "c"), due_after("a", "bc"));
}

}  // namespace
}  // namespace cellfs
