// SPDX-License-Identifier: MIT
#include "engine/memstore/large_writes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace cellfs {
namespace {

TEST(LargeWritesTest, OneGoesOnAtATimeAndSmallOnesPassBy) {
  LargeWrites gate;
  LargeWrites::Turn first(gate, LargeWrites::kLarge);
  EXPECT_TRUE(first.Take());
  EXPECT_TRUE(first.Take()) << "it has it";
  std::atomic<bool> has_turn{false};
  std::thread second([&] {
    LargeWrites::Turn turn(gate, 10 * LargeWrites::kLarge);
    turn.Await();
    has_turn = true;
  });
  for (int i = 0; i < 10; ++i) {
    LargeWrites::Turn small(gate, LargeWrites::kLarge - 1);
    EXPECT_TRUE(small.Take());
    LargeWrites::Turn large(gate, LargeWrites::kLarge);
    EXPECT_FALSE(large.Take());
  }
  EXPECT_FALSE(has_turn);
  first.LetGo();
  second.join();
  EXPECT_TRUE(has_turn);
}

}  // namespace
}  // namespace cellfs
