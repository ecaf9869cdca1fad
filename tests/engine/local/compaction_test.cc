// SPDX-License-Identifier: MIT
#include <algorithm>
#include <random>

#include "engine/local/rewrite.h"
#include "engine/visibility/vector_cursor.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

class CompactionTest : public EngineTest {
 protected:
  void Alter(const FamilyAttributes& attributes) {
    schema_ = TableOf({FamilyOf("f", attributes)});
    ASSERT_OK(table_->ReplaceSchema(schema_));
  }
  Status Tombstone(const std::string& row, Timestamp timestamp, CellType type,
                   std::string qualifier = "q") {
    return Write(row, {CellOf(std::move(qualifier), timestamp, "", type)});
  }
  CompactionTest() { Open(); }
};

TEST_F(CompactionTest, MinorKeepsTombstonesAndMajorDropsThem) {
  ASSERT_OK(PutOne("a", 3, "hidden"));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(Tombstone("a", 4, CellType::kDeleteColumn));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMinor));
  EXPECT_EQ(Raw(), "a/f:q/4/DeleteColumn= ");
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "");
  EXPECT_EQ(table_->GetStatistics().compactions, 2u);
}

TEST_F(CompactionTest, TheMemstoreIsLeftAlone) {
  ASSERT_OK(Tombstone("a", 4, CellType::kDeleteColumn));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("a", 3, "shows again"));
  EXPECT_EQ(Visible(), "");
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Visible(), "a/f:q/3=shows again ");
}

TEST_F(CompactionTest, VersionsOfSeveralFlushesAreCountedTogether) {
  for (int t = 1; t <= 5; ++t) {
    ASSERT_OK(PutOne("a", t, std::to_string(t)));
    ASSERT_OK(table_->Flush());
  }
  ASSERT_OK(table_->Compact(CompactionKind::kMinor));
  EXPECT_EQ(Raw(), "a/f:q/5=5 a/f:q/4=4 a/f:q/3=3 ");
}

TEST_F(CompactionTest, AMomentHoldsNothingUpAndReadsTheFilesThatWere) {
  ASSERT_OK(PutOne("a", 3, "v"));
  auto moment = *engine_->PinMoment("");
  const std::string then = Visible(moment);
  ASSERT_OK(PutOne("a", 2, "later"));
  ASSERT_OK(Tombstone("a", 4, CellType::kDeleteColumn));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "");
  EXPECT_EQ(Visible(moment), then);
  EXPECT_EQ(StoreFileNames().size(), 1u) << "held by the moment";
  moment.reset();
  EXPECT_TRUE(StoreFileNames().empty());
}

// HBase looks at the store files alone: an older put in the memstore does not keep the tombstone.
TEST_F(CompactionTest, KeptTombstonesGoOnceTheyAreOlderThanEveryFlushedPut) {
  Alter({{"VERSIONS", "5"}, {"KEEP_DELETED_CELLS", "TRUE"}});
  ASSERT_OK(PutOne("r", 20, "v"));
  ASSERT_OK(PutOne("x", 9, "older"));
  ASSERT_OK(Tombstone("r", 10, CellType::kDeleteColumn));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "r/f:q/20=v r/f:q/10/DeleteColumn= x/f:q/9=older ");
  ASSERT_OK(table_->Truncate());
  ASSERT_OK(PutOne("r", 20, "v"));
  ASSERT_OK(Tombstone("r", 10, CellType::kDeleteColumn));
  ASSERT_OK(table_->Flush());
  ASSERT_OK(PutOne("x", 9, "older"));
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "r/f:q/20=v x/f:q/9=older ");
}

TEST_F(CompactionTest, ManyRowsAndWideRowsGoWholeAndGiveTheirRoomBack) {
  const std::string value(300, 'x');
  std::vector<Cell> wide;
  for (int i = 0; i < 20000; ++i) wide.push_back(CellOf(std::to_string(i), 1, value));
  ASSERT_OK(Write("m wide", wide));
  for (int i = 0; i < 20000; ++i) ASSERT_OK(PutOne("r" + std::to_string(i), 1, value));
  ASSERT_OK(PutOne("kept", 1, "kept"));
  ASSERT_OK(table_->Flush());
  const uint64_t before = table_->GetStatistics().file_bytes;
  EXPECT_GT(before, 12000000u);
  ASSERT_OK(Tombstone("m wide", 5, CellType::kDeleteFamily, ""));
  for (int i = 0; i < 20000; ++i) {
    ASSERT_OK(Tombstone("r" + std::to_string(i), 5, CellType::kDeleteColumn));
  }
  ASSERT_OK(table_->Flush());
  ASSERT_OK(table_->Compact(CompactionKind::kMajor));
  EXPECT_EQ(Raw(), "kept/f:q/1=kept ");
  EXPECT_LT(table_->GetStatistics().file_bytes, 200000u);
}

TEST_F(CompactionTest, GarbageIsNoticedAndCleanedUpInTheBackground) {
  options_.background_maintenance = true;
  options_.site.memstore_flush_size = 100000;
  Reopen();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 4000; ++i) {
      ASSERT_OK(PutOne("r" + std::to_string(i), round + 1, std::to_string(round)));
    }
  }
  for (int i = 0; table_->GetStatistics().compactions == 0;
       ++i) {  // else the test ends by its time
    ASSERT_OK(PutOne("r" + std::to_string(i % 4000), 10 + i / 4000, "x"));
    usleep(100);
  }
}

