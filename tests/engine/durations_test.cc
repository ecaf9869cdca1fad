// SPDX-License-Identifier: MIT
#include "engine/durations.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace cellfs {
namespace {

using std::chrono::nanoseconds;

TEST(Durations, LieInBucketsOfTheirLength) {
  Durations durations;
  for (const int took : {0, 1, 2, 3, 4, 1023, 1024}) durations.Add(nanoseconds(took));
  const DurationFigures figures = durations.Figures();
  EXPECT_EQ(figures.Count(), 7u);
  EXPECT_EQ(figures.nanoseconds, 2057u);
  EXPECT_EQ(figures.buckets[0], 2u);
  EXPECT_EQ(figures.buckets[1], 2u);
  EXPECT_EQ(figures.buckets[2], 1u);
  EXPECT_EQ(figures.buckets[9], 1u);
  EXPECT_EQ(figures.buckets[10], 1u);
}

TEST(Durations, CountWhatAllThreadsDo) {
  Durations durations;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) durations.Add(nanoseconds(100));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(durations.Figures().Count(), 8000u);
  EXPECT_EQ(durations.Figures().nanoseconds, 800'000u);
}

TEST(Durations, AreOfWhatThrowsAsWell) {
  Durations durations;
  EXPECT_EQ(durations.Time([] { return 17; }), 17);
  EXPECT_THROW(durations.Time([]() -> int { throw std::runtime_error("broken"); }),
               std::runtime_error);
  EXPECT_EQ(durations.Figures().Count(), 2u);
}

TEST(DurationFigures, TellWithinWhatMostEnded) {
  DurationFigures figures;
  EXPECT_EQ(figures.Quantile(0.99), 0u);
  figures.buckets[10] = 98;  // 1 to 2 us
  figures.buckets[20] = 2;   // 1 to 2 ms
  EXPECT_EQ(figures.Count(), 100u);
  EXPECT_GT(figures.Quantile(0.5), 1500u);
  EXPECT_LT(figures.Quantile(0.5), 1600u);
  EXPECT_EQ(figures.Quantile(0.98), 2048u);
  EXPECT_EQ(figures.Quantile(0.99), (uint64_t{1} << 20) * 3 / 2);
}

}  // namespace
}  // namespace cellfs
