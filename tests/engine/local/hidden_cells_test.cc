// SPDX-License-Identifier: MIT
//
// A compaction puts apart what its tombstones hide, and reads that leave it out see what they would
// see with it. The oracle is the other store's idea of a read, given every stored cell.
#include <map>
#include <random>

#include "engine/file/store_file_cursor.h"
#include "engine/memory/naive_read.h"
#include "tests/engine/local/engine_fixture.h"

namespace cellfs {
namespace {

constexpr int32_t kMostVersions = 3;

class HiddenCellsTest : public EngineTest {
 protected:
  HiddenCellsTest() {
    schema_ = KeptWith({{"KEEP_DELETED_CELLS", "TRUE"}});
    Open();
  }
  static std::shared_ptr<const TableSchema> KeptWith(FamilyAttributes attributes) {
    attributes.emplace_back("VERSIONS", std::to_string(kMostVersions));
    return TableOf({FamilyOf("f", attributes)});
  }
  Status Delete(const std::string& row, Timestamp timestamp,
                CellType type = CellType::kDeleteColumn, std::string qualifier = "q") {
    return Write(row, {CellOf(std::move(qualifier), timestamp, "", type)});
  }
  void FlushAndCompact(CompactionKind kind = CompactionKind::kMajor) {
    ASSERT_OK(table_->Flush());
    ASSERT_OK(table_->Compact(kind));
  }
  int64_t HiddenInFiles() const {
    int64_t cells = 0;
    const Manifest manifest = *ReadManifestOfTable();
    for (const FileFacts& facts : manifest.files) cells += facts.hidden.cells;
    return cells;
  }
  std::string Between(Timestamp min, Timestamp max) {
    Scan scan;
    scan.max_versions = kAllVersions;
    scan.time_range = {min, max};
    return ScanText(scan);
  }
};

TEST_F(HiddenCellsTest, WhatATombstoneHidesIsPutApartWithIt) {
  ASSERT_OK(PutOne("a", 3, "hidden"));
  ASSERT_OK(Delete("a", 4));
  ASSERT_OK(PutOne("a", 5, "shown"));
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(HiddenInFiles(), 0);
  FlushAndCompact();
  EXPECT_EQ(HiddenInFiles(), 2);
  EXPECT_EQ(Visible(), "a/f:q/5=shown ");
  EXPECT_EQ(Raw(), "a/f:q/5=shown a/f:q/4/DeleteColumn= a/f:q/3=hidden ");
  EXPECT_EQ(Between(0, 4), "a/f:q/3=hidden ") << "the past, before the tombstone";
  Reopen();
  EXPECT_EQ(Visible(), "a/f:q/5=shown ");
  EXPECT_EQ(Raw(), "a/f:q/5=shown a/f:q/4/DeleteColumn= a/f:q/3=hidden ");
  FlushAndCompact();
  EXPECT_EQ(HiddenInFiles(), 2) << "what was told is told again";
}

TEST_F(HiddenCellsTest, WhatIsWrittenBelowATombstoneIsHidden) {
  ASSERT_OK(PutOne("a", 2, "hidden"));
  ASSERT_OK(Delete("a", 4));
  FlushAndCompact();
  ASSERT_OK(PutOne("a", 3, "later, and below"));
  EXPECT_EQ(Visible(), "");
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Visible(), "");
  ASSERT_OK(PutOne("a", 6, "above"));
  EXPECT_EQ(Visible(), "a/f:q/6=above ");
}

TEST_F(HiddenCellsTest, AWithdrawnTombstoneHidesNothing) {
  ASSERT_OK(PutOne("a", 3, "back"));
  ASSERT_OK(Delete("a", 4));
  FlushAndCompact();
  ASSERT_OK(Write("a", {}, {{"f", "q", 4, CellType::kDeleteColumn}}));
  EXPECT_EQ(Visible(), "a/f:q/3=back ");
  ASSERT_OK(table_->Flush());
  EXPECT_EQ(Visible(), "a/f:q/3=back ");
  FlushAndCompact();
  EXPECT_EQ(Visible(), "a/f:q/3=back ");
  EXPECT_EQ(HiddenInFiles(), 0);
}

TEST_F(HiddenCellsTest, ATombstoneWithATtlOfItsOwnIsNotTold) {
  Cell tombstone = CellOf("q", 1000000, "", CellType::kDeleteColumn);
  tombstone.time_to_live = 5000;
  ASSERT_OK(PutOne("a", 999999, "back after a while"));
  ASSERT_OK(Write("a", {tombstone}));
  FlushAndCompact();
  EXPECT_EQ(HiddenInFiles(), 0);
  EXPECT_EQ(Visible(), "");
  clock_->Set(1006000);
  EXPECT_EQ(Visible(), "a/f:q/999999=back after a while ");
}

// WhileMatchFilter ends a scan at the first row that it refuses, shown or not.
TEST_F(HiddenCellsTest, AFilterThatRemembersRowsSeesThoseThatAreHidden) {
  ASSERT_OK(PutOne("a", 5, "first"));
  ASSERT_OK(PutOne("ab", 3, "hidden"));
  ASSERT_OK(Delete("ab", 4));
  ASSERT_OK(PutOne("b", 5, "behind the hidden one"));
  const FilterPtr not_ab =
      *MakeRowFilter(CompareOperator::kNotEqual, {.value = "ab"});
  Scan scan;
  scan.filter = *MakeFilterList(ListOperator::kMustPassAll, {*MakeWhileMatchFilter(not_ab)});
  const std::string before = ScanText(scan);
  EXPECT_EQ(before, "a/f:q/5=first ");
  FlushAndCompact();
  EXPECT_EQ(HiddenInFiles(), 2);
  EXPECT_EQ(ScanText(scan), before);
}

TEST_F(HiddenCellsTest, TheSqliteShellShowsThemInATableOfTheirOwn) {
  ASSERT_OK(PutOne("a", 3, "hidden"));
  ASSERT_OK(Delete("a", 4));
  FlushAndCompact();
  FileCache cache(1 << 20, 1);
  auto database = Database::OpenImmutable(table_path() + "/" + StoreFileNames().front(),
                                          cache.blocks, cache.blocks.NewOwner());
  ASSERT_OK(database);
  EXPECT_EQ(*(*database)->QueryInteger("SELECT count(*) FROM cells"), 0);
  EXPECT_EQ(*(*database)->QueryInteger("SELECT count(*) FROM hidden WHERE K = x'61'"), 2);
  EXPECT_EQ(*(*database)->QueryInteger("SELECT value FROM facts WHERE name = 'hidden_cells'"), 2);
}

// ---- A law --------------------------------------------------------------------------------------

class HiddenCellsLawTest : public HiddenCellsTest {
 protected:
  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }
  std::string SomeOf(const char* letters, int count) {
    return std::string(1, letters[Below(count)]);
  }

