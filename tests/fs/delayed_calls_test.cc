// SPDX-License-Identifier: MIT
#include "fs/base/delayed_calls.h"

#include <gtest/gtest.h>

#include <latch>
#include <new>

namespace cellfs::fs {
namespace {

TEST(DelayedCallsTest, ACallInWhichMemoryRunsOutIsMadeAgain) {
  int tries = 0;
  std::latch made{1};
  std::latch next_made{1};
  DelayedCalls calls;
  calls.Add([&] {
    if (++tries == 1) throw std::bad_alloc();
    made.count_down();
  });
  calls.Add([&] { next_made.count_down(); });
  made.wait();
  next_made.wait();
  EXPECT_EQ(tries, 2);
}

}  // namespace
}  // namespace cellfs::fs
