// SPDX-License-Identifier: MIT
#include "fs/requests/scan_slots.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cellfs::fs {
namespace {

// A thread that waits for a slot.
class Waiter {
 public:
  Waiter(ScanSlots& slots, uid_t uid) : slots_(slots), ticket_(uid) {
    slots_.Enter(ticket_);
    const int before = slots_.waiting();
    thread_ = std::thread([this] { taken_ = slots_.Take(ticket_).error(); });
    while (slots_.waiting() == before) std::this_thread::yield();
  }
  ~Waiter() {
    slots_.Cancel(ticket_);
    Join();
    slots_.Leave(ticket_);
  }

  ScanSlots::Ticket& ticket() { return ticket_; }
  int Join() {
    if (thread_.joinable()) thread_.join();
    return taken_;
  }
  void GiveBack() { slots_.GiveBack(ticket_); }

 private:
  ScanSlots& slots_;
  ScanSlots::Ticket ticket_;
  int taken_ = -1;
  std::thread thread_;
};

class ScanSlotsTest : public testing::Test {
 protected:
  ScanSlotsTest() {
    slots_.SetLimit(1);
    slots_.Enter(first_);
    EXPECT_TRUE(slots_.Take(first_).ok());
  }
  ~ScanSlotsTest() override { slots_.Leave(first_); }

  ScanSlots slots_;
  ScanSlots::Ticket first_{1};
};

TEST_F(ScanSlotsTest, ASlotGoesToWhoHasWaitedLongest) {
  Waiter a(slots_, 2), b(slots_, 2);
  slots_.GiveBack(first_);
  EXPECT_EQ(a.Join(), 0);
  EXPECT_EQ(slots_.waiting(), 1);
  a.GiveBack();
  EXPECT_EQ(b.Join(), 0);
}

TEST_F(ScanSlotsTest, AUserWhoHoldsFewerGoesFirst) {
  slots_.SetLimit(2);
  ScanSlots::Ticket second(2);
  slots_.Enter(second);
  ASSERT_TRUE(slots_.Take(second).ok());
  Waiter greedy(slots_, 1), other(slots_, 3);
  slots_.Leave(second);
  EXPECT_EQ(other.Join(), 0);
  EXPECT_EQ(slots_.waiting(), 1);
}

// A step may be a row of many values, each of which a search takes its time for.
TEST_F(ScanSlotsTest, TheLastSlotIsKeptForWhoHoldsNone) {
  slots_.SetLimit(2);
  ScanSlots::Ticket greedy(1), other(2);
  slots_.Enter(greedy);
  slots_.Enter(other);
  for (ScanSlots::Ticket* ticket : {&greedy, &other}) slots_.Cancel(*ticket);  // neither waits
  EXPECT_EQ(slots_.Take(greedy).error(), EINTR);
  EXPECT_TRUE(slots_.Take(other).ok());
  slots_.Leave(greedy);
  slots_.Leave(other);
}

TEST_F(ScanSlotsTest, WaitingEndsWithEintrOnceItIsCancelled) {
  Waiter waiter(slots_, 1);
  slots_.Cancel(waiter.ticket());
  EXPECT_EQ(waiter.Join(), EINTR);
  EXPECT_EQ(slots_.waiting(), 0);
}

TEST_F(ScanSlotsTest, CloseCancelsAll) {
  Waiter waiter(slots_, 1);
  slots_.Close();
  EXPECT_EQ(waiter.Join(), EINTR);
  EXPECT_TRUE(first_.cancelled());
  ScanSlots::Ticket late(3);
  slots_.Enter(late);
  EXPECT_TRUE(late.cancelled());
  slots_.Leave(late);
}

TEST_F(ScanSlotsTest, AUserHasSoManyInLine) {
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < ScanSlots::kMostInLineOfUser; ++i) {
    waiters.push_back(std::make_unique<Waiter>(slots_, 1));
  }
  ScanSlots::Ticket one_more(1);
  slots_.Enter(one_more);
  EXPECT_EQ(slots_.Take(one_more).error(), EBUSY);
  slots_.Leave(one_more);
  Waiter other(slots_, 2);  // is let in
}

}  // namespace
}  // namespace cellfs::fs
