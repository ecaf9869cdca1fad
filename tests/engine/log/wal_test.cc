// SPDX-License-Identifier: MIT
#include "engine/log/wal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <thread>

#include "tests/engine/log/wal_fixture.h"

namespace cellfs {
namespace {

TEST_F(WalTest, GivesBackWhatWasAppended) {
  ASSERT_TRUE(Open().ok());
  RowBatch batch;
  batch.row = std::string("r\0w", 3);
  batch.cells = {{"", "f", "", 7, CellType::kDeleteFamily, 0, kNoCellTtl, ""},
                 {"", "g", "q", 8, CellType::kPut, 0, 60000, std::string("v\0\xff", 3)}};
  batch.withdrawn = {{"g", "old", 9, CellType::kDeleteColumn}};
  const auto cells = CellsOf(batch, 42);
  const LogRecord record{5, 42, batch.row, cells};
  const auto position = wal_->Append({&record, 1});
  ASSERT_TRUE(position.ok());

  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].table_id, 5u);
  EXPECT_EQ(seen_[0].sequence_id, 42u);
  EXPECT_EQ(seen_[0].row, batch.row);
  EXPECT_EQ(seen_[0].position, *position);
  const std::vector<Cell> expected = {
      {batch.row, "f", "", 7, CellType::kDeleteFamily, 42, kNoCellTtl, "", 0},
      {batch.row, "g", "q", 8, CellType::kPut, 42, 60000, std::string("v\0\xff", 3), 3},
      {batch.row, "g", "old", 9, kWithdrawMarker, 42, kNoCellTtl, "\x0c", 1}};
  EXPECT_EQ(seen_[0].cells, expected);
}

TEST_F(WalTest, HasTheDocumentedBytes) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(Append(1, 2, "v").ok());
  const std::string bytes = Read(1);
  ASSERT_EQ(bytes.size(), 44u + 32 + 22 + 2 + 26 + 3);
  const auto hex = [&](size_t from, size_t size) {
    std::string text;
    for (const char byte : bytes.substr(from, size)) {
      static constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[static_cast<unsigned char>(byte) >> 4];
      text += kDigits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
  };
  EXPECT_EQ(bytes.substr(0, 8), "CELLWAL\n");
  EXPECT_EQ(hex(8, 20), "0200000001000000000000000000000000000000");
  EXPECT_EQ(hex(28, 8), "efcdab8967452301");  // the store's id
  EXPECT_EQ(hex(36, 8), "173152b5a279cac3");
  EXPECT_EQ(hex(44, 16), "c5524543350000002c00000000000000");
  EXPECT_EQ(hex(60, 16), "b9b332dcbb21a0bc90b9ccfd5a067d95");
  EXPECT_EQ(hex(76, 16), "01000000000000000200000000000000");
  EXPECT_EQ(hex(92, 8), "0200723201000000");
  EXPECT_EQ(hex(100, 29), "01660100000071640000000000000004ffffffffffffffff0100000076");
}

TEST_F(WalTest, PositionsGoOnOverSegmentsAndRestarts) {
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*wal_->Append({}), kSegmentHeaderSize);
  const LogPosition first = *Append(1, 1);
  ASSERT_TRUE(wal_->Roll().ok());
  const LogPosition second = *Append(1, 2);
  const size_t note = kRecordHeaderSize + 9 + 16;  // of what the first segment holds
  EXPECT_EQ(second,
            first + kSegmentHeaderSize + note + kSmallestNote + (first - kSegmentHeaderSize));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->end(), second);
  EXPECT_GT(*Append(1, 3), second);
}

TEST_F(WalTest, ATailTornAtAnyByteIsCutAndTheRestStays) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 2);
  const size_t kept = Read(1).size();
  AppendAll(3, 3);
  const std::string whole = Read(1);
  for (size_t size = kept; size < whole.size(); ++size) {
    Overwrite(1, whole.substr(0, size));
    ASSERT_TRUE(Open().ok()) << size;
    EXPECT_EQ(Sequences(), (Ids{1, 2})) << size;
    EXPECT_EQ(Read(1).size(), kept) << size;
    AppendAll(4, 4);
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Sequences(), (Ids{1, 2, 4})) << size;
  }
}

// Neither a process nor a machine that dies leaves that: the record was acknowledged.
TEST_F(WalTest, AFlippedByteOfTheLastRecordIsCorruption) {
  for (const bool reserved : {false, true}) {
    ASSERT_TRUE(Open().ok());
    AppendAll(1, 1);
    const size_t kept = Read(1).size();
    ASSERT_TRUE(Append(1, 2, std::string(5000, 'x')).ok());
    const size_t end = Read(1).size();
    if (reserved) {
      ASSERT_TRUE(wal_->MakeDurable(wal_->end(), Durability::kFsyncWal).ok());
      ASSERT_GT(Read(1).size(), end) << "zeros are written ahead";
    }
    const std::string whole = Read(1);
    for (size_t at = kept; at < end; at += at < kept + 100 ? 1 : 97) {
      SCOPED_TRACE(at);
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
      ExpectRefused(flipped, kept);
    }
    wal_.reset();
    std::filesystem::remove_all(directory());
  }
}

