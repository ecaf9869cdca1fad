// SPDX-License-Identifier: MIT
#include "engine/local/attempts.h"

#include <gtest/gtest.h>

#include <vector>

namespace cellfs {
namespace {

const Status kDamaged(StatusCode::kCorruption, "a damaged page");

// How long the next try waits.
int64_t PauseAt(const Attempts& attempts, int64_t now) {
  int64_t pause = 0;
  while (!attempts.MayTry(now + pause)) pause += 500;
  return pause;
}

TEST(AttemptsTest, AfterEachErrorTheNextTryWaitsTwiceAsLongUpToAMinute) {
  Attempts attempts;
  EXPECT_TRUE(attempts.MayTry(0));
  std::vector<int64_t> pauses;
  int64_t now = 5000;
  for (int i = 0; i < 8; ++i) {
    attempts.Ended(kDamaged, now);
    pauses.push_back(PauseAt(attempts, now));
    now += pauses.back();
  }
  EXPECT_EQ(pauses, (std::vector<int64_t>{1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000}));
  EXPECT_EQ(attempts.last().message(), "a damaged page");
}

TEST(AttemptsTest, ASuccessIsFollowedAtOnceAndForgetsThePause) {
  Attempts attempts;
  attempts.Ended(kDamaged, 0);
  attempts.Ended(kDamaged, 1000);
  attempts.Ended(Status(), 1500);
  EXPECT_TRUE(attempts.last().ok());
  EXPECT_TRUE(attempts.MayTry(1500));
  attempts.Ended(kDamaged, 2000);
  EXPECT_EQ(PauseAt(attempts, 2000), 1000);
}

}  // namespace
}  // namespace cellfs
