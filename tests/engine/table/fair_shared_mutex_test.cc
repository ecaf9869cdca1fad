// SPDX-License-Identifier: MIT
#include "engine/table/fair_shared_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace cellfs {
namespace {

TEST(FairSharedMutexTest, WhoWantsItAloneComesBeforeThoseWhoComeLater) {
  FairSharedMutex mutex;
  std::shared_lock first(mutex);
  std::atomic<bool> has_it{false};
  std::thread alone([&] {
    const std::lock_guard lock(mutex);
    has_it = true;
  });
  while (mutex.try_lock_shared()) {  // until he stands in the queue
    mutex.unlock_shared();
    std::this_thread::yield();
  }
  std::thread later([&] {
    const std::shared_lock lock(mutex);
    EXPECT_TRUE(has_it);
  });
  EXPECT_FALSE(has_it);
  first.unlock();
  alone.join();
  later.join();
}

// Somebody shares it at every moment.
TEST(FairSharedMutexTest, ManyWhoShareItKeepNobodyOut) {
  FairSharedMutex mutex;
  std::atomic<bool> done{false};
  std::vector<std::thread> sharing;
  for (int i = 0; i < 4; ++i) {
    sharing.emplace_back([&] {
      while (!done) {
        const std::shared_lock lock(mutex);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  for (int i = 0; i < 20; ++i) const std::lock_guard lock(mutex);
  done = true;
  for (std::thread& thread : sharing) thread.join();
}

}  // namespace
}  // namespace cellfs
