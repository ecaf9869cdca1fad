// SPDX-License-Identifier: MIT
//
// Who waits for a compaction, and what ends one.
#include <atomic>
#include <thread>

#include "engine/giving_up.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class Asker : public GivingUp {
 public:
  bool HasGivenUp() const noexcept override { return has_given_up; }
  std::atomic<bool> has_given_up{false};
};

class CompactionTurnsTest : public EngineTest {
 protected:
  CompactionTurnsTest() {
    schema_ = TableOf({FamilyOf("f", {{"VERSIONS", "3"}}), FamilyOf("g")});
    Open();
    for (const char* const family : {"f", "g"}) {
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(Write("r" + std::to_string(i),
                          {CellOf("q", 1, std::string(3 << 20, 'x'), CellType::kPut, family)})
                        .ok());
        EXPECT_TRUE(table_->Flush().ok());
      }
    }
  }
  ~CompactionTurnsTest() override { files_.SetChangeHook({}); }
  // As the one who asks for it.
  Status CompactFor(const Asker& asker) {
    GivingUp::OfThisThread() = &asker;
    const Status done = table_->Compact(CompactionKind::kMajor);
    GivingUp::OfThisThread() = nullptr;
    return done;
  }
};

TEST_F(CompactionTurnsTest, EndsWhenNobodyWaitsForItAnyMore) {
  Asker asker;
  asker.has_given_up = true;
  EXPECT_EQ(CompactFor(asker).code(), StatusCode::kCancelled);
  EXPECT_EQ(table_->GetStatistics().error, "") << "that is no failure";
  EXPECT_EQ(StoreFileNames().size(), 4u);
  asker.has_given_up = false;
  ASSERT_OK(CompactFor(asker));
  EXPECT_EQ(StoreFileNames().size(), 2u);
}

TEST_F(CompactionTurnsTest, WhoWaitsForAnotherGivesUpToo) {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_go_on{false};
  files_.SetChangeHook([&] {  // the file is synced at its end
    has_begun = true;
    while (!may_go_on) usleep(1000);
    return false;
  });
  std::thread other([&] { EXPECT_TRUE(table_->Compact(CompactionKind::kMajor).ok()); });
  while (!has_begun) usleep(1000);
  Asker asker;
  std::thread waits([&] { EXPECT_EQ(CompactFor(asker).code(), StatusCode::kCancelled); });
  usleep(10000);
  asker.has_given_up = true;
  waits.join();
  may_go_on = true;
  other.join();
}

// Who gives up does not wait until the disk has removed it.
TEST_F(CompactionTurnsTest, ALargeFileThatIsNotFinishedIsRemovedByTheBackground) {
  options_.background_maintenance = true;
  Reopen();
  engine_->SetMaintenancePaused(true);
  for (int i = 0; i < 4; ++i)
    ASSERT_OK(PutOne("large" + std::to_string(i), 1, std::string(20 << 20, 'x')));
  ASSERT_OK(table_->Flush());
  const size_t before = StoreFileNames().size();
  const auto left = [&] {
    std::vector<std::string> names = *PosixFiles().List(table_path());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".gone"); });
    return names.size();
  };
  class StopsLate : public GivingUp {
   public:
    bool HasGivenUp() const noexcept override {
      return !std::filesystem::exists(next) ? false : std::filesystem::file_size(next) > 70 << 20;
    }
    std::string next;
  } asker;
  asker.next = table_path() + "/" + StoreFileName(ReadManifestOfTable()->next_file);
  GivingUp::OfThisThread() = &asker;
  EXPECT_EQ(table_->Compact(CompactionKind::kMajor).code(), StatusCode::kCancelled);
  GivingUp::OfThisThread() = nullptr;
  EXPECT_EQ(left(), 1u);
  EXPECT_EQ(StoreFileNames().size(), before + 1);
  Reopen();
  EXPECT_EQ(left(), 0u) << "who closes the store waits for so much";
  EXPECT_EQ(ValueOf("large3"), std::string(20 << 20, 'x'));
}

// Whoever began them: here no background does anything.
TEST_F(CompactionTurnsTest, WhatIsAskedForIsAmongTheJobsUnderWay) {
  std::atomic<bool> may_go_on{false};
  std::atomic<int> held{0};
  files_.SetChangeHook([&] {
    if (!may_go_on) ++held;
    while (!may_go_on) usleep(1000);
    return false;
  });
  ASSERT_EQ(engine_->GetStatistics().maintenance, "off");
  std::thread compacts([&] { EXPECT_TRUE(table_->Compact(CompactionKind::kMajor).ok()); });
  while (held < 1) usleep(1000);
  EXPECT_EQ(engine_->GetStatistics().maintenance, "compact " + schema_->name().ToString());
  may_go_on = true;
  compacts.join();
  EXPECT_EQ(engine_->GetStatistics().maintenance, "off");
}

class PacedCompactionTest : public CompactionTurnsTest {
 protected:
  PacedCompactionTest() {
    options_.compaction_rate = 1;  // each of the compactions would take weeks
    Reopen();
  }
};

TEST_F(PacedCompactionTest, APauseEndsWithWhoWaitsForIt) {
  Asker asker;
  std::thread waits([&] { EXPECT_EQ(CompactFor(asker).code(), StatusCode::kCancelled); });
  usleep(10000);
  asker.has_given_up = true;
  waits.join();
  EXPECT_EQ(StoreFileNames().size(), 4u);
}

TEST_F(PacedCompactionTest, AFamilyOfTooManyFilesIsNotHeldUp) {
  options_.site.blocking_store_files = 2;
  Reopen();
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(StoreFileNames().size(), 2u);
}

}  // namespace
}  // namespace cellfs
