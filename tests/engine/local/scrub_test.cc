// SPDX-License-Identifier: MIT
#include "engine/local/scrub.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/file/file_facts.h"
#include "engine/open.h"
#include "tests/support/assert_ok.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr int64_t kDay = 24LL * 60 * 60 * 1000;

// What a scrub is told by its scheduler.
bool GoesOn(std::chrono::nanoseconds) { return true; }

class ScrubTest : public testing::Test {
 protected:
  ScrubTest() {
    options_.clock = clock_;
    options_.background_maintenance = false;
    options_.scrub_interval_ms = kDay;
    options_.scrub_rate = 0;
  }
  void Open() {
    auto store = OpenLocalStore(path_, options_);
    ASSERT_OK(store);
    store_ = *std::move(store);
  }
  // A table with a file for each row, the log empty.
  void MakeFiles(int files, size_t bytes = 9000) {
    Open();
    TableSchema schema(ParseTableName("t"));
    schema.families.emplace("f", FamilySchema("f"));
    ASSERT_OK(store_->CreateTable(Caller::Superuser(), schema));
    for (int i = 0; i < files; ++i) {
      const Put put{.row = "row" + std::to_string(i),
                    .cells = {{"f", "q", 7, std::string(bytes, 'x'), std::nullopt}}};
      ASSERT_OK(store_->Mutate(Caller::Superuser(), schema.name(), RowMutations::Of(put)));
      ASSERT_OK(store_->Flush(Caller::Superuser(), schema.name()));
    }
    store_.reset();
  }
  std::unique_ptr<TableServices> Services() {
    const std::shared_ptr<FileLayer> files(&PosixFiles(), [](FileLayer*) {});
    return std::make_unique<TableServices>(path_, files, options_);
  }
  // One of the table's.
  std::string StoreFile() {
    for (const std::string& name : *PosixFiles().List(path_ + "/tables/1"))
      if (IsStoreFileName(name)) return "tables/1/" + name;
    return "none";
  }
  // Of the middle of the values.
  void Flip(const std::string& file) {
    std::fstream stream(path_ + "/" + file, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const size_t at = bytes.find(std::string(100, 'x'));
    ASSERT_NE(at, std::string::npos);
    stream.clear();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put('y');
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/store";
  const std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(SystemClock().Now());
  StoreOptions options_;
  std::unique_ptr<ControlledStore> store_;
};

TEST_F(ScrubTest, IsDueAfterTheIntervalAndReadsAll) {
  MakeFiles(2);
  const auto services = Services();
  Scrub scrub(*services, path_);
  EXPECT_TRUE(scrub.Round(GoesOn));
  EXPECT_EQ(scrub.GetStatistics().begun, 0) << "the store has just been made";
  clock_->Advance(kDay + 1000);
  EXPECT_TRUE(scrub.Round(GoesOn));
  const ScrubStatistics first = scrub.GetStatistics();
  EXPECT_EQ(first.ended, clock_->Now());
  EXPECT_GE(first.files, 3u) << "two store files and the log";
  EXPECT_GT(first.bytes, 18000u);
  EXPECT_TRUE(first.damage.empty());
  EXPECT_EQ(first.due, first.ended + kDay);
  EXPECT_EQ(first.under_way_since, 0);
  EXPECT_EQ(Scrub(*services, path_).GetStatistics().ended, first.ended) << "it is kept";
}

TEST_F(ScrubTest, WithoutAnIntervalThereIsNone) {
  MakeFiles(1);
  options_.scrub_interval_ms = 0;
  clock_->Advance(1000 * kDay);
  const auto services = Services();
  Scrub scrub(*services, path_);
  EXPECT_TRUE(scrub.Round(GoesOn));
  EXPECT_EQ(scrub.GetStatistics().ended, 0);
}

TEST_F(ScrubTest, DamageIsToldKeptAndLookedAtAgainWhenTheStoreIsOpened) {
  MakeFiles(2);
  const std::string file = StoreFile();
  Flip(file);
  clock_->Advance(2 * kDay);
  const auto services = Services();
  {
    std::vector<std::string> told;
    Scrub scrub(*services, path_);
    scrub.SetTellTable([&](TableId table, const Status& damage) {
      EXPECT_EQ(table, 1u);
      told.push_back(damage.message());
    });
    EXPECT_TRUE(scrub.Round(GoesOn));
    ASSERT_EQ(told.size(), 1u);
    const size_t named = told[0].find(path_ + "/" + file);
    EXPECT_NE(named, std::string::npos) << told[0];
    EXPECT_EQ(told[0].find(file, named + path_.size() + 2), std::string::npos) << told[0];
    ASSERT_EQ(scrub.GetStatistics().damage.size(), 1u);
    EXPECT_TRUE(scrub.Round(GoesOn)) << "not due";
    EXPECT_EQ(scrub.GetStatistics().ended, clock_->Now());
  }
  Scrub again(*services, path_);
  ASSERT_EQ(again.GetStatistics().damage.size(), 1u);
  EXPECT_EQ(again.GetStatistics().damage[0].find(file), 0u);
  EXPECT_EQ(again.GetStatistics().damage[0].find(file, 1), std::string::npos) << "it is named once";
  EXPECT_EQ(again.GetStatistics().damage[0].find("row"), std::string::npos) << "no names of rows";
  clock_->Advance(1);
  EXPECT_TRUE(again.Round(GoesOn));
  EXPECT_EQ(again.GetStatistics().ended, clock_->Now());
  std::filesystem::remove(path_ + "/" + file);  // as a compaction that could leave it out
  EXPECT_TRUE(again.GetStatistics().damage.empty());
}

TEST_F(ScrubTest, OneThatWasEndedGoesOnWhereItWas) {
  MakeFiles(4);
  Flip(StoreFile());
  clock_->Advance(2 * kDay);
  const auto services = Services();
  uint64_t bytes = 0;
  {
    Scrub scrub(*services, path_);
    const auto until_damage = [&](std::chrono::nanoseconds) {
      bytes = scrub.GetStatistics().bytes_to_read;
      return scrub.GetStatistics().damage.empty();
    };
    EXPECT_TRUE(scrub.Round(until_damage));
    EXPECT_EQ(scrub.GetStatistics().ended, 0);
    EXPECT_NE(scrub.GetStatistics().under_way_since, 0);
  }
  Scrub again(*services, path_);
  EXPECT_EQ(again.GetStatistics().damage.size(), 1u) << "what was found so far is kept";
  clock_->Advance(1000);
  EXPECT_TRUE(again.Round(GoesOn));
  const ScrubStatistics ended = again.GetStatistics();
  EXPECT_LT(ended.bytes_to_read, bytes) << "what has been read is not read again";
  EXPECT_EQ(ended.begun, clock_->Now() - 1000);
  EXPECT_EQ(ended.ended, clock_->Now());
  EXPECT_EQ(ended.damage.size(), 1u);
  EXPECT_GE(ended.files, 5u);
}

TEST_F(ScrubTest, ItEndsWithTheStoreAndWhilePaused) {
  MakeFiles(3, size_t{3} << 20);
  clock_->Advance(2 * kDay);
  options_.scrub_rate = 1;  // as good as for ever
  options_.background_maintenance = true;
  Open();
  store_->SetMaintenancePaused(true);
  store_->SetMaintenancePaused(false);
  store_.reset();
}

TEST_F(ScrubTest, ADamagedFileOfResultsIsAsNone) {
  MakeFiles(1);
  clock_->Advance(2 * kDay);
  const auto services = Services();
  EXPECT_TRUE(Scrub(*services, path_).Round(GoesOn));
  std::ofstream(path_ + "/" + kScrubFile) << "no seal";
  Scrub scrub(*services, path_);
  EXPECT_EQ(scrub.GetStatistics().ended, 0);
  EXPECT_TRUE(scrub.Round(GoesOn));
  EXPECT_EQ(ReadScrubState(PosixFiles(), path_).last.ended, clock_->Now());
}

TEST_F(ScrubTest, WhatCouldNotBeKeptIsTriedAgain) {
  MakeFiles(1);
  clock_->Advance(2 * kDay);
  const auto services = Services();
  Scrub scrub(*services, path_);
  std::filesystem::create_directory(path_ + "/SCRUB.new");  // in the way
  EXPECT_FALSE(scrub.Round(GoesOn));
  std::filesystem::remove(path_ + "/SCRUB.new");
  EXPECT_TRUE(scrub.Round(GoesOn));
  EXPECT_EQ(ReadScrubState(PosixFiles(), path_).last.ended, clock_->Now());
}

}  // namespace
}  // namespace cellfs
