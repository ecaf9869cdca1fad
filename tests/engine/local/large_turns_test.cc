// SPDX-License-Identifier: MIT
//
// Large writes, where the disk does not follow: they wait for it, others do not.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/memstore/large_writes.h"
#include "engine/waiting.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class LargeTurnsTest : public EngineTest {
 protected:
  ~LargeTurnsTest() override { is_held_ = false; }

  RowBatch BatchOf(uint64_t bytes) {
    const Timestamp timestamp = ++timestamp_;
    return {.row = "r",
            .cells = {CellOf("q", timestamp, std::string(bytes, 'v'))},
            .withdrawn = {}};
  }
  // Ahead of the row's lock, and with it.
  bool LacksRoom(uint64_t bytes) {
    auto ahead = table_->RoomAhead(bytes);
    const bool lacks_ahead = ahead != nullptr && !ahead->Take();
    ahead.reset();
    RowBatch batch = BatchOf(bytes);
    const auto applied = table_->Apply({&batch, 1}, nullptr);
    EXPECT_TRUE(applied.ok());
    EXPECT_EQ(applied->lacks != nullptr, lacks_ahead);
    return lacks_ahead;
  }

  std::atomic<bool> is_held_{true};
  Timestamp timestamp_ = 0;
};

TEST_F(LargeTurnsTest, LargeWritesWaitAndSmallOnesDoNot) {
  Open();
  files_.SetSyncHook([this] {
    while (is_held_) std::this_thread::yield();
  });
  int large = 0;
  while (large < 100 && !LacksRoom(LargeWrites::kLarge)) ++large;
  EXPECT_LT(large, 100);
  EXPECT_FALSE(LacksRoom(LargeWrites::kLarge / 2));
  const auto room = table_->RoomAhead(LargeWrites::kLarge);
  ASSERT_NE(room, nullptr);
  is_held_ = false;
  ASSERT_OK(room->Await());
  RowBatch batch = BatchOf(LargeWrites::kLarge);
  const auto applied = table_->Apply({&batch, 1}, room.get());
  ASSERT_OK(applied);
  EXPECT_EQ(applied->lacks, nullptr);
}

// A table whose memory is full keeps nobody from writing to another.
TEST_F(LargeTurnsTest, WhoWaitsForMemoryHasNoTurn) {
  options_.background_maintenance = true;
  options_.site.memstore_flush_size = LargeWrites::kLarge;
  Open();
  auto other = engine_->CreateTable({2, TableOf({FamilyOf("f")})});
  ASSERT_OK(other);
  files_.SetSyncHook([this] {  // of the log, with which a flush begins
    while (is_held_) std::this_thread::yield();
  });
  int large = 0;
  while (large < 100 && !LacksRoom(LargeWrites::kLarge)) ++large;
  EXPECT_LT(large, 10);
  struct : WaitObserver {
    void WaitBegins(Wait wait) noexcept override { waits = waits || wait == Wait::kIsLong; }
    void WaitEnds() noexcept override {}
    std::atomic<bool> waits{false};
  } observer;
  std::thread waiting([&] {
    WaitObserver::OfThisThread() = &observer;
    EXPECT_TRUE(table_->RoomAhead(LargeWrites::kLarge)->Await().ok());
  });
  while (!observer.waits) std::this_thread::yield();
  EXPECT_TRUE((*other)->RoomAhead(LargeWrites::kLarge)->Take());
  is_held_ = false;
  waiting.join();
}

}  // namespace
}  // namespace cellfs
