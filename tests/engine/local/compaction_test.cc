// SPDX-License-Identifier: MIT
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
  auto moment = *engine_->PinMoment();
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

// What the background would take, and no more.
TEST_F(CompactionTest, FilesAreSelectedByTheirSizes) {
  const auto flush_one = [&](const std::string& row, size_t bytes) {
    ASSERT_OK(PutOne(row, 1, std::string(bytes, 'x')));
    ASSERT_OK(table_->Flush());
  };
  options_.site.memstore_flush_size = 1000;
  Reopen();
  flush_one("a", 200000);
  flush_one("b", 20000);
  flush_one("c", 20000);
  ASSERT_OK(table_->CompactSelected());
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "2.db", "3.db"}));
  flush_one("d", 20000);
  ASSERT_OK(table_->CompactSelected());
  EXPECT_EQ(StoreFileNames(), (std::vector<std::string>{"1.db", "5.db"}));
}

}  // namespace
}  // namespace cellfs
