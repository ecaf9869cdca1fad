// SPDX-License-Identifier: MIT
//
// The merge of a memstore or two and up to some twenty store files: the smallest of their cells
// comes next. The children are kept in the order of their cells, so that a step which stays before
// the runner-up, as most do, costs one comparison, and any other a binary search.
//
// After a seek to a place in a column, the children that are too old to have a cell there wait,
// newest first, at the place where their first cell could be (HBase's requestSeek). Such a child is
// sought when the stream comes to that place: a Get of the latest version that a newer child
// answers never touches it.
#include <algorithm>
#include <string>

#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/withdrawals.h"

namespace cellfs {
namespace {

class MergeCursor : public CellCursor {
 public:
  enum class Withdrawn { kHide, kShow };

  MergeCursor(std::vector<std::unique_ptr<CellCursor>> cursors,
              const std::optional<CursorScope>& scope, Withdrawn withdrawn)
      : scope_(scope), hides_(withdrawn == Withdrawn::kHide) {
    children_.reserve(cursors.size());
    for (auto& cursor : cursors) {
      const Timestamp newest = cursor->newest();
      children_.push_back({std::move(cursor), newest});
    }
    std::stable_sort(children_.begin(), children_.end(),
                     [](const Child& a, const Child& b) { return a.newest > b.newest; });
    heads_.reserve(children_.size());
  }

  Status Seek(const CellPlace& place) override {
    CELLFS_RETURN_IF_ERROR(SeekAll(place));
    return SkipWithdrawn();
  }

  Status SeekToRowBefore(std::string_view row) override {
    std::string bound(row);
    while (true) {
      std::string_view largest;
      bool found = false;
      for (Child& child : children_) {
        CellCursor& cursor = *child.cursor;
        CELLFS_RETURN_IF_ERROR(cursor.SeekToRowBefore(bound));
        if (!cursor.valid() || (found && cursor.cell().row <= largest)) continue;
        largest = cursor.cell().row;
        found = true;
      }
      const std::string chosen(largest);
      BeginSeek(children_.size());
      if (!found) return {};
      for (Child& child : children_) {
        CellCursor& cursor = *child.cursor;
        if (!cursor.valid() || cursor.cell().row != chosen) {
          CELLFS_RETURN_IF_ERROR(cursor.Seek({.row = chosen}));
        }
        AddHead(cursor);
      }
      CELLFS_RETURN_IF_ERROR(SkipWithdrawn());
      if (valid() && cell().row == chosen) return {};
      bound = chosen;  // all of that row was withdrawn
    }
  }

  Status Next() override {
    CELLFS_RETURN_IF_ERROR(Step());
    return SkipWithdrawn();
  }

  bool valid() const override { return !heads_.empty(); }
  const CellView& cell() const override { return heads_.front()->cell(); }
  Status LoadValue() override { return heads_.front()->LoadValue(); }
  void TakeValue(std::string* value) override { heads_.front()->TakeValue(value); }
  StatusOr<bool> MayHaveFamilyTombstones(std::string_view row) override {
    for (Child& child : children_) {
      CELLFS_ASSIGN_OR_RETURN(const bool may, child.cursor->MayHaveFamilyTombstones(row));
      if (may) return true;
    }
    return false;
  }
  Timestamp newest() const override { return children_.empty() ? 0 : children_.front().newest; }

 private:
  struct Child {
    std::unique_ptr<CellCursor> cursor;
    Timestamp newest;
  };

  Status SkipWithdrawn() {
    while (hides_ && valid() && withdrawals_.Hides(cell())) CELLFS_RETURN_IF_ERROR(PassWithdrawn());
    return {};
  }

  // To the next cell or, where this one lies outside the scope, to the next inside.
  Status PassWithdrawn() {
    if (!scope_) return Step();
    if (cell().row != scope_->row) return End();
    // Family tombstones lie in the empty column.
    if (scope_->columns.AreAll() || cell().qualifier.empty()) return Step();
    const auto asked = scope_->columns.FirstFrom(cell().qualifier);
    if (!asked) return End();
    if (*asked == cell().qualifier) return Step();
    return SeekAll({.row = scope_->row, .qualifier = *asked});
  }

  Status Step() {
    CellCursor* const current = heads_.front();
    CELLFS_RETURN_IF_ERROR(current->Next());
    if (!current->valid()) {
      heads_.erase(heads_.begin());
    } else if (heads_.size() > 1 && InOrder(heads_[1], current)) {
      const auto place = std::upper_bound(heads_.begin() + 2, heads_.end(), current, InOrder);
      std::rotate(heads_.begin(), heads_.begin() + 1, place);
    }
    return SeekWaiting();
  }

  Status End() {
    BeginSeek(children_.size());
    return {};
  }

  Status SeekAll(const CellPlace& place) {
    // Family tombstones, which may have any timestamp, lie at the row's begin.
    size_t to_seek = children_.size();
    if (!place.qualifier.empty()) {
      while (to_seek > 0 && children_[to_seek - 1].newest < place.timestamp) --to_seek;
    }
    BeginSeek(to_seek);
    if (sought_ < children_.size()) {
      row_ = place.row;
      qualifier_ = place.qualifier;
      timestamp_ = place.timestamp;
    }
    for (size_t i = 0; i < sought_; ++i) {
      CELLFS_RETURN_IF_ERROR(children_[i].cursor->Seek(place));
      AddHead(*children_[i].cursor);
    }
    return SeekWaiting();
  }

  // So many children are about to be sought, and the rest waits.
  void BeginSeek(size_t to_seek) {
    withdrawals_.Reset();
    heads_.clear();
    sought_ = to_seek;
  }

  // Seeks the waiting children that may come before the smallest cell.
  Status SeekWaiting() {
    while (sought_ < children_.size()) {
      const CellPlace first{row_, qualifier_, children_[sought_].newest};
      if (valid() && IsBefore(cell(), first)) return {};
      CellCursor& cursor = *children_[sought_++].cursor;
      CELLFS_RETURN_IF_ERROR(cursor.Seek({row_, qualifier_, timestamp_}));
      AddHead(cursor);
    }
    return {};
  }

  void AddHead(CellCursor& cursor) {
    if (!cursor.valid()) return;
    heads_.insert(std::upper_bound(heads_.begin(), heads_.end(), &cursor, InOrder), &cursor);
  }

  static bool InOrder(const CellCursor* a, const CellCursor* b) {
    return IsBefore(a->cell(), b->cell());
  }

  std::vector<Child> children_;  // newest first
  const std::optional<CursorScope> scope_;
  const bool hides_;                // what was withdrawn, and what withdraws it
  std::vector<CellCursor*> heads_;  // those sought that are valid, in the order of their cells
  // How many children have been sought; the rest waits, since the last seek, to be sought to:
  size_t sought_ = 0;
  std::string row_;
  std::string qualifier_;
  Timestamp timestamp_ = 0;
  Withdrawals withdrawals_;
};

}  // namespace

std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> cursors,
                                         const std::optional<CursorScope>& scope) {
  return std::make_unique<MergeCursor>(std::move(cursors), scope, MergeCursor::Withdrawn::kHide);
}

std::unique_ptr<CellCursor> MergeAllCells(std::vector<std::unique_ptr<CellCursor>> cursors) {
  return std::make_unique<MergeCursor>(std::move(cursors), std::nullopt,
                                       MergeCursor::Withdrawn::kShow);
}

}  // namespace cellfs