  Cell SomeCell() {
    constexpr CellType kTypes[] = {CellType::kPut,          CellType::kPut,
                                   CellType::kPut,          CellType::kDelete,
                                   CellType::kDeleteColumn, CellType::kDeleteFamily,
                                   CellType::kDeleteFamilyVersion};
    const CellType type = kTypes[Below(7)];
    Cell cell = CellOf(IsFamilyTombstone(type) ? "" : Below(5) == 0 ? "" : SomeOf("pq", 2),
                       1 + Below(12), "", type);
    if (type == CellType::kPut) cell.value = std::to_string(++written_);
    if (Below(10) == 0) cell.time_to_live = 1000000;
    return cell;
  }
  // Most of what is written lies above what was: tombstones hide what comes below them for ever.
  void Step() {
    const std::string row = SomeOf("abc", 3);
    switch (Below(12)) {
      case 0:
        return FlushAndCompact(CompactionKind::kMajor);
      case 1:
        return FlushAndCompact(CompactionKind::kMinor);
      case 2:
        ASSERT_OK(table_->Flush());
        return;
      case 3:
        moments_.push_back(*engine_->PinMoment(""));
        if (moments_.size() > 3) moments_.erase(moments_.begin());
        return;
      case 4: {
        const Cell cell = SomeCell();
        ASSERT_OK(Write(row, {}, {{"f", cell.qualifier, base_ + cell.timestamp, cell.type}}));
        return;
      }
      default: {
        if (Below(4) == 0) base_ += 6;
        Cell cell = SomeCell();
        cell.timestamp += base_;
        ASSERT_OK(Write(row, {std::move(cell)}));
      }
    }
  }

  Scan SomeScan() {
    Scan scan;
    scan.max_versions = Below(2) == 0 ? 1 : kAllVersions;
    if (Below(3) == 0) scan.time_range.max = base_ - 20 + Below(36);
    if (Below(4) == 0) scan.time_range.min = std::max<Timestamp>(0, base_ - 30 + Below(36));
    if (scan.time_range.max <= scan.time_range.min) scan.time_range = {};
    if (Below(3) == 0) scan.columns["f"] = {SomeOf("pq", 2)};
    if (Below(3) == 0) {
      scan.start_row = scan.stop_row = SomeOf("abc", 3);
      scan.include_stop_row = true;
    }
    if (!moments_.empty() && Below(2) == 0)
      scan.moment = moments_[static_cast<size_t>(Below(static_cast<int>(moments_.size())))];
    return scan;
  }

  // What the scan gives by the other idea of it.
  std::string Expected(const Scan& scan) {
    Scan raw;
    raw.raw = true;
    raw.max_versions = kAllVersions;
    raw.moment = scan.moment;
    std::map<std::string, std::vector<Cell>> rows;
    auto scanner = *table_->OpenScanner(raw);
    for (;;) {
      auto batch = *scanner->Next({.max_rows = 3});
      if (batch.empty()) break;
      for (const RowCells& cells : batch)
        for (const Cell& cell : cells) rows[cell.row].push_back(cell);
    }
    NaiveReader reader(scan, schema_, 0);
    std::string text;
    for (const auto& [row, cells] : rows) {
      if (!scan.start_row.empty() && row != scan.start_row) continue;
      CellList list;
      for (const Cell& cell : cells) list.push_back(&cell);
      for (const Cell& cell : *reader.ReadRow(row, {{"f", list}}, clock_->Now()))
        text += TextOf(cell);
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::shared_ptr<const Moment>> moments_;
  Timestamp base_ = 100;
  int written_ = 0;
};

TEST_F(HiddenCellsLawTest, ReadsThatLeaveThemOutSeeWhatOthersSee) {
  int with_hidden = 0;
  for (const char* const keep : {"TRUE", "FALSE", "TTL"}) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(std::string(keep) + ", seed " + std::to_string(seed));
      random_.seed(seed);
      moments_.clear();
      base_ = 100;
      schema_ = KeptWith({{"KEEP_DELETED_CELLS", keep}});
      ASSERT_OK(table_->Truncate());
      ASSERT_OK(table_->ReplaceSchema(schema_));
      for (int step = 0; step < 250; ++step) {
        Step();
        ASSERT_FALSE(HasFatalFailure()) << step;
        if (HiddenInFiles() > 0) ++with_hidden;
        for (int i = 0; i < 4; ++i) {
          const Scan scan = SomeScan();
          ASSERT_EQ(ScanText(scan), Expected(scan)) << "step " << step;
        }
      }
    }
  }
  EXPECT_GT(with_hidden, 1000) << "else it has tried little";
}

}  // namespace
}  // namespace cellfs
