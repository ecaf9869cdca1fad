// SPDX-License-Identifier: MIT
//
// What a request's long scans do when nobody waits for them any more, and when they have an answer.
#include "fs/reading/row_scan.h"

#include <gtest/gtest.h>

#include "fs/requests/running_request.h"
#include "tests/fs/tree.h"

namespace cellfs::fs {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kQuery = "default/t/.scan/filter=ValueFilter(=%2C 'binary:wanted')";

class ToldLater : public Interruption {
 public:
  void Hear(const std::function<void()>* heard) override {
    heard_ = heard;
    ++times_heard;
    if (times_heard == tell_at) (*heard_)();
  }
  void StopHearing() override { heard_ = nullptr; }
  bool HasHappened() const noexcept override { return false; }

  bool is_heard() const { return heard_ != nullptr; }

  int tell_at = -1;
  int times_heard = 0;

 private:
  const std::function<void()>* heard_ = nullptr;
};

struct Listed {
  int error = 0;
  Names names;
  uint64_t offset = 0;
};

class RowScanTest : public testing::Test {
 protected:
  RowScanTest() {
    tree_.MakeTable();
    for (int row = 0; row < 300; ++row) {
      tree_.Put("r" + std::to_string(1000 + row), "q", row % 100 == 50 ? "wanted" : "v");
    }
  }

  std::unique_ptr<OpenDirectory> Open() {
    const auto entry = tree_.LookUp(kQuery);
    EXPECT_TRUE(entry.ok());
    return std::move(tree_.filesystem->OpenListing(tree_.request, *entry->node)->directory);
  }
  Listed List(OpenDirectory& directory, uint64_t offset) {
    Listed listed{.offset = offset};
    const auto end =
        tree_.filesystem->List(tree_.request, directory, offset, [&](const DirectoryEntry& entry) {
          listed.offset = entry.next_offset;
          listed.names.push_back(entry.name);
          return true;
        });
    listed.error = end.error();
    return listed;
  }

  Tree tree_;
};

TEST_F(RowScanTest, WhatNobodyWaitsForEndsWithEintr) {
  ToldLater interruption;
  interruption.tell_at = 1;
  const RunningRequest running(1, &interruption);
  const auto directory = Open();
  const Listed fixed = List(*directory, 0);
  EXPECT_EQ(fixed.error, EINTR);
  EXPECT_FALSE(interruption.is_heard());
  // What the kernel asks for next has somebody who waits.
  const Listed rest = List(*directory, fixed.offset);
  EXPECT_EQ(rest.error, 0);
  EXPECT_EQ(rest.names, (Names{"r1050", "r1150", "r1250"}));
}

TEST_F(RowScanTest, ALookUpThatNobodyWaitsForEndsWithEintr) {
  ToldLater interruption;
  interruption.tell_at = 1;
  const RunningRequest running(1, &interruption);
  EXPECT_EQ(tree_.Error(std::string(kQuery) + "/r1050"), EINTR);
  EXPECT_EQ(tree_.Error(std::string(kQuery) + "/r1050"), 0);
  EXPECT_EQ(tree_.Error(std::string(kQuery) + "/r1051"), ENOENT);
}

TEST_F(RowScanTest, AfterItsDeadlineARequestAnswersWhatItHas) {
  const auto directory = tree_.LookUp("default/t/.scan/prefix=r");
  const Snapshot<Place> place = directory->node->place();
  const auto scan = RowScan::Open(tree_.filesystem->parts().reading, Caller::Superuser(), *place,
                                  Scan());
  ASSERT_TRUE(scan.ok());
  RunningRequest running(1, nullptr);
  running.SetDeadline(RunningRequest::Clock::time_point::min());
  EXPECT_EQ((*scan)->Next(10)->size(), 10u);
  running.HasAnAnswer();
  EXPECT_EQ((*scan)->Next(10).error(), ETIMEDOUT);
  EXPECT_TRUE((*scan)->goes_on());
  RunningRequest next(1, nullptr);
  EXPECT_EQ((*(*scan)->Next(1))[0][0].row, "r1010");
}

TEST_F(RowScanTest, ALimitedQueryThatNobodyWaitsForIsLookedForAnew) {
  const std::string limited = "default/t/.scan/limit=2,filter=ValueFilter(=%2C 'binary:wanted')";
  ToldLater interruption;
  interruption.tell_at = 1;
  const RunningRequest running(1, &interruption);
  EXPECT_EQ(tree_.Error(limited + "/r1150"), EINTR);
  EXPECT_EQ(tree_.Error(limited + "/r1150"), 0);
  EXPECT_EQ(tree_.Error(limited + "/r1250"), ENOENT);
}

}  // namespace
}  // namespace cellfs::fs
