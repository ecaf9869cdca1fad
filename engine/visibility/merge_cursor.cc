// SPDX-License-Identifier: MIT
//
// The merge of a few cursors: the smallest of their cells comes next. There are at most three of
// them (memstore, memstore being flushed, store file), so a linear look beats a heap.
#include <string>

#include "engine/visibility/cell_cursor.h"
#include "engine/visibility/withdrawals.h"

namespace cellfs {
namespace {

class MergeCursor : public CellCursor {
 public:
  MergeCursor(std::vector<std::unique_ptr<CellCursor>> cursors,
              const std::optional<CursorScope>& scope)
      : cursors_(std::move(cursors)), scope_(scope) {}

  Status Seek(const CellPlace& place) override {
    CELLFS_RETURN_IF_ERROR(SeekAll(place));
    return SkipWithdrawn();
  }

  Status SeekToRowBefore(std::string_view row) override {
    std::string bound(row);
    while (true) {
      std::string_view largest;
      bool found = false;
      for (auto& cursor : cursors_) {
        CELLFS_RETURN_IF_ERROR(cursor->SeekToRowBefore(bound));
        if (!cursor->valid() || (found && cursor->cell().row <= largest)) continue;
        largest = cursor->cell().row;
        found = true;
      }
      if (!found) return SkipWithdrawn();
      std::string chosen(largest);
      for (auto& cursor : cursors_) {
        if (cursor->valid() && cursor->cell().row == chosen) continue;
        CELLFS_RETURN_IF_ERROR(cursor->Seek({.row = chosen}));
      }
      CELLFS_RETURN_IF_ERROR(SkipWithdrawn());
      if (valid() && cell().row == chosen) return {};
      bound = std::move(chosen);  // all of that row was withdrawn
    }
  }

  Status Next() override {
    CELLFS_RETURN_IF_ERROR(current_->Next());
    return SkipWithdrawn();
  }

  bool valid() const override { return current_ != nullptr; }
  const CellView& cell() const override { return current_->cell(); }
  Status LoadValue() override { return current_->LoadValue(); }
  void TakeValue(std::string* value) override { current_->TakeValue(value); }
  StatusOr<bool> MayHaveFamilyTombstones(std::string_view row) override {
    for (auto& cursor : cursors_) {
      CELLFS_ASSIGN_OR_RETURN(const bool may, cursor->MayHaveFamilyTombstones(row));
      if (may) return true;
    }
    return false;
  }

 private:
  Status SkipWithdrawn() {
    ChooseSmallest();
    while (current_ != nullptr && withdrawals_.Hides(current_->cell())) {
      CELLFS_RETURN_IF_ERROR(PassWithdrawn());
    }
    return {};
  }

  // To the next cell or, where this one lies outside the scope, to the next inside.
  Status PassWithdrawn() {
    const CellView& cell = current_->cell();
    if (!scope_) return Step();
    if (cell.row != scope_->row) return End();
    // Family tombstones lie in the empty column.
    if (scope_->columns == nullptr || cell.qualifier.empty()) return Step();
    const auto asked = scope_->columns->lower_bound(std::string(cell.qualifier));
    if (asked == scope_->columns->end()) return End();
    if (*asked == cell.qualifier) return Step();
    CELLFS_RETURN_IF_ERROR(SeekAll({.row = scope_->row, .qualifier = *asked}));
    ChooseSmallest();
    return {};
  }

  Status Step() {
    CELLFS_RETURN_IF_ERROR(current_->Next());
    ChooseSmallest();
    return {};
  }

  Status End() {
    current_ = nullptr;
    return {};
  }

  Status SeekAll(const CellPlace& place) {
    for (auto& cursor : cursors_) CELLFS_RETURN_IF_ERROR(cursor->Seek(place));
    return {};
  }

  void ChooseSmallest() {
    current_ = nullptr;
    for (auto& cursor : cursors_) {
      if (!cursor->valid()) continue;
      if (current_ == nullptr || IsBefore(cursor->cell(), current_->cell())) {
        current_ = cursor.get();
      }
    }
  }

  // Cursors of one family may leave `family` out, so rows and the order inside a family decide.
  static bool IsBefore(const CellView& a, const CellView& b) {
    if (auto order = a.row <=> b.row; order != 0) return order < 0;
    return CompareInFamily(a, b) < 0;
  }

  std::vector<std::unique_ptr<CellCursor>> cursors_;
  const std::optional<CursorScope> scope_;
  CellCursor* current_ = nullptr;
  Withdrawals withdrawals_;
};

}  // namespace

std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> cursors,
                                         const std::optional<CursorScope>& scope) {
  return std::make_unique<MergeCursor>(std::move(cursors), scope);
}

}  // namespace cellfs
