// SPDX-License-Identifier: MIT
//
// A segment ends while others write: they go on in the next one, and until both are on disk a loss
// of power may take the end of the older one and leave what came behind it.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "engine/local/store_directory.h"
#include "engine/log_listing.h"
#include "tests/engine/log/wal_fixture.h"

namespace cellfs {
namespace {

// Segments of this size are ended ahead, by the background or a flush.
WalOptions RolledAhead() {
  WalOptions options;
  options.segment_bytes = uint64_t{8} << 20;
  options.roll_ahead_bytes = uint64_t{4} << 20;
  options.most_unsynced_bytes = uint64_t{3} << 20;
  options.background_sync_bytes = uint64_t{1} << 30;
  return options;
}

TEST_F(WalTest, WhoWritesMuchWaitsWhereTheDiskDoesNotFollow) {
  ASSERT_TRUE(Open(RolledAhead()).ok());
  const std::string mebibyte(size_t{1} << 20, 'v');
  SequenceId sequence = 0;
  ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  EXPECT_FALSE(wal_->IsBehind());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  EXPECT_TRUE(wal_->IsBehind());
  wal_->CatchUp();
  EXPECT_FALSE(wal_->IsBehind());
  std::atomic<bool> is_held{true};
  files_.SetSyncHook([&] {  // of the background, which fails after the last of these
    while (is_held) std::this_thread::yield();
  });
  files_.SetSyncsFail(true);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  is_held = false;
  wal_->CatchUp();  // comes back; who writes hears of it
  EXPECT_FALSE(Append(1, ++sequence).ok());
  files_.SetSyncsFail(false);
}

TEST_F(WalTest, WhoWritesMuchWaitsForASegmentThatIsDue) {
  WalOptions options = RolledAhead();
  options.most_unsynced_bytes = uint64_t{1} << 30;
  ASSERT_TRUE(Open(options).ok());
  const std::string mebibyte(size_t{1} << 20, 'v');
  SequenceId sequence = 0;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  files_.FailNth(3);  // behind the two writes of the fourth: the segment that the background makes
  ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  while (!files_.failed()) std::this_thread::yield();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Append(1, ++sequence, mebibyte).ok());
  EXPECT_TRUE(wal_->IsBehind());
  ASSERT_TRUE(Append(1, ++sequence).ok());  // nobody else waits
  EXPECT_EQ(wal_->segments(), 1u);
  wal_->CatchUp();
  EXPECT_FALSE(wal_->IsBehind());
  EXPECT_EQ(wal_->segments(), 2u);
  ASSERT_TRUE(Open(options).ok());
  EXPECT_EQ(seen_.size(), 9u);
}

class WalRollTest : public WalTest {
 protected:
  // Runs at the first of the two syncs of a roll, that of the older segment, while writers go on.
  Status RollWith(const std::function<void()>& meanwhile) {
    int syncs = 0;
    files_.SetSyncHook([&] {
      if (++syncs == 1) meanwhile();
    });
    const Status rolled = wal_->Roll();
    files_.SetSyncHook({});
    return rolled;
  }

  // Two segments with records 1 to 3 and 4 to 5, of which nothing behind the first is on disk; the
  // bytes are those of that moment.
  void FillTwoSegments(const WalOptions& options = {}) {
    ASSERT_TRUE(Open(options).ok());
    AppendAll(1, 1);
    ASSERT_TRUE(wal_->Sync().ok());
    synced_ = wal_->end();
    AppendAll(2, 3);
    ASSERT_TRUE(RollWith([&] {
                  AppendAll(4, 5);
                  first_ = Read(1);
                  second_ = Read(2);
                }).ok());
    first_when_rolled_ = Read(1);
    second_when_rolled_ = Read(2);
    wal_.reset();
  }
  void Overwrite(const std::string& first, const std::string& second) {
    WalTest::Overwrite(1, first);
    WalTest::Overwrite(2, second);
  }