TEST_F(WalTest, ARepeatedTailIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t before = Read(1).size();
  AppendAll(2, 2);
  const std::string whole = Read(1);
  Overwrite(1, whole + whole.substr(before));
  ExpectCorruption(1, whole.size());
}

TEST_F(WalTest, ATornRecordThatHoldsAWholeLogIsCut) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 3);
  const std::string log = Read(1);
  ASSERT_TRUE(Append(1, 4, log + log).ok());
  const std::string whole = Read(1);
  Overwrite(1, whole.substr(0, whole.size() - 1));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2, 3}));
}

TEST_F(WalTest, ATailOfZerosIsCut) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 2);
  Overwrite(1, Read(1) + std::string(10000, '\0'));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
}

TEST_F(WalTest, AFlippedByteBeforeIntactRecordsIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t damage = Read(1).size();
  AppendAll(2, 2);
  const size_t end = Read(1).size();
  AppendAll(3, 3);
  const std::string whole = Read(1);
  for (size_t at = damage; at < end; ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    ExpectRefused(flipped, damage);
  }
}

// A counter's last byte is often zero: that is no torn end, for the next record begins right behind
// it, in what goes to the disk at the same moment.
TEST_F(WalTest, AFlippedByteOfARecordThatEndsInZerosIsCorruptionBeforeIntactRecords) {
  for (size_t shift = 0; shift < 64; ++shift) {
    SCOPED_TRACE(shift);
    ASSERT_TRUE(Open().ok());
    ASSERT_TRUE(Append(1, 1, std::string(shift, 'x')).ok());
    const size_t damage = Read(1).size();
    ASSERT_TRUE(Append(1, 2, std::string("\0\0\0\0\0\0\1\0", 8)).ok());
    const size_t end = Read(1).size();
    AppendAll(3, 3);
    std::string flipped = Read(1);
    flipped[damage + 60] = static_cast<char>(flipped[damage + 60] ^ 1);
    if (end % 64 != 0) {
      ExpectRefused(flipped, damage);
    } else {
      Overwrite(1, flipped);
      ASSERT_TRUE(Open().ok());  // may be torn: what is cut off is kept
      EXPECT_EQ(wal_->CutOff().size(), 1u);
    }
    wal_.reset();
    std::filesystem::remove_all(directory());
  }
}

TEST_F(WalTest, WholeRecordsThatAreCutOffAreKeptAndTold) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t damage = Read(1).size();
  ASSERT_TRUE(Append(1, 2, std::string(10000, '\0')).ok());
  AppendAll(3, 4);
  std::string bytes = Read(1);
  bytes[damage + 70] = static_cast<char>(bytes[damage + 70] ^ 1);
  Overwrite(1, bytes + std::string(5000, '\0'));
  const std::string kept = PathOf(1) + ".cut-" + std::to_string(damage);
  for (int time = 1; time <= 2; ++time) {
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Sequences(), (Ids{1}));
    ASSERT_EQ(wal_->CutOff().size(), 1u);
    EXPECT_NE(wal_->CutOff()[0].find(kept), std::string::npos) << wal_->CutOff()[0];
    EXPECT_EQ(*PosixFiles().Read(kept), bytes.substr(damage));
  }
  // The same once more is not kept twice, and something else does not go over it.
  Overwrite(1, bytes);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->CutOff().size(), 1u);
  bytes[damage + 70] = static_cast<char>(bytes[damage + 70] ^ 2);
  Overwrite(1, bytes);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->CutOff().size(), 2u);
  EXPECT_EQ(*PosixFiles().Read(kept + "-2"), bytes.substr(damage));
  ASSERT_TRUE(PosixFiles().Remove(kept).ok());
  EXPECT_EQ(wal_->CutOff().size(), 1u) << "what people have removed is told no more";
}

TEST_F(WalTest, NothingIsCutOffThatCannotBeKept) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t damage = Read(1).size();
  ASSERT_TRUE(Append(1, 2, std::string(10000, '\0')).ok());
  AppendAll(3, 4);
  std::string bytes = Read(1);
  bytes[damage + 70] = static_cast<char>(bytes[damage + 70] ^ 1);
  Overwrite(1, bytes);
  uint64_t room = 0;
  WalOptions options;
  options.make_room = [&](uint64_t asked) { room = asked; };
  files_.SetRoom(100);
  EXPECT_EQ(Open(options).code(), StatusCode::kStoreFull);
  EXPECT_EQ(room, bytes.size() - damage);
  EXPECT_EQ(Read(1), bytes);
  files_.SetRoom(1 << 20);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->CutOff().size(), 1u);
}

