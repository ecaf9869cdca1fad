// SPDX-License-Identifier: MIT
//
// A merge against a plain sorted list: whatever is asked of it in whatever order, it stands where
// the list of all cells, less what is withdrawn, has its next cell.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/visibility/cells.h"

namespace cellfs {
namespace {

class RandomMerge {
 public:
  explicit RandomMerge(uint32_t seed) : random_(seed) {
    std::vector<std::vector<Cell>> lists(1 + Below(12));
    const int cells = Below(120);
    for (SequenceId sequence = 1; sequence <= static_cast<SequenceId>(cells); ++sequence) {
      lists[static_cast<size_t>(Below(static_cast<int>(lists.size())))].push_back(
          RandomCell(sequence));
    }
    std::vector<std::unique_ptr<CellCursor>> cursors;
    for (std::vector<Cell>& list : lists) {
      Timestamp newest = 0;
      for (const Cell& cell : list) newest = std::max(newest, cell.timestamp);
      all_.insert(all_.end(), list.begin(), list.end());
      const Timestamp told[] = {newest, newest + 1, kLatestTimestamp};
      cursors.push_back(
          std::make_unique<CountingCursor>(CursorOver(std::move(list)), &moves_, told[Below(3)]));
    }
    all_ = Sorted(std::move(all_));
    std::vector<Cell> seen;
    for (const Cell& cell : all_) {
      if (!IsHidden(cell)) seen.push_back(cell);
    }
    expected_ = CursorOver(std::move(seen));
    merge_ = MergeCursors(std::move(cursors));
  }

  // Empty: the same. Else what was done and what differed.
  std::string Play(int steps) {
    std::string done;
    for (int step = 0; step < steps; ++step) {
      done += MoveBoth() + " ";
      if (std::string difference = Difference(); !difference.empty()) return done + difference;
    }
    return {};
  }

 private:
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::string Row() { return std::string(1, static_cast<char>('a' + Below(3))); }
  std::string Qualifier() {
    static const std::string names[] = {"", "q", "qq", "r"};
    return names[Below(4)];
  }

  Cell RandomCell(SequenceId sequence) {
    static const CellType types[] = {CellType::kPut, CellType::kPut, CellType::kDelete,
                                     CellType::kDeleteColumn};
    const CellType type = types[Below(4)];
    const Timestamp timestamp = Below(8);
    if (Below(4) == 0) return WithdrawalOf(Row(), Qualifier(), timestamp, sequence, type);
    if (Below(8) == 0) return TombstoneOf(Row(), CellType::kDeleteFamily, "", timestamp, sequence);
    Cell cell = PutOf(Row(), Qualifier(), timestamp, sequence);
    cell.type = type;
    return cell;
  }

  // The rule, said without an order.
  bool IsHidden(const Cell& cell) const {
    if (cell.type == kWithdrawMarker) return true;
    return std::any_of(all_.begin(), all_.end(), [&](const Cell& marker) {
      return marker.type == kWithdrawMarker && marker.row == cell.row &&
             marker.qualifier == cell.qualifier && marker.timestamp == cell.timestamp &&
             static_cast<CellType>(marker.value[0]) == cell.type &&
             cell.sequence_id < marker.sequence_id;
    });
  }

  std::string MoveBoth() {
    const int move = Below(10);
    if (move == 0) {
      const std::string row = Below(4) == 0 ? std::string() : Row();
      EXPECT_TRUE(merge_->SeekToRowBefore(row).ok());
      EXPECT_TRUE(expected_->SeekToRowBefore(row).ok());
      return "before:" + row;
    }
    if (move < 6 && expected_->valid()) {
      EXPECT_TRUE(merge_->Next().ok());
      EXPECT_TRUE(expected_->Next().ok());
      return "next";
    }
    const std::string row = Row();
    const std::string qualifier = Qualifier();
    const Timestamp timestamp = Below(3) == 0 ? kLatestTimestamp : Below(9);
    EXPECT_TRUE(merge_->Seek({row, qualifier, timestamp}).ok());
    EXPECT_TRUE(expected_->Seek({row, qualifier, timestamp}).ok());
    return "seek:" + row + qualifier + std::to_string(timestamp);
  }

  std::string Difference() const {
    if (merge_->valid() != expected_->valid()) return merge_->valid() ? "goes on" : "ends";
    if (!merge_->valid()) return {};
    const Cell got = CopyOf(merge_->cell());
    const Cell wanted = CopyOf(expected_->cell());
    if (got == wanted) return {};
    return "is at sequence id " + std::to_string(got.sequence_id) + ", not " +
           std::to_string(wanted.sequence_id);
  }

  std::mt19937 random_;
  int moves_ = 0;
  std::vector<Cell> all_;
  std::unique_ptr<CellCursor> merge_;
  std::unique_ptr<CellCursor> expected_;
};

TEST(MergePropertyTest, IsTheSortedListLessWhatIsWithdrawn) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    ASSERT_EQ(RandomMerge(seed).Play(60), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace cellfs