// To write them anew costs more than it saves, unless half of what is written is garbage.
TEST_F(CompactionTest, LongValuesAreLeftAloneUntilHalfOfThemIsGarbage) {
  Alter({{"VERSIONS", "1"}});
  const auto flush_round = [&](int round, int first) {
    for (int i = 0; i < 140; ++i) {
      const std::string value = std::to_string(round) + std::string(65536, 'x');
      ASSERT_OK(PutOne("r" + std::to_string(first + 5 * i), round, value));
    }
    ASSERT_OK(table_->Flush());
    ASSERT_OK(table_->CompactSelected());
  };
  for (int first = 0; first < 5; ++first) flush_round(1, first);
  EXPECT_EQ(StoreFileNames().size(), 5u);
  for (int first = 0; first < 4; ++first) flush_round(2, first);
  EXPECT_EQ(StoreFileNames().size(), 9u) << "four of nine are overwritten";
  flush_round(2, 4);
  flush_round(3, 0);
  flush_round(3, 1);
  EXPECT_LE(StoreFileNames().size(), 3u);
  EXPECT_LT(table_->GetStatistics().file_bytes, 7u * 140 * 66000);
  EXPECT_EQ(ValueOf("r3").front(), '2');
  EXPECT_EQ(ValueOf("r6").front(), '3');
}

// What the background would take, and no more.
TEST_F(CompactionTest, FilesAreSelectedByTheirSizes) {
  // Of one row, or the key range would be cut between them.
  const auto flush_one = [&](Timestamp timestamp, size_t bytes) {
    ASSERT_OK(PutOne("a", timestamp, std::string(bytes, 'x')));
    ASSERT_OK(table_->Flush());
  };
  options_.site.memstore_flush_size = 1000;
  Reopen();
  flush_one(1, 200000);
  flush_one(2, 20000);
  flush_one(3, 20000);
  ASSERT_OK(table_->CompactSelected());
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "2.db", "3.db"}));
  flush_one(4, 20000);
  ASSERT_OK(table_->CompactSelected());
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "5.db"}));
}

using Cells = std::vector<Cell>;

Cells Rewritten(const std::vector<Cells>& files, RewriteKind kind, const Cells& withdrawals = {},
                SequenceId highest = kMaxSequenceId) {
  RewriteInput input;
  for (const Cells& cells : files)
    input.cells.push_back(MakeVectorCursor(std::make_shared<const Cells>(cells)));
  input.newer_withdrawals.push_back(
      MakeVectorCursor(std::make_shared<const Cells>(withdrawals)));
  input.highest = highest;
  input.is_withdrawn_in_memory = [](const CellView&) { return false; };
  input.older_may_hold = [&](const CellView&) { return kind == RewriteKind::kMinor; };
  Cells left;
  DroppedColumns dropped;
  const RewriteOutput output = [&](CellCursor& cells) {
    left.push_back(CopyOf(cells.cell()));
    return Status();
  };
  EXPECT_TRUE(RewriteFamily(std::move(input), FamilyOf("f", {{"VERSIONS", "2"}}),
                            {.kind = kind, .now = 1000}, output, dropped)
                  .ok());
  return left;
}

Cells OfType(const Cells& cells, const std::function<bool(CellType)>& wanted) {
  Cells found;
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(found),
               [&](const Cell& cell) { return wanted(cell.type); });
  return found;
}

// A file alone may lose what newer files hide: with these it stays what it was.
TEST(ThinningTest, WhatNewerFilesHideIsMissedByNobody) {
  static constexpr CellType kTypes[] = {CellType::kPut, CellType::kPut, CellType::kDelete,
                                        CellType::kDeleteColumn, CellType::kDeleteFamily};
  std::mt19937 random(7);
  size_t thinned = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    std::vector<Cells> files(2);
    for (SequenceId sequence = 1; sequence <= 16; ++sequence) {
      Cell cell;
      cell.type = kTypes[random() % std::size(kTypes)];
      cell.row = std::string(1, static_cast<char>('a' + random() % 2));
      cell.family = "f";
      cell.qualifier = cell.type == CellType::kDeleteFamily || random() % 3 == 0 ? "" : "q";
      cell.timestamp = 1 + static_cast<Timestamp>(random() % 5);
      cell.sequence_id = sequence;
      if (sequence > 8 && random() % 4 == 0) {  // takes back one of before
        const Cells& older = files[random() % 2];
        if (!older.empty()) {
          cell = older[random() % older.size()];
          if (cell.type == kWithdrawMarker) continue;
          cell.value = std::string(1, static_cast<char>(cell.type));
          cell.value_length = 1;
          cell.type = kWithdrawMarker;
          cell.sequence_id = sequence;
        }
      }
      files[sequence <= 8 ? 0 : 1].push_back(cell);
    }
    for (Cells& cells : files)
      std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
        return a.row != b.row ? a.row < b.row : CompareInFamily(ViewOf(a), ViewOf(b)) < 0;
      });
    const auto is_withdrawal = [](CellType type) { return type == kWithdrawMarker; };
    const auto is_delete = [&](CellType type) { return IsTombstone(type) && !is_withdrawal(type); };
    const Cells left = Rewritten({files[0], OfType(files[1], is_delete)}, RewriteKind::kMinor,
                                 OfType(files[1], is_withdrawal), /*highest=*/8);
    thinned += files[0].size() - left.size();
    for (const Cell& cell : left) EXPECT_LE(cell.sequence_id, 8u);
    EXPECT_EQ(Rewritten({left, files[1]}, RewriteKind::kMajor),
              Rewritten(files, RewriteKind::kMajor));
  }
  EXPECT_GT(thinned, 2000u);
}

}  // namespace
}  // namespace cellfs