TEST_F(WalTest, PagesThatPowerLossLeftUnwrittenEndTheLogUnlessTheyWereSynced) {
  for (const bool synced : {false, true}) {
    SCOPED_TRACE(synced);
    ASSERT_TRUE(Open().ok());
    ASSERT_TRUE(Append(1, 1).ok());
    const size_t damage = Read(1).size();
    ASSERT_TRUE(Append(1, 2, std::string(10000, 'x')).ok());
    if (synced) {
      ASSERT_TRUE(wal_->Sync().ok());
    }
    ASSERT_TRUE(Append(1, 3).ok());
    std::string bytes = Read(1);
    bytes.replace(4096, 4096, 4096, '\0');
    Overwrite(1, bytes);
    if (synced) {
      ExpectCorruption(1, damage);
    } else {
      ASSERT_TRUE(Open().ok());
      EXPECT_EQ(Sequences(), (Ids{1}));
      EXPECT_EQ(Read(1).size(), damage);
    }
    wal_.reset();
    std::filesystem::remove_all(directory());
  }
}

// Three records, of which the last or the one before is zero from a byte on; behind them the file
// ends, or zeros go on that were written ahead. What goes to the disk at one moment, 64 bytes, has
// nothing of a record behind one that it has not the whole of.
TEST_F(WalTest, ARecordThatIsZeroFromAnyByteOnIsCutWithWhatLiesBehindIt) {
  ASSERT_TRUE(Open().ok());
  std::vector<size_t> ends;
  for (SequenceId sequence = 1; sequence <= 3; ++sequence) {
    ASSERT_TRUE(Append(1, sequence, std::string(30, 'v')).ok());
    ends.push_back(wal_->end());
  }
  const std::string whole = Read(1);
  for (const size_t torn : {2, 1}) {
    for (size_t at = ends[torn - 1]; at < ends[torn]; ++at) {
      std::string bytes = whole;
      bytes.replace(at, ends[torn] - at, ends[torn] - at, '\0');
      const size_t line = (ends[torn] + 63) / 64 * 64;
      std::fill(bytes.begin() + ends[torn], bytes.begin() + std::min(line, bytes.size()), '\0');
      std::vector<std::string> tails = {bytes, bytes + std::string(1000, '\0')};
      // The record behind it is torn as well, or only its header is there.
      for (size_t behind = line + 1; behind < whole.size(); behind += 50) {
        tails.push_back(bytes.substr(0, behind));
        tails.push_back(bytes.substr(0, behind) + std::string(1000, '\0'));
      }
      for (const std::string& tail : tails) {
        Overwrite(1, tail);
        const Status status = Open();
        ASSERT_TRUE(status.ok()) << at << " of " << tail.size() << ": " << status.ToString();
        ASSERT_EQ(seen_.size(), torn) << at;
        ASSERT_EQ(Read(1).size(), ends[torn - 1]) << at;
      }
    }
  }
}

// Of two pages that a write fills the first went to the disk while it was being filled.
TEST_F(WalTest, APageThatIsZeroFromAnyByteOnIsCutThoughTheNextOneIsThere) {
  constexpr size_t kPage = 4096;
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t kept = Read(1).size();
  ASSERT_TRUE(Append(1, 2, std::string(10000, 'x')).ok());
  const std::string whole = Read(1);
  for (size_t at = kPage - 200; at < kPage; ++at) {
    std::string bytes = whole;
    bytes.replace(at, kPage - at, kPage - at, '\0');
    Overwrite(1, bytes);
    const Status status = Open();
    ASSERT_TRUE(status.ok()) << at << ": " << status.ToString();
    EXPECT_EQ(Read(1).size(), kept);
  }
}

// Any whole header behind the damage tells how far the log was synced, whatever has become of the
// record that it belongs to.
TEST_F(WalTest, ARecordThatIsZeroFromAByteOnIsCorruptionBeforeAKnownSync) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t damage = wal_->end();
  AppendAll(2, 2);
  const size_t synced = wal_->end();
  ASSERT_TRUE(wal_->Sync().ok());
  AppendAll(3, 3);
  const std::string whole = Read(1);
  for (size_t at = damage; at < synced; ++at) {
    std::string bytes = whole;
    bytes.replace(at, synced - at, synced - at, '\0');
    for (const size_t size : {synced + kRecordHeaderSize, whole.size() - 1, whole.size()}) {
      Overwrite(1, bytes.substr(0, size));
      ExpectCorruption(1, damage);
      Overwrite(1, bytes.substr(0, size) + std::string(1000, '\0'));
      ExpectCorruption(1, damage);
    }
  }
}

// The length of such a record is not known, so what is there of its header must be right.
TEST_F(WalTest, AHeaderThatEndsInZerosAndIsNoneIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const size_t damage = wal_->end();
  AppendAll(2, 2);
  const std::string whole = Read(1);
  for (size_t torn = 17; torn < 24; ++torn) {
    for (size_t at = 0; at < torn; ++at) {
      SCOPED_TRACE(std::to_string(at) + " of " + std::to_string(torn));
      std::string bytes = whole;
      bytes.replace(damage + torn, 24 - torn, 24 - torn, '\0');
      bytes[damage + at] = static_cast<char>(bytes[damage + at] ^ 0x10);
      Overwrite(1, bytes);
      ExpectCorruption(1, damage);
    }
  }
}