  LogPosition synced_ = 0;
  std::string first_, second_;                        // before the first of them is synced
  std::string first_when_rolled_, second_when_rolled_;  // after both are
};

TEST_F(WalRollTest, WhoAsksForNoSyncDoesNotWaitForThatOfTheOlderSegment) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  std::promise<void> begun;
  std::promise<void> released;
  std::shared_future<void> is_released = released.get_future();
  std::atomic<int> syncs{0};
  files_.SetSyncHook([&] {
    if (++syncs == 1) begun.set_value();
    is_released.wait();
  });
  auto rolled = std::async(std::launch::async, [&] { return wal_->Roll(); });
  begun.get_future().wait();
  auto appended = std::async(std::launch::async, [&] { return Append(1, 2); });
  const bool is_appended = appended.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  EXPECT_TRUE(is_appended);
  auto synced = std::async(std::launch::async, [&] { return wal_->Sync(); });
  if (is_appended) {
    EXPECT_EQ(wal_->segments(), 2u);
    EXPECT_LT(wal_->synced(), wal_->end());
    EXPECT_EQ(synced.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  }
  released.set_value();
  EXPECT_TRUE(rolled.get().ok());
  EXPECT_TRUE(appended.get().ok());
  EXPECT_TRUE(synced.get().ok());
  files_.SetSyncHook({});
  EXPECT_EQ(wal_->synced(), wal_->end());
}

TEST_F(WalRollTest, ATornEndBeforeWhatWasNotSyncedIsCutOffWithIt) {
  FillTwoSegments();
  const std::string unbegun(second_.size(), '\0');
  std::string without_header = second_;
  without_header.replace(0, kSegmentHeaderSize, kSegmentHeaderSize, '\0');
  for (size_t size = synced_; size < first_.size(); ++size) {
    std::string zeros = first_;
    zeros.replace(size, zeros.size() - size, zeros.size() - size, '\0');
    for (const std::string& first : {first_.substr(0, size), zeros}) {
      for (const std::string& second : {second_, without_header, second_.substr(0, 100), unbegun}) {
        SCOPED_TRACE(std::to_string(size) + " " + std::to_string(second.size()));
        std::filesystem::remove_all(directory());
        std::filesystem::create_directory(directory());
        Overwrite(first, second);
        ExpectNoDamage();
        const bool has_second = size >= synced_ + (first_.size() - synced_) / 2;
        EXPECT_EQ(Sequences(), has_second ? (Ids{1, 2}) : (Ids{1}));
        EXPECT_EQ(wal_->segments(), 1u);
        EXPECT_FALSE(std::filesystem::exists(PathOf(2)));
        AppendAll(10, 10);
        ASSERT_TRUE(wal_->Roll().ok());
        AppendAll(11, 11);
        ASSERT_TRUE(Open().ok());
        EXPECT_EQ(seen_.size(), has_second ? 4u : 3u);
      }
    }
  }
}

TEST_F(WalRollTest, WholeRecordsBehindATornEndAreKeptAndTold) {
  FillTwoSegments();
  Overwrite(first_.substr(0, first_.size() - 1), second_);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  EXPECT_EQ(wal_->CutOff().size(), 2u);
  EXPECT_EQ(*PosixFiles().Read(PathOf(2) + ".cut-0"), second_);
  // Likewise of a segment whose header alone is not there.
  std::filesystem::remove_all(directory());
  std::filesystem::create_directory(directory());
  std::string second = second_;
  second.replace(0, kSegmentHeaderSize, kSegmentHeaderSize, '\0');
  Overwrite(first_, second);
  ExpectNoDamage();
  EXPECT_EQ(Sequences(), (Ids{1, 2, 3}));
  EXPECT_EQ(wal_->CutOff().size(), 1u);
  EXPECT_EQ(*PosixFiles().Read(PathOf(2) + ".cut-0"), second);
}

TEST_F(WalRollTest, WhoOnlyReadsIsToldAndChangesNothing) {
  FillTwoSegments();
  const std::string first = first_.substr(0, first_.size() - 1);
  Overwrite(first, second_);
  seen_.clear();
  const auto wal = Wal::Open(UnchangedFiles(), directory(), {.store_id = kStoreId}, Recorder());
  ASSERT_TRUE(wal.ok()) << wal.status().ToString();
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  ASSERT_EQ((*wal)->CutOff().size(), 2u);
  EXPECT_NE((*wal)->CutOff()[0].find("a record is broken"), std::string::npos);
  EXPECT_NE((*wal)->CutOff()[1].find("2 records stand in it"), std::string::npos);
  EXPECT_EQ(Read(1), first);
  EXPECT_EQ(Read(2), second_);
}

// Once the older segment is on disk, the newer one says so, before anything in it counts as synced.
TEST_F(WalRollTest, ATornEndBeforeWhatMayHaveBeenSyncedIsCorruption) {
  FillTwoSegments();
  const size_t end = first_.size();
  for (const std::string& second : {second_when_rolled_, second_when_rolled_ + "torn"}) {
    for (size_t size = synced_; size < end; ++size) {
      SCOPED_TRACE(size);
      std::string zeros = first_;
      zeros.replace(size, end - size, end - size, '\0');
      for (const std::string& first : {first_.substr(0, size), zeros}) {
        Overwrite(first, second);
        ExpectDamage();
        EXPECT_EQ(Read(1), first) << "the evidence stays";
        EXPECT_EQ(Read(2), second);
      }
    }
  }
  // And what says that the next segment is on disk, with it.
  Overwrite(first_when_rolled_, "");
  ExpectDamage();
}

TEST_F(WalRollTest, TheListingTellsWhatCountsAsNotBegun) {
  WalOptions options;
  {
    const auto store = StoreDirectory::Open(PosixFiles(), temporary_.path());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    options.store_id = (*store)->id();
  }
  FillTwoSegments(options);
  std::string listed;
  const TakeLogEntry take = [&](const LogEntry& entry) {
    if (entry.kind == LogEntry::Kind::kRecord) listed += std::to_string(entry.sequence_id);
    if (entry.kind == LogEntry::Kind::kDamage) listed += " damage ";
    if (entry.kind == LogEntry::Kind::kUnfinished) listed += " unfinished ";
    return true;
  };
  ASSERT_TRUE(ListLog(temporary_.path(), std::nullopt, take).ok());
  EXPECT_EQ(listed, "12345");
  Overwrite(first_.substr(0, first_.size() - 1), second_);
  listed.clear();
  ASSERT_TRUE(ListLog(temporary_.path(), std::nullopt, take).ok());
  EXPECT_EQ(listed, "12 unfinished  unfinished 45");
  ASSERT_TRUE(Open(options).ok());
  ASSERT_TRUE(wal_->Roll().ok());  // a segment has that number again
  listed.clear();
  ASSERT_TRUE(ListCutOffLog(temporary_.path(), SegmentName(2) + ".cut-0", take).ok());
  EXPECT_EQ(listed, "45");
}

TEST_F(WalRollTest, AHeaderThatWasSyncedIsNotTakenForOneThatNeverWas) {
  FillTwoSegments();
  wal_.reset();
  Overwrite(first_when_rolled_.substr(0, first_.size()), second_when_rolled_);
  ASSERT_TRUE(Open().ok());
  AppendAll(6, 6);
  wal_.reset();
  std::string second = Read(2);
  second.replace(0, kSegmentHeaderSize, kSegmentHeaderSize, '\0');
  WalTest::Overwrite(2, second);
  ExpectDamage();
  WalTest::Overwrite(1, first_.substr(0, first_.size() - 1));
  ExpectDamage();
}

TEST_F(WalRollTest, AProcessThatDiesWhileASegmentEndsLeavesItToTheNextToSyncIt) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  ASSERT_TRUE(RollWith([&] {
                AppendAll(2, 2);
                files_.SetSyncsFail(true);
              }).code() == StatusCode::kIoError);
  wal_.reset();
  files_.SetSyncsFail(false);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  ASSERT_TRUE(wal_->MakeDurable(*Append(1, 3), Durability::kFsyncWal).ok());
  wal_.reset();
  files_.LosePower();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2, 3}));
}

TEST_F(WalRollTest, NoSegmentGoesBeforeTheNextOneIsOnDisk) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  std::thread dropping;
  bool was_there = false;
  int syncs = 0;
  files_.SetSyncHook([&] {
    if (++syncs == 1) {
      dropping = std::thread([&] { wal_->DropTable(1); });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } else {
      was_there = std::filesystem::exists(PathOf(1));
    }
  });
  ASSERT_TRUE(wal_->Roll().ok());
  dropping.join();
  files_.SetSyncHook({});
  EXPECT_TRUE(was_there);
  EXPECT_EQ(wal_->segments(), 1u);
  wal_.reset();
  files_.LosePower();
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(seen_.empty());
}

}  // namespace
}  // namespace cellfs
