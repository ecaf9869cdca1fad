// SPDX-License-Identifier: MIT
//
// A table whose key range is cut again and again: whatever is written, flushed and compacted, it
// answers as a map does, and no compaction takes much more than a piece.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "engine/file/stored_facts.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class KeyPiecesTest : public EngineTest {
 protected:
  static constexpr int64_t kFlushSize = 4096;
  static constexpr uint64_t kBytesOfPiece = 8 * kFlushSize;

  KeyPiecesTest() {
    schema_ = TableOf({FamilyOf("f"), FamilyOf("g")});
    options_.site.memstore_flush_size = kFlushSize;
    Open();
  }
  // Row, family and qualifier, and the value.
  using Model = std::map<std::tuple<std::string, std::string, std::string>, std::string>;

  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
  std::string AnyRow() { return "r" + std::to_string(1000 + Below(rows_)); }
  std::string AnyFamily() { return Below(3) == 0 ? "g" : "f"; }
  std::string AnyQualifier() { return std::string(1, "pq"[Below(2)]); }

  // Each is later than all before: when it is flushed or compacted makes no difference.
  void WriteAny() {
    clock_->Advance(1);
    const std::string row = AnyRow(), family = AnyFamily(), qualifier = AnyQualifier();
    const int act = Below(10);
    if (act < 8) {
      const std::string value =
          std::to_string(++values_) + std::string(static_cast<size_t>(Below(400)), 'x');
      ASSERT_OK(Write(row, {CellOf(qualifier, clock_->Now(), value, CellType::kPut, family)}));
      model_[{row, family, qualifier}] = value;
    } else if (act == 8) {
      ASSERT_OK(
          Write(row, {CellOf(qualifier, clock_->Now(), "", CellType::kDeleteColumn, family)}));
      model_.erase({row, family, qualifier});
    } else {
      ASSERT_OK(Write(row, {CellOf("", clock_->Now(), "", CellType::kDeleteFamily, family)}));
      for (const char* const of : {"p", "q"}) model_.erase({row, family, of});
    }
  }
  std::string Expected(bool reversed = false) const {
    std::vector<std::string> rows;
    std::string row;
    for (const auto& [place, value] : model_) {
      const auto& [of_row, family, qualifier] = place;
      if (rows.empty() || row != of_row) rows.emplace_back();
      row = of_row;
      rows.back() += of_row + "/" + family + ":" + qualifier + "=" + value + " ";
    }
    if (reversed) std::reverse(rows.begin(), rows.end());
    std::string text;
    for (const std::string& of_row : rows) text += of_row;
    return text;
  }
  std::string Found(bool reversed = false) {
    Scan scan;
    scan.reversed = reversed;
    auto scanner = table_->OpenScanner(scan);
    if (!scanner.ok()) return scanner.status().ToString();
    std::string text;
    for (;;) {
      auto rows = (*scanner)->Next({.max_rows = 7});
      if (!rows.ok()) return rows.status().ToString();
      if (rows->empty()) return text;
      for (const RowCells& cells : *rows)
        for (const Cell& cell : cells)
          text += cell.row + "/" + cell.family + ":" + cell.qualifier + "=" + cell.value + " ";
    }
  }
  std::string FoundIn(const std::string& row) {
    Get get;
    get.row = row;
    const auto cells = table_->Read(get, clock_->Now());
    if (!cells.ok()) return cells.status().ToString();
    std::string text;
    for (const Cell& cell : *cells)
      text += cell.family + ":" + cell.qualifier + "=" + cell.value + " ";
    return text;
  }
  std::string ExpectedIn(const std::string& row) const {
    std::string text;
    for (const auto& [place, value] : model_) {
      const auto& [of_row, family, qualifier] = place;
      if (of_row == row) text += family + ":" + qualifier + "=" + value + " ";
    }
    return text;
  }
  void ExpectWhatWasWritten() {
    EXPECT_EQ(Found(), Expected());
    EXPECT_EQ(Found(true), Expected(true));
    for (int i = 0; i < 20; ++i) {
      const std::string row = AnyRow();
      EXPECT_EQ(FoundIn(row), ExpectedIn(row)) << row;
    }
  }
  // Of two files with a common row one is older, and none is much larger than a piece.
  void ExpectFilesInOrder() {
    const auto manifest = ReadManifestOfTable();
    ASSERT_OK(manifest);
    for (const FileFacts& a : manifest->files) {
      EXPECT_LE(a.bytes, 2 * kBytesOfPiece);
      const auto stored = ReadStoredFacts(table_path() + "/" + StoreFileName(a.number));
      ASSERT_OK(stored);
      EXPECT_EQ(stored->facts, a);
      for (const FileFacts& b : manifest->files) {
        if (a.number >= b.number || a.family != b.family) continue;
        const bool have_rows = a.first_row <= b.last_row && b.first_row <= a.last_row;
        const bool have_time = a.lowest <= b.highest && b.lowest <= a.highest;
        EXPECT_FALSE(have_rows && have_time) << a.number << " and " << b.number;
      }
    }
  }
  size_t Pieces() const {
    const auto manifest = ReadManifestOfTable();
    if (!manifest.ok() || !manifest->ranges.contains("f")) return 1;
    return manifest->ranges.at("f").cuts.size() + 1;
  }

  std::mt19937 random_{1};
  int rows_ = 900;
  int values_ = 0;
  Model model_;
};