// Of what was not synced, a machine that loses power keeps any sectors of 512 bytes, and of each
// its present state or an earlier one. Whatever those are, the log opens with the records of
// before.
TEST_F(WalTest, AnyMixtureOfSectorsThatPowerLossLeavesIsCut) {
  constexpr size_t kSector = 512;
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    ASSERT_TRUE(Open().ok());
    std::vector<size_t> ends = {kSegmentHeaderSize};
    const auto append = [&](SequenceId sequence) {
      const std::string value(random() % 3000, static_cast<char>('a' + sequence));
      ASSERT_TRUE(Append(1, sequence, value).ok());
      ends.push_back(wal_->end());
    };
    for (SequenceId sequence = 1; sequence <= 3; ++sequence) append(sequence);
    const size_t synced = wal_->end();
    ASSERT_TRUE(round % 2 == 0 ? wal_->MakeDurable(synced, Durability::kFsyncWal).ok()
                               : wal_->Sync().ok());
    std::vector<std::string> states = {Read(1)};  // one of which each sector has
    for (SequenceId sequence = 4; sequence <= 6; ++sequence) {
      append(sequence);
      states.push_back(Read(1));
    }
    std::string lost = states.back();
    for (std::string& state : states) state.resize(lost.size(), '\0');
    for (size_t at = 0; at < lost.size(); at += kSector)
      lost.replace(at, kSector, states[random() % states.size()], at, kSector);
    if (round % 4 >= 2) lost.resize(synced + random() % (lost.size() - synced + 1));
    Overwrite(1, lost);
    const Status status = Open();
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_GE(seen_.size(), 3u);
    EXPECT_EQ(Read(1).size(), ends[seen_.size()]);
    wal_.reset();
    std::filesystem::remove_all(directory());
  }
}

TEST_F(WalTest, ATornTailOfAnOlderSegmentIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 2);
  const size_t end = Read(1).size();
  ASSERT_TRUE(wal_->Roll().ok());
  AppendAll(3, 3);
  const std::string older = Read(1);
  const size_t last = kSegmentHeaderSize + (end - kSegmentHeaderSize) / 2;
  Overwrite(1, older.substr(0, end - 1));
  ExpectCorruption(1, last);
  Overwrite(1, older.substr(0, last));  // between records
  ExpectCorruption(1, last);
  Overwrite(1, older.substr(0, end) + std::string(100, 'x'));
  ExpectCorruption(1, end);
  // But not of what says that there is a next one: that is never synced.
  for (size_t size = end; size <= older.size(); ++size) {
    Overwrite(1, older.substr(0, size));
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Sequences(), (Ids{1, 2, 3}));
  }
}

TEST_F(WalTest, AMissingSegmentIsCorruption) {
  ASSERT_TRUE(Open().ok());
  for (SequenceId sequence = 1; sequence <= 4; ++sequence) {
    AppendAll(sequence, sequence);
    if (sequence < 4) {
      ASSERT_TRUE(wal_->Roll().ok());
    }
  }
  for (const uint64_t number : {2, 3, 4}) {
    const std::string bytes = Read(number);
    for (const bool emptied : {false, true}) {
      SCOPED_TRACE(std::to_string(number) + (emptied ? " is empty" : " is gone"));
      Overwrite(number, "");
      if (!emptied) {
        ASSERT_TRUE(PosixFiles().Remove(PathOf(number)).ok());
      }
      const Status status = Open();
      EXPECT_EQ(status.code(), StatusCode::kCorruption);
      EXPECT_NE(status.message().find(PathOf(number)), std::string::npos) << status.message();
    }
    Overwrite(number, bytes);
  }
  EXPECT_TRUE(Open().ok());
  EXPECT_TRUE(wal_->older().empty());
}

TEST_F(WalTest, WhatMissingFirstSegmentsHeldIsKnown) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 2);
  ASSERT_TRUE(Append(7, 3).ok());
  ASSERT_TRUE(wal_->Roll().ok());
  ASSERT_TRUE(Append(8, 4).ok());
  wal_->DropTable(7);
  ASSERT_TRUE(wal_->Roll().ok());
  AppendAll(5, 5);
  wal_.reset();
  ASSERT_TRUE(PosixFiles().Remove(PathOf(1)).ok());
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{4, 5}));
  EXPECT_EQ(wal_->older(), (OlderCells{{1, 2}, {7, 3}}));
  EXPECT_EQ(wal_->first_segment(), 2u);
  wal_->DropTable(8);
  EXPECT_EQ(wal_->segments(), 2u) << "somebody may still find what lay before it";
  ASSERT_TRUE(PosixFiles().Remove(PathOf(2)).ok());
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->older(), (OlderCells{{1, 2}, {8, 4}}));
  wal_->Flushed(1, 2);
  wal_->DropTable(8);
  ASSERT_TRUE(wal_->Roll().ok());
  wal_->Flushed(1, 5);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->older(), (OlderCells{{1, 5}}));
}

