// SPDX-License-Identifier: MIT
#include "fs/kernel/stepping_back.h"

#include <gtest/gtest.h>

namespace cellfs::fs {
namespace {

constexpr uint32_t kAsker = 70000;

// Who asks where the last reply came from; those that step back.
int RepliesBehind(SteppingBack& stepping_back, uint16_t queue, int replies) {
  int behind = 0;
  for (int reply = 0; reply < replies; ++reply) {
    stepping_back.Asks(kAsker, queue);
    behind += stepping_back.IsDue(queue) ? 1 : 0;
  }
  return behind;
}

TEST(SteppingBackTest, NobodyDoesForWhoStaysWhereHeIs) {
  SteppingBack stepping_back(2);
  EXPECT_EQ(RepliesBehind(stepping_back, 1, 10000), 0);
}

TEST(SteppingBackTest, ThreadsDoWhereAskersAreMoved) {
  SteppingBack stepping_back(2);
  int behind = 0;
  bool was_behind = false;
  uint16_t queue = 0;
  for (int reply = 0; reply < 10000; ++reply) {
    if (!was_behind) queue ^= 1;
    stepping_back.Asks(kAsker, queue);
    was_behind = stepping_back.IsDue(queue);
    behind += was_behind ? 1 : 0;
  }
  EXPECT_GT(behind, 9800);
  EXPECT_LT(behind, 10000) << "they look again";
}

TEST(SteppingBackTest, ThreadsDoSoNoMoreOnceTheAskerStays) {
  SteppingBack stepping_back(2);
  for (uint16_t reply = 0; reply < 10; ++reply) stepping_back.Asks(kAsker, reply % 2);
  EXPECT_GT(RepliesBehind(stepping_back, 0, 100), 0);
  RepliesBehind(stepping_back, 0, 2000);
  RepliesBehind(stepping_back, 1, 2000);
  EXPECT_EQ(RepliesBehind(stepping_back, 0, 1000), 0);
  EXPECT_EQ(RepliesBehind(stepping_back, 1, 1000), 0);
}

TEST(SteppingBackTest, AMoveNowAndThenIsNone) {
  SteppingBack stepping_back(2);
  for (int times = 0; times < 100; ++times)
    EXPECT_EQ(RepliesBehind(stepping_back, static_cast<uint16_t>(times % 2), 20), 0);
}

TEST(SteppingBackTest, SeveralAskersAreNotTakenForOne) {
  SteppingBack stepping_back(2);
  for (uint16_t reply = 0; reply < 1000; ++reply) {
    stepping_back.Asks(kAsker, 0);
    stepping_back.Asks(kAsker + 64, 1);
    stepping_back.Asks(0, reply % 2);
    EXPECT_FALSE(stepping_back.IsDue(0) || stepping_back.IsDue(1));
  }
}

}  // namespace
}  // namespace cellfs::fs