TEST_F(KeyPiecesTest, WhateverIsFlushedAndCompactedItAnswersAsAMap) {
  for (int round = 0; round < 120 && !HasFailure(); ++round) {
    for (int i = 0; i < 40; ++i) WriteAny();
    ASSERT_OK(table_->Flush());
    if (Below(3) != 0) ASSERT_OK(table_->CompactSelected());
    if (Below(25) == 0) ASSERT_OK(table_->Compact(CompactionKind::kMinor));
    if (Below(25) == 0) ASSERT_OK(table_->Compact(CompactionKind::kMajor));
    if (Below(12) == 0) Reopen();
    if (round % 6 == 5) ExpectWhatWasWritten();
    if (round % 6 == 5) ExpectFilesInOrder();
  }
  EXPECT_GT(Pieces(), 5u);
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(table_->GetStatistics().major_compactions.at("f"), clock_->Now());
  EXPECT_EQ(Raw().find("Delete"), std::string::npos) << "nothing that is hidden is left";
  ExpectWhatWasWritten();
  ExpectFilesInOrder();
  // What the pieces had is gone, and so are they.
  for (int row = 0; row < rows_; ++row) {
    for (const char* const family : {"f", "g"})
      ASSERT_OK(Write("r" + std::to_string(1000 + row),
                      {CellOf("", clock_->Now(), "", CellType::kDeleteFamily, family)}));
  }
  ASSERT_OK(table_->Flush());
  clock_->Advance(1);
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "");
  EXPECT_EQ(Pieces(), 1u);
  EXPECT_TRUE(StoreFileNames().empty());
  EXPECT_TRUE(ReadManifestOfTable()->ranges.empty());
  EXPECT_EQ(table_->GetStatistics().major_compactions.at("f"), clock_->Now());
}