TEST_F(WalTest, WhatItIsToldOfTablesIsInEachSegment) {
  const TableMark first{.flushed = 5, .next_file = 3, .files = {1, 2}};
  const TableMark second{.flushed = 9, .next_file = 4, .files = {3}};
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(wal_->marks().empty());
  wal_->MarkTable(1, first);
  wal_->MarkTable(2, first);
  ASSERT_TRUE(wal_->Roll().ok());
  EXPECT_EQ(wal_->segments(), 1u) << "notes are no reason for a segment";
  AppendAll(1, 2);
  wal_->MarkTable(1, second);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  EXPECT_EQ(wal_->marks(), (TableMarks{{1, second}, {2, first}}));
  wal_->DropTable(2);
  ASSERT_TRUE(wal_->Roll().ok());
  wal_->Flushed(1, 2);
  EXPECT_EQ(wal_->segments(), 1u);
  wal_->MarkTable(3, {});
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->marks(), (TableMarks{{1, second}, {3, TableMark()}}));
  wal_->DropTable(1);
  wal_->DropTable(3);
  AppendAll(3, 3);
  ASSERT_TRUE(wal_->Roll().ok());
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(wal_->marks().empty());
}

TEST_F(WalTest, ALogThatMustExistIsNotMadeAnew) {
  const WalOptions options{.must_exist = true};
  EXPECT_EQ(Open(options).code(), StatusCode::kCorruption);
  // Who gives up what was in it makes an empty first segment.
  Overwrite(1, "");
  EXPECT_TRUE(Open(options).ok());
  AppendAll(1, 1);
  EXPECT_TRUE(Open(options).ok());
  EXPECT_EQ(Sequences(), (Ids{1}));
}

TEST_F(WalTest, ASegmentOfAnotherStoreOrPlaceIsCorruption) {
  ASSERT_TRUE(Open({.store_id = 5}).ok());
  AppendAll(1, 1);
  ExpectCorruption(1, 28);
  ASSERT_TRUE(Open({.store_id = 5}).ok());
  ASSERT_TRUE(wal_->Roll().ok());
  AppendAll(2, 2);
  const std::string first = Read(1);
  const std::string second = Read(2);
  const std::vector<std::pair<std::string, std::string>> mixtures = {
      {second, first}, {first, first}, {second, second}};
  for (const auto& [one, two] : mixtures) {
    Overwrite(1, one);
    Overwrite(2, two);
    EXPECT_EQ(Open({.store_id = 5}).code(), StatusCode::kCorruption);
  }
}

TEST_F(WalTest, ADamagedHeaderIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const std::string whole = Read(1);
  for (size_t at = 0; at < kSegmentHeaderSize; ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    Overwrite(1, flipped);
    ExpectCorruption(1, 0);
  }
}

TEST_F(WalTest, ANewerFormatIsSaidInClearWords) {
  ASSERT_TRUE(Open().ok());
  Overwrite(1, EncodeSegmentHeader({3, 1, 0, kStoreId}));
  const Status status = Open();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("log format 3"), std::string::npos) << status.message();
}

TEST_F(WalTest, ARenamedSegmentIsCorruption) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  Overwrite(2, Read(1));
  ASSERT_TRUE(PosixFiles().Remove(PathOf(1)).ok());
  ExpectCorruption(2, 12);
}

TEST_F(WalTest, ANewSegmentWhoseHeaderDidNotGetToTheDiskIsRemoved) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  for (const std::string& torn : {std::string(), std::string("CELLW"), std::string(4096, '\0')}) {
    Overwrite(2, torn);
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(Sequences(), (Ids{1}));
    EXPECT_FALSE(std::filesystem::exists(PathOf(2)));
  }
  // Then the segment before it is the newest, and may be torn as well.
  Overwrite(1, Read(1) + "torn");
  Overwrite(2, "");
  EXPECT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1}));
}

// Its header and the note behind that are one write.
TEST_F(WalTest, ANewSegmentThatIsZeroFromAnyByteOfItsHeaderOnIsRemoved) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  const std::string first = Read(1);
  ASSERT_TRUE(wal_->Roll().ok());
  const std::string second = Read(2);
  for (size_t at = 0; at < kSegmentHeaderSize; ++at) {
    SCOPED_TRACE(at);
    for (const size_t to : {kSegmentHeaderSize, second.size()}) {
      std::string torn = second;
      torn.replace(at, to - at, to - at, '\0');
      Overwrite(1, first);
      Overwrite(2, torn);
      ASSERT_TRUE(Open().ok());
      EXPECT_EQ(Sequences(), (Ids{1}));
      EXPECT_FALSE(std::filesystem::exists(PathOf(2)));
      if (at == 0) continue;
      torn[at / 2] = static_cast<char>(torn[at / 2] ^ 0x40);  // its beginning is not right
      Overwrite(2, torn);
      EXPECT_EQ(Open().code(), StatusCode::kCorruption);
    }
  }
}

