// SPDX-License-Identifier: MIT
#include "engine/local/dropped_columns.h"

#include <string>
#include <utility>

namespace cellfs {
namespace {

constexpr size_t kMostInFamily = 65536;

}  // namespace

void DroppedColumns::Add(std::string_view family, const CellView& cell) {
  const RewrittenColumn* const last = columns_.empty() ? nullptr : &columns_.back();
  const bool same_family = last != nullptr && last->row == cell.row && last->family == family;
  if (!same_family) in_family_ = 0;
  if (same_family && !last->qualifier) return;
  // A family tombstone may have hidden any column.
  const bool is_of_family = IsFamilyTombstone(cell.type);
  if (same_family && !is_of_family && *last->qualifier == cell.qualifier) return;
  if (is_of_family || in_family_ == kMostInFamily) {
    columns_.erase(columns_.end() - static_cast<ptrdiff_t>(in_family_), columns_.end());
    in_family_ = 0;
    columns_.push_back({std::string(cell.row), std::string(family), std::nullopt});
  } else {
    columns_.push_back({std::string(cell.row), std::string(family), std::string(cell.qualifier)});
  }
  ++in_family_;
}

std::vector<RewrittenColumn> DroppedColumns::Changed(const HasTombstones& has_tombstones) && {
  std::erase_if(columns_, [&](const RewrittenColumn& column) {
    return column.qualifier && !has_tombstones(column.family, column.row, *column.qualifier) &&
           !has_tombstones(column.family, column.row, {});
  });
  return std::move(columns_);
}

}  // namespace cellfs