// As the background has it, and somebody asks for some as well.
TEST_F(KeyPiecesTest, CompactionsBesideEachOtherLoseNothing) {
  auto& compactor = static_cast<LocalTable&>(*table_).compactor();
  std::atomic<bool> stopped{false};
  std::atomic<int> done{0};
  const auto compact = [&](CompactionLength length) {
    while (!stopped) {
      const auto compacted = compactor.CompactByPolicy(length, [&] { return stopped.load(); });
      EXPECT_TRUE(compacted.ok()) << compacted.status().ToString();
      if (compacted.ok() && *compacted) ++done;
    }
  };
  std::thread any(compact, CompactionLength::kAny);
  std::thread brief(compact, CompactionLength::kShort);
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    for (int i = 0; i < 40; ++i) WriteAny();
    EXPECT_TRUE(table_->Flush().ok());
    if (round % 20 == 19) ExpectWhatWasWritten();
    if (round % 60 != 59) continue;
    EXPECT_TRUE(table_->Compact(CompactionKind::kMajor).ok());
  }
  while (done < 20 && !HasFailure()) usleep(1000);
  stopped = true;
  any.join();
  brief.join();
  EXPECT_GT(Pieces(), 5u);
  ExpectWhatWasWritten();
  ExpectFilesInOrder();
  Reopen();
  ExpectWhatWasWritten();
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw().find("Delete"), std::string::npos);
  ExpectWhatWasWritten();
}

// What is done gives its room back before the next begins.
TEST_F(KeyPiecesTest, ACompactionOfAllNeedsTheRoomOfAPiece) {
  constexpr uint64_t kLargePiece = uint64_t{8} * (64 << 10);
  options_.site.memstore_flush_size = 64 << 10;
  Reopen();
  for (int i = 0; i < 5000; ++i) {
    const std::string row = "r" + std::to_string(10000 + i * 7919 % 10007);
    ASSERT_OK(PutOne(row, 1, std::string(2000, 'x')));
    if (i % 500 == 499) ASSERT_OK(table_->Flush());
    if (i % 1000 == 999) ASSERT_OK(table_->CompactSelected());
  }
  ASSERT_GT(Pieces(), 8u);
  const auto bytes_on_disk = [&] {
    uint64_t bytes = 0;
    for (const std::string& name : StoreFileNames())
      bytes += std::filesystem::file_size(table_path() + "/" + name);
    return bytes;
  };
  uint64_t most = 0;
  files_.SetChangeHook([&] {
    most = std::max(most, bytes_on_disk());
    return false;
  });
  const uint64_t before = bytes_on_disk();
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  files_.SetChangeHook({});
  EXPECT_GT(before, 15 * kLargePiece);
  EXPECT_LT(most, before + 3 * kLargePiece);
}

// Nothing has to be rewritten for it.
TEST_F(KeyPiecesTest, AscendingKeysAreCutWhereTheirFilesEnd) {
  for (int file = 0; file < 40; ++file) {
    for (int i = 0; i < 4; ++i) {
      const int number = 1000 + 4 * file + i;
      ASSERT_OK(PutOne("r" + std::to_string(number), 1, std::string(2000, 'x')));
    }
    ASSERT_OK(table_->Flush());
  }
  EXPECT_GT(Pieces(), 5u);
  EXPECT_EQ(StoreFileNames().size(), 40u);
  EXPECT_EQ(table_->GetStatistics().major_compactions.at("f"), 0) << "there was none";
}

TEST_F(KeyPiecesTest, ATableOfOneFileIsCutAsItIsCompacted) {
  options_.site.memstore_flush_size = 1 << 30;
  Reopen();
  for (int i = 0; i < 2000; ++i) WriteAny();
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(StoreFileNames().size(), 2u);
  options_.site.memstore_flush_size = kFlushSize;
  Reopen();
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_GT(Pieces(), 3u);
  ExpectWhatWasWritten();
  ExpectFilesInOrder();
}

TEST_F(KeyPiecesTest, AFamilyThatIsDroppedAndMadeAnewIsWhole) {
  for (int i = 0; i < 1500; ++i) WriteAny();
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  ASSERT_GT(Pieces(), 1u);
  ASSERT_OK(table_->ReplaceSchema(TableOf({FamilyOf("g")})));
  EXPECT_FALSE(ReadManifestOfTable()->ranges.contains("f"));
  ASSERT_OK(table_->ReplaceSchema(schema_));
  std::erase_if(model_, [](const auto& cell) { return std::get<1>(cell.first) == "f"; });
  ExpectWhatWasWritten();
}

}  // namespace
}  // namespace cellfs
