// SPDX-License-Identifier: MIT
#include "engine/local/column_head_search.h"

#include <algorithm>
#include <utility>

namespace cellfs {

StatusOr<ColumnHead> ColumnHeadSearch::Run() {
  bool of_family = false;
  bool of_column = false;
  if (view_.MayHaveTombstones()) {
    CELLFS_ASSIGN_OR_RETURN(of_family, view_.MayHaveTombstones(family_, row_, {}));
    CELLFS_ASSIGN_OR_RETURN(of_column, view_.MayHaveTombstones(family_, row_, qualifier_));
  }
  // Raw: a tombstone that has expired hides as before.
  CELLFS_ASSIGN_OR_RETURN(
      cursor_, view_.OpenCursor(family_, /*lengths_only=*/true,
                                {.row = row_,
                                 .columns = WantedColumns::One(qualifier_),
                                 .times = {},
                                 .raw = true}));
  if (of_family && !qualifier_.empty()) CELLFS_RETURN_IF_ERROR(Walk({}, true));
  CELLFS_RETURN_IF_ERROR(Walk(qualifier_, of_column));
  std::sort(head_.version_tombstones.rbegin(), head_.version_tombstones.rend());
  return std::move(head_);
}

// From the newest cell of the column to the first that is put, or to its end.
Status ColumnHeadSearch::Walk(std::string_view column, bool to_the_end) {
  CELLFS_RETURN_IF_ERROR(cursor_->Seek({row_, column}));
  for (; cursor_->valid();) {
    const CellView& cell = cursor_->cell();
    if (cell.row != row_ || cell.qualifier != column) break;
    if (IsTombstone(cell.type)) {
      if (column == qualifier_ || IsFamilyTombstone(cell.type)) TakeTombstone(cell);
    } else if (column == qualifier_ && head_.Counts(cell.timestamp)) {
      head_.newest_put = std::max(head_.newest_put, cell.timestamp);
      if (!to_the_end) break;
    }
    CELLFS_RETURN_IF_ERROR(cursor_->Next());
  }
  return {};
}

void ColumnHeadSearch::TakeTombstone(const CellView& cell) {
  if (cell.type == CellType::kDeleteColumn || cell.type == CellType::kDeleteFamily) {
    head_.newest_wide_tombstone = std::max(head_.newest_wide_tombstone, cell.timestamp);
  } else {
    head_.version_tombstones.push_back(cell.timestamp);
  }
}

}  // namespace cellfs
