// SPDX-License-Identifier: MIT
#include "fs/requests/request_counts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

namespace cellfs::fs {
namespace {

using std::chrono::hours;

uint64_t CountOf(const RequestCounts& counts, RequestKind kind) {
  return counts.Figures()[static_cast<size_t>(kind)].Count();
}

class RequestCountsTest : public ::testing::Test {
 protected:
  void SetUp() override { counts_->Start(); }
  const std::unique_ptr<RequestCounts> counts_ = std::make_unique<RequestCounts>();
};

TEST_F(RequestCountsTest, CountsEachKindFromAllThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i)
    threads.emplace_back([this] {
      RequestCounts::Set& set = counts_->SetForThread();
      for (int n = 0; n < 1000; ++n) counts_->End(set, RequestKind::kRead, RequestCounts::Begin());
      counts_->End(set, RequestKind::kWrite, RequestCounts::Begin());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CountOf(*counts_, RequestKind::kRead), 20'000u);
  EXPECT_EQ(CountOf(*counts_, RequestKind::kWrite), 20u);
  EXPECT_EQ(CountOf(*counts_, RequestKind::kLookup), 0u);
}

TEST_F(RequestCountsTest, WhatTookLongIsInABucketOfItsLength) {
  const uint64_t begin = counts_->Begin();
  const auto system_begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  counts_->End(counts_->SetForThread(), RequestKind::kFsync, begin);
  const auto took = std::chrono::steady_clock::now() - system_begin;
  const RequestFigures figures =
      counts_->Figures()[static_cast<size_t>(RequestKind::kFsync)];
  EXPECT_EQ(figures.Count(), 1u);
  EXPECT_GE(figures.nanoseconds, 19'000'000u);
  EXPECT_LE(figures.nanoseconds, static_cast<uint64_t>(took.count()) * 11 / 10);
  EXPECT_EQ(figures.buckets[static_cast<size_t>(std::bit_width(figures.nanoseconds)) - 1], 1u);
}

TEST_F(RequestCountsTest, ATimeThatWouldBeNegativeIsNone) {
  counts_->End(counts_->SetForThread(), RequestKind::kRead, RequestCounts::Begin() + 1'000'000'000);
  const RequestFigures figures = counts_->Figures()[static_cast<size_t>(RequestKind::kRead)];
  EXPECT_EQ(figures.buckets[0], 1u);
  EXPECT_EQ(figures.Count(), 1u);
}

TEST_F(RequestCountsTest, WhoAsksIsNotedWhileSomebodyWantsToKnow) {
  EXPECT_FALSE(counts_->WantsAskers(counts_->Begin()));
  EXPECT_TRUE(counts_->AskersFor(hours(1)).empty());
  ASSERT_TRUE(counts_->WantsAskers(counts_->Begin()));
  for (int n = 0; n < 3; ++n) counts_->NoteAsker(1000, getpid());
  counts_->NoteAsker(0, 0);
  auto askers = counts_->AskersFor(hours(1));
  ASSERT_EQ(askers.size(), 2u);
  EXPECT_EQ(askers[0].process, 0);
  EXPECT_EQ(askers[0].requests, 1u);
  EXPECT_EQ(askers[1].uid, 1000u);
  EXPECT_EQ(askers[1].process, getpid());
  EXPECT_FALSE(askers[1].name.empty());
  EXPECT_EQ(askers[1].requests, 3u);
  counts_->AskersFor(std::chrono::nanoseconds(0));
  EXPECT_FALSE(counts_->WantsAskers(counts_->Begin()));
  EXPECT_TRUE(counts_->AskersFor(hours(1)).empty()) << "what was before is not told again";
}

TEST_F(RequestCountsTest, VeryManyProcessesAreToldTogether) {
  counts_->AskersFor(hours(1));
  for (pid_t n = 0; n < 3000; ++n) counts_->NoteAsker(7, 1'000'000'000 + n);
  const auto askers = counts_->AskersFor(hours(1));
  EXPECT_EQ(askers.size(), 1025u);
  EXPECT_EQ(askers.back().name, "others");
  uint64_t all = 0;
  for (const Asker& asker : askers) all += asker.requests;
  EXPECT_EQ(all, 3000u);
  counts_->NoteAsker(7, getpid());
  EXPECT_EQ(counts_->AskersFor(hours(1)).front().process, getpid()) << "others have made room";
}

}  // namespace
}  // namespace cellfs::fs
