// SPDX-License-Identifier: MIT
#include "engine/disk/disk_reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <vector>

#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr uint64_t kWanted = uint64_t{1} << 20;

class DiskReserveTest : public testing::Test {
 protected:
  // What the file takes of the disk.
  uint64_t Taken() const {
    struct stat found {};
    if (stat((directory_.path() + "/RESERVE").c_str(), &found) != 0) return 0;
    return static_cast<uint64_t>(found.st_blocks) * 512;
  }
  TemporaryDirectory directory_;
};

TEST_F(DiskReserveTest, TakesBlocksAndKeepsThemOverRestarts) {
  for (int i = 0; i < 2; ++i) {
    DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
    EXPECT_EQ(reserve.held(), kWanted);
    EXPECT_GE(Taken(), kWanted);
    EXPECT_TRUE(reserve.CheckRoom(1).ok());
  }
  DiskReserve smaller(PosixFiles(), directory_.path(), kWanted / 2);
  EXPECT_LT(Taken(), kWanted);
  DiskReserve none(PosixFiles(), directory_.path(), 0);
  EXPECT_EQ(Taken(), 0u);
  EXPECT_TRUE(none.CheckRoom(UINT64_MAX / 4).ok());
}

TEST_F(DiskReserveTest, MoreThanIsFreeHasNoRoom) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  EXPECT_EQ(reserve.CheckRoom(UINT64_MAX / 4).code(), StatusCode::kStoreFull);
  EXPECT_TRUE(reserve.CheckRoom(1).ok());
}

TEST_F(DiskReserveTest, ItIsSaidHowMuchIsMissingAndWhatGivesItBackInWhichOrder) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  constexpr uint64_t kBytes = UINT64_MAX / 4;
  const std::string said = reserve.CheckRoom(kBytes).message();
  const size_t lacks = said.find("lacks ");
  ASSERT_NE(lacks, said.npos) << said;
  EXPECT_LT(std::stoull(said.substr(lacks + 6)), kBytes) << said;
  EXPECT_NE(said.find("need " + std::to_string(kBytes)), said.npos) << said;
  size_t at = 0;
  for (const char* step : {"outside", "drop", "remove", ".deleted", "flush'", "compact'"}) {
    const size_t next = said.find(step, at);
    ASSERT_NE(next, said.npos) << step << " in " << said;
    at = next;
  }
}

// Two that fit alone do not count on the same bytes.
TEST_F(DiskReserveTest, WhatIsClaimedIsNotFreeForOthers) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  struct statvfs disk {};
  ASSERT_EQ(statvfs(directory_.path().c_str(), &disk), 0);
  const uint64_t most = disk.f_bavail * disk.f_frsize / 10 * 6;
  {
    DiskReserve::Claim first(reserve, most);
    EXPECT_TRUE(reserve.CheckRoom(1).ok());
    EXPECT_EQ(reserve.CheckRoom(most).code(), StatusCode::kStoreFull);
    EXPECT_LT(reserve.RoomBeside(0, false), most);
    first.Shrink(1000);  // the rest is written, as far as it is told
    EXPECT_TRUE(reserve.CheckRoom(most).ok());
    DiskReserve::Claim second(reserve, most);
    second = std::move(first);
    EXPECT_TRUE(reserve.CheckRoom(most).ok());
  }
  EXPECT_TRUE(reserve.CheckRoom(most).ok());
  reserve.Wrote(most);
  EXPECT_TRUE(reserve.CheckRoom(most).ok()) << "it was not so, and is looked up";
}

TEST_F(DiskReserveTest, GivesNothingBackWhereThereIsRoom) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  reserve.MakeRoom(1000);
  EXPECT_EQ(reserve.held(), kWanted);
  reserve.MakeRoom(UINT64_MAX / 4);
  EXPECT_EQ(reserve.held(), 0u);
  reserve.Fill();
  EXPECT_EQ(reserve.held(), kWanted);
  DiskReserve none(PosixFiles(), directory_.path(), 0);
  EXPECT_GT(none.RoomBeside(UINT64_MAX / 2, true), UINT64_MAX / 2);
}

TEST_F(DiskReserveTest, GivesBlocksToWhatMeetsAFullDiskUntilItIsDone) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  std::vector<uint64_t> held;
  const auto at_try = [&](size_t n) {
    held.clear();
    return reserve.Spend(1000, [&, n] {
      held.push_back(reserve.held());
      return held.size() < n ? Status(StatusCode::kStoreFull, "no room") : Status();
    });
  };
  EXPECT_TRUE(at_try(1).ok());
  EXPECT_EQ(held, std::vector<uint64_t>{kWanted});
  EXPECT_TRUE(at_try(3).ok());
  EXPECT_EQ(held, (std::vector<uint64_t>{kWanted, kWanted - 1000, kWanted - 3000}));
  EXPECT_EQ(reserve.held(), kWanted) << "the disk has room, so it is filled again";
  EXPECT_EQ(at_try(1000).code(), StatusCode::kStoreFull);
  EXPECT_EQ(held.back(), 0u);
  EXPECT_EQ(reserve.held(), kWanted);
  EXPECT_GE(Taken(), kWanted);
}

TEST_F(DiskReserveTest, AnotherErrorIsNoReasonToGiveAnyBack) {
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  int tries = 0;
  const auto failed = reserve.Spend(1000, [&]() -> StatusOr<int> {
    ++tries;
    return Status(StatusCode::kIoError, "no disk");
  });
  EXPECT_EQ(failed.status().code(), StatusCode::kIoError);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(reserve.held(), kWanted);
}

// Whoever made the store could have it lead anywhere.
TEST_F(DiskReserveTest, ALinkIsNotFollowed) {
  const std::string elsewhere = directory_.path() + "/elsewhere";
  ASSERT_EQ(symlink(elsewhere.c_str(), (directory_.path() + "/RESERVE").c_str()), 0);
  DiskReserve reserve(PosixFiles(), directory_.path(), kWanted);
  struct stat found {};
  EXPECT_NE(stat(elsewhere.c_str(), &found), 0);
}

}  // namespace
}  // namespace cellfs
