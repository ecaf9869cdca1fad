// SPDX-License-Identifier: MIT
//
// Damages a log of several segments in every way: where it is not opened a repair mends it, it is
// opened then, and has what lay before the damage; all of it where only headers were damaged.
#include "engine/log/log_repair.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "engine/log/lost_header.h"
#include "engine/log/wal.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temporary_directory.h"

namespace cellfs {
namespace {

constexpr uint64_t kStoreId = 0x0123456789abcdef;
constexpr SequenceId kInEach = 5;
constexpr uint64_t kSegments = 3;

using Ids = std::vector<SequenceId>;

class LogRepairTest : public testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Wal> wal;
    ASSERT_TRUE(Open(&wal).ok());
    for (SequenceId sequence = 1; sequence <= kInEach * kSegments; ++sequence) {
      if (sequence != 1 && sequence % kInEach == 1) {
        ASSERT_TRUE(wal->Roll().ok());
      }
      ASSERT_TRUE(Append(*wal, sequence).ok());
    }
    wal.reset();
    for (uint64_t number = 1; number <= kSegments; ++number)
      whole_[number] = *PosixFiles().Read(PathOf(number));
  }

  Status Open(std::unique_ptr<Wal>* wal) {
    seen_.clear();
    const LogVisitor note = [this](const LogRecord& record, LogPosition) {
      seen_.push_back(record.sequence_id);
      return Status();
    };
    auto opened = Wal::Open(files_, directory(), {.store_id = kStoreId}, note);
    if (opened.ok()) *wal = *std::move(opened);
    return opened.status();
  }
  static Status Append(Wal& wal, SequenceId sequence) {
    RowBatch batch;
    batch.row = "r" + std::to_string(sequence);
    batch.cells = {{"", "f", "q", 100, CellType::kPut, 0, kNoCellTtl, std::string(100, 'v')}};
    const auto cells = CellsOf(batch, sequence);
    const LogRecord record{1, sequence, batch.row, cells};
    return wal.Append({&record, 1}).status();
  }

  std::string directory() const { return temporary_.path() + "/wal"; }
  std::string PathOf(uint64_t number) const { return directory() + "/" + SegmentName(number); }
  void MakeWhole() {
    std::filesystem::remove_all(directory());
    std::filesystem::create_directory(directory());
    for (const auto& [number, bytes] : whole_) Write(number, bytes);
  }
  void Write(uint64_t number, const std::string& bytes) {
    std::ofstream(PathOf(number), std::ios::binary | std::ios::trunc) << bytes;
  }
  LogSummary Summary() {
    const auto summary = SummarizeLog(files_, directory(), kStoreId);
    EXPECT_TRUE(summary.ok()) << summary.status().ToString();
    return summary.ok() ? *summary : LogSummary();
  }
  static Ids UpTo(SequenceId last) {
    Ids ids;
    for (SequenceId id = 1; id <= last; ++id) ids.push_back(id);
    return ids;
  }

  // What is there was damaged. Answers how many records were cut off.
  uint64_t Repair() {
    std::unique_ptr<Wal> wal;
    const Status refused = Open(&wal);
    wal.reset();
    const LogSummary summary = Summary();
    EXPECT_EQ(summary.is_whole(), refused.ok()) << refused.ToString();
    if (summary.is_whole()) return 0;
    const auto plan = RepairLog(files_, directory(), summary, RepairMode::kPlan);
    const auto done = RepairLog(files_, directory(), summary, RepairMode::kAct);
    EXPECT_TRUE(plan.ok() && done.ok()) << done.status().ToString();
    if (!plan.ok() || !done.ok()) return 0;
    EXPECT_EQ(plan->kept, done->kept);
    EXPECT_EQ(plan->records, done->records);
    EXPECT_EQ(plan->saved, done->saved);
    EXPECT_TRUE(Summary().is_whole());
    const Status opened = Open(&wal);
    EXPECT_TRUE(opened.ok()) << opened.ToString() << " after " << refused.ToString();
    if (!opened.ok()) return done->records;
    for (size_t i = 1; i < seen_.size(); ++i)
      EXPECT_EQ(seen_[i], seen_[i - 1] + 1) << "a part from the beginning";
    EXPECT_TRUE(Append(*wal, 100).ok());
    wal.reset();
    const Ids before = seen_;
    EXPECT_TRUE(Open(&wal).ok());
    EXPECT_EQ(seen_.size(), before.size() + 1);
    seen_ = before;
    return done->records;
  }

  TemporaryDirectory temporary_;
  FaultyFiles files_;
  std::map<uint64_t, std::string> whole_;
  Ids seen_;
};