TEST_F(WalTest, SegmentsRollBySizeAndGoOldestFirstOnceAllTheirTablesAreFlushed) {
  WalOptions options;
  options.segment_bytes = 150;  // two records
  ASSERT_TRUE(Open(options).ok());
  for (SequenceId sequence = 1; sequence <= 6; ++sequence)
    ASSERT_TRUE(Append(sequence == 1 ? 9 : 1, sequence).ok());
  EXPECT_EQ(wal_->segments(), 3u);
  EXPECT_EQ(wal_->OldestTables(), (std::vector<TableId>{1, 9}));
  wal_->Flushed(1, 4);
  EXPECT_EQ(wal_->segments(), 3u) << "table 9 is still in the first";
  EXPECT_EQ(wal_->OldestTables(), (std::vector<TableId>{9}));
  wal_->DropTable(9);
  EXPECT_EQ(wal_->segments(), 1u);
  EXPECT_TRUE(wal_->OldestTables().empty());
  EXPECT_EQ(wal_->bytes(), Read(3).size());
  ASSERT_TRUE(Open(options).ok());
  EXPECT_EQ(Sequences(), (Ids{5, 6}));
}

TEST_F(WalTest, AFlushUpToAnEarlierCellCutsNothing) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 2);
  ASSERT_TRUE(wal_->Roll().ok());
  ASSERT_TRUE(wal_->Roll().ok()) << "an empty segment is not followed by another";
  wal_->Flushed(1, 1);
  EXPECT_EQ(wal_->segments(), 2u);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  wal_->Flushed(1, 2);  // recovery has counted them again
  EXPECT_EQ(wal_->segments(), 1u);
}

TEST_F(WalTest, ReadsBackFromAnyPosition) {
  WalOptions options;
  options.segment_bytes = 200;
  ASSERT_TRUE(Open(options).ok());
  std::vector<LogPosition> positions = {0};
  for (SequenceId sequence = 1; sequence <= 7; ++sequence)
    positions.push_back(*Append(1, sequence));
  for (size_t from = 0; from < positions.size(); ++from) {
    seen_.clear();
    ASSERT_TRUE(wal_->ReadAfter(positions[from], Recorder()).ok());
    ASSERT_EQ(seen_.size(), positions.size() - 1 - from);
    for (size_t i = 0; i < seen_.size(); ++i) EXPECT_EQ(seen_[i].position, positions[from + 1 + i]);
  }
  wal_->Flushed(1, 3);
  EXPECT_EQ(wal_->ReadAfter(0, Recorder()).code(), StatusCode::kUnavailable);
}

// Whatever operation fails, and however often the log rolls: what was acknowledged is there after a
// restart, what was refused is not, and after a full disk the log goes on.
TEST_F(WalTest, AFailureOfAnyOperationLosesNothingAcknowledged) {
  const std::string kLong(ValueApart::kLong, 'l');
  WalOptions options;
  options.segment_bytes = 200;
  for (const StatusCode code : {StatusCode::kStoreFull, StatusCode::kIoError}) {
    bool failed = true;
    for (int n = 1; failed; ++n) {
      SCOPED_TRACE(std::string(CodeName(code)) + " at operation " + std::to_string(n));
      std::filesystem::remove_all(directory());
      files_.FailNth(n, code);
      Ids acknowledged;
      if (Open(options).ok())
        for (SequenceId sequence = 1; sequence <= 8; ++sequence) {
          const auto position = Append(1, sequence, sequence == 3 ? kLong : "v");
          if (position.ok()) acknowledged.push_back(sequence);
          if (!position.ok() && !files_.failed()) FAIL() << position.status().ToString();
          if (sequence == 5) (void)wal_->Roll();
        }
      failed = files_.failed();
      files_.FailNth(0);
      if (wal_ != nullptr && Append(1, 9).ok()) {  // no sync has failed
        acknowledged.push_back(9);
        EXPECT_GE(acknowledged.size(), 8u) << "one failure refuses one write at most";
      }
      ASSERT_TRUE(Open(options).ok());
      EXPECT_EQ(Sequences(), acknowledged);
    }
  }
}

TEST_F(WalTest, AFullDiskRefusesWritesAndTakesThemAgainOnceThereIsRoom) {
  ASSERT_TRUE(Open().ok());
  AppendAll(1, 1);
  files_.SetRoom(40);
  EXPECT_EQ(Append(1, 2).status().code(), StatusCode::kStoreFull);
  EXPECT_EQ(Append(1, 3).status().code(), StatusCode::kStoreFull);
  EXPECT_TRUE(wal_->Sync().ok());
  files_.SetRoom(100000);
  AppendAll(4, 4);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 4}));
}

