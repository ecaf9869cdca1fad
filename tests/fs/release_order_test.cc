// SPDX-License-Identifier: MIT
#include "fs/kernel/release_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace cellfs::fs {
namespace {

TEST(ReleaseOrderTest, OtherFilesDoNotWait) {
  ReleaseOrder order;
  order.WaitFor(1);
  order.Begin(1);
  order.WaitFor(2);
  order.End(1);
  order.WaitFor(1);
}

TEST(ReleaseOrderTest, WhatComesAfterTwoReleasesWaitsForBoth) {
  ReleaseOrder order;
  order.Begin(1);
  order.Begin(1);
  std::atomic<int> ended{0};
  std::atomic<int> seen{-1};
  std::thread reader([&] {
    order.WaitFor(1);
    seen = ended.load();
  });
  for (int i = 0; i < 2; ++i) {
    std::this_thread::yield();
    EXPECT_EQ(seen, -1);
    ++ended;
    order.End(1);
  }
  reader.join();
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace cellfs::fs