TEST_F(LogRepairTest, AFlippedByteAnywhereLosesNoMoreThanItsRecord) {
  for (uint64_t number = 1; number <= kSegments; ++number) {
    for (size_t at = 0; at < whole_[number].size(); at += 3) {
      SCOPED_TRACE(SegmentName(number) + " " + std::to_string(at));
      MakeWhole();
      std::string damaged = whole_[number];
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      Write(number, damaged);
      const uint64_t cut_off = Repair();
      EXPECT_GE(seen_.size() + cut_off + 1, kInEach * kSegments);
      EXPECT_GE(seen_.size(), (number - 1) * kInEach);
      if (at < kSegmentHeaderSize) {
        EXPECT_EQ(seen_, UpTo(kInEach * kSegments)) << "the records tell what it was";
      }
      const size_t note_at_begin = kSegmentHeaderSize + kRecordHeaderSize + 9 + 16;
      if (number != 1 && at < note_at_begin) {
        EXPECT_EQ(seen_, UpTo(kInEach * kSegments)) << "it lies between two records";
      }
      const size_t note_at_end = kRecordHeaderSize + 9;  // that another segment follows
      if (number != kSegments && at >= whole_[number].size() - note_at_end) {
        EXPECT_EQ(seen_, UpTo(kInEach * kSegments)) << "the next begins where the records end";
      }
    }
  }
}

TEST_F(LogRepairTest, AHeaderOfWhichNothingIsLeftIsToldByTheRecords) {
  for (uint64_t first = 1; first <= kSegments; ++first) {
    for (const size_t size : {kSegmentHeaderSize, kSegmentHeaderSize + 20}) {
      SCOPED_TRACE(SegmentName(first) + " " + std::to_string(size));
      MakeWhole();
      for (uint64_t number = 1; number < first; ++number) std::filesystem::remove(PathOf(number));
      Write(first, std::string(size, 'x') + whole_[first].substr(size));
      const uint64_t cut_off = Repair();
      const uint64_t whole = kInEach * (kSegments - first + 1);
      const bool has_notes = first != 1;  // which are damaged then, and no record
      const bool is_record_lost = size != kSegmentHeaderSize && !has_notes;
      EXPECT_GE(seen_.size() + cut_off, whole - (is_record_lost ? 1 : 0));
      if (size == kSegmentHeaderSize) {
        EXPECT_EQ(seen_.size(), whole);
      }
    }
  }
}

// The log of a store with tables: its head has two notes, and others lie amid the records.
TEST_F(LogRepairTest, ADamagedNoteCostsNoRecord) {
  std::filesystem::remove_all(directory());
  std::unique_ptr<Wal> wal;
  ASSERT_TRUE(Open(&wal).ok());
  wal->MarkTable(1, {.flushed = 0, .next_file = 2, .files = {1}});
  for (SequenceId sequence = 1; sequence <= 6; ++sequence) {
    if (sequence == 3) {
      ASSERT_TRUE(wal->Roll().ok());
    }
    ASSERT_TRUE(Append(*wal, sequence).ok());
    if (sequence == 4) wal->MarkTable(1, {.flushed = 2, .next_file = 3, .files = {1, 2}});
  }
  wal.reset();
  whole_.clear();
  for (uint64_t number = 1; number <= 2; ++number) {
    whole_[number] = *PosixFiles().Read(PathOf(number));
    whole_[number].resize(whole_[number].find_last_not_of('\0') + 1);
  }
  for (const bool is_first_cut : {false, true}) {
    for (size_t at = kSegmentHeaderSize; at < whole_[2].size();) {
      const size_t size = FindRecord(std::string_view(whole_[2]).substr(at),
                                     DecodeSegmentHeader(whole_[2])->base + at)->size;
      const bool is_note = DecodeNote(std::string_view(whole_[2]).substr(at, size)).has_value();
      const bool is_told = is_note && (!is_first_cut || at > kSegmentHeaderSize + 200);
      for (size_t i = 0; i < size; i += 5) {
        SCOPED_TRACE(std::to_string(at) + " " + std::to_string(i));
        MakeWhole();
        if (is_first_cut) std::filesystem::remove(PathOf(1));
        std::string damaged = whole_[2];
        damaged[at + i] = static_cast<char>(damaged[at + i] ^ 0x10);
        Write(2, damaged);
        const uint64_t cut_off = Repair();
        const size_t whole = is_first_cut ? 4 : 6;
        // The header of a note that is the first of the log is all that tells it.
        if (is_told || (is_note && i >= kRecordHeaderSize + 8)) {
          EXPECT_EQ(cut_off, 0u);
          EXPECT_EQ(seen_.size(), whole);
        } else if (!is_note) {
          EXPECT_LT(seen_.size(), whole) << "a record that is lost is not passed over";
        }
      }
      at += size;
    }
  }
}