// A note of it would make the table count as damaged once the segment before is cut: no store file
// ever has that sequence id.
TEST_F(WalTest, ARefusedWriteIsNotNotedForTheNextSegment) {
  ASSERT_TRUE(Open().ok());
  files_.SetRoom(0);
  EXPECT_EQ(Append(1, 1).status().code(), StatusCode::kStoreFull);
  files_.SetRoom(100000);
  ASSERT_TRUE(Append(2, 1).ok());
  ASSERT_TRUE(wal_->Roll().ok());
  EXPECT_EQ(wal_->OldestTables(), (std::vector<TableId>{2}));
  wal_->Flushed(2, 1);
  EXPECT_EQ(wal_->segments(), 1u) << "nothing of table 1 is in the log";
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(wal_->older(), (OlderCells{{2, 1}}));
}

// Half of the bytes are written, and the first record is whole in them: it comes back.
TEST_F(WalTest, WhetherAWriteThatCouldNotBeCutOffAgainHappenedIsNotKnown) {
  ASSERT_TRUE(Open().ok());
  RowBatch batch{.row = "r", .cells = {{"", "f", "q", 1, CellType::kPut, 0, kNoCellTtl, "v"}}};
  std::vector<std::pmr::vector<CellView>> cells;
  std::vector<LogRecord> records;
  for (SequenceId sequence = 1; sequence <= 2; ++sequence)
    cells.push_back(CellsOf(batch, sequence));
  for (SequenceId sequence = 1; sequence <= 2; ++sequence)
    records.push_back({1, sequence, batch.row, cells[sequence - 1]});
  files_.SetChangeHook([] { return true; });
  EXPECT_EQ(wal_->Append(records).status().code(), StatusCode::kOutcomeUnknown);
  EXPECT_EQ(Append(1, 3).status().code(), StatusCode::kIoError) << "that did not happen";
  files_.SetChangeHook({});
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1}));
}

TEST_F(WalTest, AfterAFailedSyncNothingIsTakenUntilReopened) {
  ASSERT_TRUE(Open().ok());
  const LogPosition synced = *Append(1, 1);
  ASSERT_TRUE(wal_->Sync().ok());
  AppendAll(2, 2);
  files_.SetSyncsFail(true);
  EXPECT_EQ(wal_->Sync().code(), StatusCode::kIoError);
  files_.SetSyncsFail(false);
  EXPECT_EQ(wal_->Sync().code(), StatusCode::kIoError);
  EXPECT_EQ(Append(1, 3).status().code(), StatusCode::kIoError);
  EXPECT_EQ(wal_->Roll().code(), StatusCode::kIoError);
  EXPECT_EQ(wal_->MakeDurable(wal_->end(), Durability::kAsyncWal).code(), StatusCode::kIoError);
  EXPECT_TRUE(wal_->MakeDurable(synced, Durability::kFsyncWal).ok()) << "that is on disk";
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
  AppendAll(3, 3);
}

TEST_F(WalTest, PowerLossTakesOnlyWhatWasNotMadeDurable) {
  WalOptions options;
  options.segment_bytes = 200;
  ASSERT_TRUE(Open(options).ok());
  AppendAll(1, 4);  // the first segments were synced when they were full
  ASSERT_TRUE(wal_->MakeDurable(*Append(1, 5), Durability::kFsyncWal).ok());
  ASSERT_TRUE(wal_->MakeDurable(*Append(1, 6), Durability::kSyncWal).ok());
  wal_.reset();
  files_.LosePower();
  ASSERT_TRUE(Open(options).ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2, 3, 4, 5}));
}

TEST_F(WalTest, DurableRecordsGoIntoBytesWrittenAheadAndComeBackWithoutThem) {
  const WalOptions options{.reserved_bytes = 4096};
  ASSERT_TRUE(Open(options).ok());
  for (SequenceId sequence = 1; sequence <= 100; ++sequence) {
    const auto position = Append(1, sequence, std::string(200, 'v'));
    ASSERT_TRUE(position.ok());
    ASSERT_TRUE(wal_->MakeDurable(*position, Durability::kFsyncWal).ok());
  }
  EXPECT_GT(Read(1).size(), wal_->bytes());
  ASSERT_TRUE(Append(1, 101).ok());
  files_.LosePower();
  ASSERT_TRUE(Open(options).ok());
  ASSERT_EQ(seen_.size(), 100u);
  EXPECT_EQ(Read(1).size(), wal_->bytes());
  ASSERT_TRUE(Append(1, 102).ok());
  ASSERT_TRUE(wal_->MakeDurable(wal_->end(), Durability::kFsyncWal).ok());
  ASSERT_TRUE(wal_->Roll().ok());
  ASSERT_TRUE(Append(1, 103).ok());
  const size_t note = kRecordHeaderSize + 9;  // that the second segment is there
  EXPECT_EQ(Read(1).size() + Read(2).size(), wal_->bytes() + note)
      << "an ended segment has no zeros";
  // Unless power was lost before its length got to the disk.
  Overwrite(1, Read(1) + std::string(4096, '\0'));
  ASSERT_TRUE(Open(options).ok());
  EXPECT_EQ(seen_.size(), 102u);
}

