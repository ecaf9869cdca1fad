// SPDX-License-Identifier: MIT
#include "engine/local/write_pace.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

using std::chrono::microseconds;

constexpr uint64_t kBatch = uint64_t{64} << 10;

microseconds PauseOf(uint64_t bytes, const WriteBacklog& backlog) {
  return WritePace().Take(bytes, backlog);
}

TEST(WritePaceTest, WithoutABacklogNobodyPauses) {
  EXPECT_EQ(PauseOf(uint64_t{1} << 30, {}), microseconds(0));
  EXPECT_EQ(PauseOf(uint64_t{1} << 30, {.memory = 0.75, .files = 0}), microseconds(0));
}

TEST(WritePaceTest, TheMoreIsBehindTheLongerIsThePause) {
  microseconds before{0};
  for (const double part : {0.8, 0.85, 0.9, 0.95, 1.0}) {
    const microseconds pause = PauseOf(4 * kBatch, {.memory = part});
    EXPECT_GT(pause, before) << part;
    before = pause;
  }
  before = {};
  for (const double files : {0.1, 8.0, 16.0, 24.0}) {
    const microseconds pause = PauseOf(4 * kBatch, {.files = files});
    EXPECT_GT(pause, before) << files;
    before = pause;
  }
  EXPECT_GE(PauseOf(4 * kBatch, {.memory = 0.8, .files = 24}), before) << "the slower one counts";
}

TEST(WritePaceTest, NoBatchPausesForLong) {
  for (const double behind : {1.0, 10.0, 1000.0}) {
    EXPECT_LE(PauseOf(kBatch, {.memory = behind, .files = behind}), WritePace::kLongestPause);
    EXPECT_LE(PauseOf(uint64_t{1} << 30, {.memory = behind, .files = behind}),
              WritePace::kLongestPause);
  }
}

// A thousand puts of a hundred bytes are slowed as one batch of as many bytes is, and each of them
// by little.
TEST(WritePaceTest, ItGoesByBytesAndNotByCalls) {
  const WriteBacklog backlog{.files = 16};
  WritePace pace;
  microseconds all{0};
  for (int i = 0; i < 1000; ++i) {
    const microseconds pause = pace.Take(100, backlog);
    EXPECT_LE(pause, microseconds(2 * WritePace::kLeastPause));
    all += pause;
  }
  const microseconds at_once = PauseOf(100'000, backlog);
  EXPECT_NEAR(static_cast<double>(all.count()), static_cast<double>(at_once.count()), 2000);
}

}  // namespace
}  // namespace cellfs