TEST_F(LogRepairTest, SeveralHeadersAreMadeAnewBeforeTheLogIsCut) {
  MakeWhole();
  std::string broken = whole_[2];
  broken[0] = 'x';
  broken[broken.find("r8") + 10] ^= 1;
  Write(1, "x" + whole_[1].substr(1));
  Write(2, broken);
  Write(3, "x" + whole_[3].substr(1));
  const auto plan = RepairLog(files_, directory(), Summary(), RepairMode::kPlan);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->headers, (std::vector<std::string>{SegmentName(1), SegmentName(2)}));
  EXPECT_EQ(plan->saved, 7u);
  EXPECT_EQ(plan->records, 7u) << "two of the second segment and all of the third";
  EXPECT_GT(plan->bytes, 7u * 100);
  EXPECT_EQ(Repair(), 7u);
  EXPECT_EQ(seen_, UpTo(7));
}

// Its records are whole too, at their own place.
TEST_F(LogRepairTest, ALogThatIsStoredAsAValueTellsNoPlace) {
  const auto record = [](SequenceId sequence, const std::string& value, const RecordPlace& place) {
    RowBatch batch;
    batch.row = "r";
    batch.cells = {{"", "f", "q", 100, CellType::kPut, 0, kNoCellTtl, value}};
    const auto cells = CellsOf(batch, sequence);
    std::string bytes;
    EXPECT_TRUE(EncodeRecord({1, sequence, batch.row, cells}, place, &bytes).ok());
    return bytes;
  };
  const LogPosition base = 1000;
  const std::string nested = record(7, "nested", {5, 5});
  std::string segment(kSegmentHeaderSize, 'x');
  for (SequenceId sequence = 1; sequence <= 3; ++sequence) {
    const LogPosition begin = base + segment.size();
    const bool is_first = sequence == 1;
    segment += record(sequence, is_first ? nested : "v", {begin, is_first ? base : begin});
  }
  for (const bool first_is_damaged : {false, true}) {
    std::string damaged = segment;
    if (first_is_damaged) damaged[kSegmentHeaderSize] = 'x';
    const auto told = TellLostHeader(damaged, {9, kStoreId, std::nullopt});
    ASSERT_TRUE(told);
    EXPECT_EQ(told->base, base);
    EXPECT_EQ(told->number, 9u);
  }
}

TEST_F(LogRepairTest, ASegmentOfAnotherStoreIsNotTakenForADamagedOne) {
  MakeWhole();
  std::string other = whole_[2];
  other.replace(0, kSegmentHeaderSize,
                EncodeSegmentHeader({.number = 2, .base = whole_[1].size(), .store_id = 7}));
  Write(2, other);
  Repair();
  EXPECT_EQ(seen_, UpTo(kInEach));
}

TEST_F(LogRepairTest, ASegmentThatIsMissingOrShortEndsTheLog) {
  for (uint64_t number = 1; number <= kSegments; ++number) {
    SCOPED_TRACE(number);
    MakeWhole();
    std::filesystem::remove(PathOf(number));
    if (number != 1) {  // of the first only the tables tell
      Repair();
      EXPECT_EQ(seen_, UpTo((number - 1) * kInEach));
    }
    MakeWhole();
    Write(number, whole_[number].substr(0, whole_[number].size() / 2));
    Repair();
    EXPECT_GE(seen_.size(), (number - 1) * kInEach);
    EXPECT_LT(seen_.size(), number * kInEach);
  }
}

TEST_F(LogRepairTest, WhatFailsOnTheWayIsDoneAgain) {
  std::string damaged = whole_[1];
  damaged[damaged.find("r3") + 10] ^= 1;
  damaged[0] ^= 1;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    MakeWhole();
    Write(1, damaged);
    const LogSummary summary = Summary();
    ASSERT_TRUE(summary.broken && !summary.lost_headers.empty());
    files_.FailNth(nth);
    const auto cut = RepairLog(files_, directory(), summary, RepairMode::kAct);
    const bool failed = files_.failed();
    files_.FailNth(0);
    EXPECT_EQ(cut.ok(), !failed);
    if (!cut.ok()) Repair();
    std::unique_ptr<Wal> wal;
    EXPECT_TRUE(Open(&wal).ok());
    EXPECT_EQ(Ids(seen_.begin(), seen_.begin() + 2), UpTo(2));
    uint64_t kept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory()))
      kept += entry.path().string().find(".damaged-") != std::string::npos ? entry.file_size() : 0;
    EXPECT_GE(kept, whole_[2].size() / 2 + whole_[3].size() / 2) << "it is there, once or twice";
    if (!failed) break;
  }
}

}  // namespace
}  // namespace cellfs
