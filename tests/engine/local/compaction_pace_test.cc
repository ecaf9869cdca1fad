// SPDX-License-Identifier: MIT
#include "engine/local/compaction_pace.h"

#include <gtest/gtest.h>

namespace cellfs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kMiB = uint64_t{1} << 20;
const CompactionPace::Time kStart = CompactionPace::Time() + seconds(1000);

TEST(CompactionPaceTest, WithoutALimitNobodyPauses) {
  CompactionPace pace(0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pace.Take(100 * kMiB, 0, kStart).count(), 0);
}

TEST(CompactionPaceTest, AllTogetherWriteNoMoreThanTheRate) {
  CompactionPace pace(10 * kMiB);
  EXPECT_EQ(pace.Take(10 * kMiB, 0, kStart), seconds(0));
  EXPECT_EQ(pace.Take(5 * kMiB, 0, kStart), seconds(1));
  EXPECT_EQ(pace.Take(kMiB, 0, kStart + milliseconds(500)), seconds(1));
  EXPECT_EQ(pace.Take(kMiB, 0, kStart + seconds(10)), seconds(0)) << "idle time is not saved up";
  EXPECT_EQ(pace.Take(kMiB, 0, kStart + seconds(10)), milliseconds(100));
}

TEST(CompactionPaceTest, ItGivesWayWhileOthersRead) {
  CompactionPace pace(0);
  EXPECT_EQ(pace.Take(50 * kMiB, 1, kStart), seconds(0));
  EXPECT_EQ(pace.Take(50 * kMiB, 1, kStart), seconds(1));
  EXPECT_EQ(pace.Take(50 * kMiB, 1, kStart + CompactionPace::kReadersStay), seconds(0))
      << "nobody has read since";
  CompactionPace slow(kMiB);
  EXPECT_EQ(slow.Take(kMiB, 1, kStart), seconds(0));
  EXPECT_EQ(slow.Take(kMiB, 2, kStart), seconds(1)) << "it is the slower one that counts";
}

}  // namespace
}  // namespace cellfs
