// SPDX-License-Identifier: MIT
#include "engine/memstore/large_writes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace cellfs {
namespace {

TEST(LargeWritesTest, TwoGoOnAtATimeAndSmallOnesPassBy) {
  LargeWrites gate;
  std::optional<LargeWrites::Turn> first(std::in_place, gate, LargeWrites::kLarge);
  EXPECT_TRUE(first->Take());
  LargeWrites::Turn second(gate, 10 * LargeWrites::kLarge);
  EXPECT_TRUE(second.Take());
  EXPECT_TRUE(second.Take()) << "it has it";
  std::atomic<bool> has_turn{false};
  std::thread third([&] {
    LargeWrites::Turn turn(gate, LargeWrites::kLarge);
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
  first.reset();
  third.join();
  EXPECT_TRUE(has_turn);
}

}  // namespace
}  // namespace cellfs