TEST_F(WalTest, AsynchronousWritesAreSyncedInTheBackgroundAndAtTheEnd) {
  WalOptions options;
  options.asynchronous_delay = std::chrono::milliseconds(0);
  ASSERT_TRUE(Open(options).ok());
  const uint64_t before = wal_->syncs();
  ASSERT_TRUE(wal_->MakeDurable(*Append(1, 1), Durability::kAsyncWal).ok());
  while (wal_->syncs() == before) std::this_thread::yield();
  options.asynchronous_delay = std::chrono::hours(1);
  ASSERT_TRUE(Open(options).ok());
  ASSERT_TRUE(wal_->MakeDurable(*Append(1, 2), Durability::kAsyncWal).ok());
  wal_.reset();
  files_.LosePower();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sequences(), (Ids{1, 2}));
}

TEST_F(WalTest, WritersAtTheSameTimeShareASync) {
  constexpr int kWriters = 8;
  ASSERT_TRUE(Open().ok());
  const uint64_t before = wal_->syncs();
  std::atomic<int> appended{0};
  // The first sync lasts until everybody has written, so the others must wait for a second one.
  files_.SetSyncHook([&] {
    while (appended.load() < kWriters) std::this_thread::yield();
  });
  std::vector<std::thread> writers;
  for (int i = 1; i <= kWriters; ++i)
    writers.emplace_back([&, i] {
      const LogPosition position = *Append(static_cast<TableId>(i), 1);
      ++appended;
      EXPECT_TRUE(wal_->MakeDurable(position, Durability::kFsyncWal).ok());
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_LE(wal_->syncs() - before, 2u);
  files_.SetSyncHook({});
  wal_.reset();
  files_.LosePower();
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(seen_.size(), size_t{kWriters});
}

TEST_F(WalTest, GivesBackLongValuesAmongOthers) {
  ASSERT_TRUE(Open().ok());
  const std::string value = std::string(ValueApart::kLong, 'a') + "end";
  RowBatch batch;
  batch.row = "r";
  batch.cells = {{"", "f", "p", 100, CellType::kPut, 0, kNoCellTtl, value},
                 {"", "f", "q", 100, CellType::kPut, 0, kNoCellTtl, "short"}};
  std::vector<std::pmr::vector<CellView>> cells;
  std::vector<LogRecord> records;
  for (SequenceId sequence = 1; sequence <= 3; ++sequence)
    cells.push_back(CellsOf(batch, sequence));
  for (SequenceId sequence = 1; sequence <= 3; ++sequence)
    records.push_back({1, sequence, batch.row, cells[sequence - 1]});
  const auto position = wal_->Append(records);
  ASSERT_TRUE(position.ok());
  EXPECT_EQ(wal_->bytes(), Read(1).size());
  ASSERT_TRUE(Append(1, 4).ok());
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(Sequences(), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(seen_[2].position, *position);
  EXPECT_TRUE(seen_[2].cells[0].value == value);
  EXPECT_EQ(seen_[2].cells[1].value, "short");
}

TEST_F(WalTest, WritingRollingCuttingAndReadingGoOnTogether) {
  WalOptions options;
  options.segment_bytes = 2000;
  options.background_sync_bytes = 500;
  options.asynchronous_delay = std::chrono::milliseconds(0);
  ASSERT_TRUE(Open(options).ok());
  std::atomic<bool> done{false};
  std::thread reader([&] {
    LogPosition after = 0;
    while (!done.load()) {
      const Status status = wal_->ReadAfter(after, [&](const LogRecord&, LogPosition position) {
        EXPECT_GT(position, after);
        after = position;
        return Status();
      });
      if (status.code() == StatusCode::kUnavailable)
        after = wal_->end();
      else
        EXPECT_TRUE(status.ok()) << status.ToString();
    }
  });
  std::vector<std::thread> writers;
  for (TableId table = 1; table <= 3; ++table)
    writers.emplace_back([&, table] {
      for (SequenceId sequence = 1; sequence <= 300; ++sequence) {
        const auto position = Append(table, sequence);
        ASSERT_TRUE(position.ok());
        const auto durability = sequence % 3 == 0 ? Durability::kFsyncWal : Durability::kAsyncWal;
        EXPECT_TRUE(wal_->MakeDurable(*position, durability).ok());
        if (sequence % 50 != 0) continue;
        EXPECT_TRUE(wal_->Roll().ok());
        wal_->Flushed(table, sequence - 10);
      }
    });
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  ASSERT_TRUE(Open(options).ok());
  std::map<TableId, Ids> kept;
  for (const SeenRecord& seen : seen_) kept[seen.table_id].push_back(seen.sequence_id);
  for (TableId table = 1; table <= 3; ++table) {
    EXPECT_EQ(kept[table].back(), 300u);
    EXPECT_LE(kept[table].front(), 291u);
    EXPECT_TRUE(std::is_sorted(kept[table].begin(), kept[table].end()));
    EXPECT_EQ(kept[table].size(), 300 - kept[table].front() + 1) << "no hole";
  }
}

}  // namespace
}  // namespace cellfs
