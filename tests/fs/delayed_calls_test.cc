// SPDX-License-Identifier: MIT
#include "fs/base/delayed_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <new>
#include <vector>

namespace cellfs::fs {
namespace {

TEST(DelayedCallsTest, ACallInWhichMemoryRunsOutIsMadeAgain) {
  int tries = 0;
  std::latch made{1};
  std::latch next_made{1};
  DelayedCalls calls;
  calls.Add(1, [&] {
    if (++tries == 1) throw std::bad_alloc();
    made.count_down();
  });
  calls.Add(1, [&] { next_made.count_down(); });
  made.wait();
  next_made.wait();
  EXPECT_EQ(tries, 2);
}

TEST(DelayedCallsTest, ACallOfOneUserKeepsNobodyElsesWaiting) {
  std::latch is_let_go{1};
  std::latch of_others{2};
  std::atomic<int> later_ones = 0;
  DelayedCalls calls;
  calls.Add(1, [&] { is_let_go.wait(); });
  for (int i = 0; i < 10; ++i) calls.Add(1, [&] { ++later_ones; });
  calls.Add(2, [&] { of_others.count_down(); });
  calls.Add(3, [&] { of_others.count_down(); });
  of_others.wait();
  EXPECT_EQ(later_ones, 0);
  is_let_go.count_down();
}

TEST(DelayedCallsTest, ThoseOfOneUserComeInTheirOrder) {
  std::vector<int> made;
  std::latch all_made{100};
  DelayedCalls calls;
  for (int i = 0; i < 100; ++i) {
    calls.Add(1, [&made, &all_made, i] {
      made.push_back(i);
      all_made.count_down();
    });
  }
  all_made.wait();
  EXPECT_TRUE(std::is_sorted(made.begin(), made.end()));
}

TEST(DelayedCallsTest, ManyUsersThatBlockEndWithTheirCalls) {
  std::latch is_let_go{1};
  std::atomic<int> made = 0;
  DelayedCalls calls;
  for (uid_t user = 0; user < 20; ++user) {
    calls.Add(user, [&] {
      is_let_go.wait();
      ++made;
    });
  }
  std::latch last{1};
  calls.Add(20, [&] { last.count_down(); });
  is_let_go.count_down();
  last.wait();
  EXPECT_GE(made, 12);  // all that had to end before
}

}  // namespace
}  // namespace cellfs::fs
