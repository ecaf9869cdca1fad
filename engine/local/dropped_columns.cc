// SPDX-License-Identifier: MIT
#include "engine/local/dropped_columns.h"

#include <cassert>
#include <string>
#include <utility>

namespace cellfs {
namespace {

size_t BytesOf(const RewrittenColumn& column) {
  const size_t qualifier = column.qualifier ? column.qualifier->size() : 0;
  return sizeof(column) + column.row.size() + column.family.size() + qualifier;
}

}  // namespace

void DroppedColumns::Add(std::string_view family, const CellView& cell) {
  if (too_many_) return;
  const RewrittenColumn* const last = columns_.empty() ? nullptr : &columns_.back();
  const bool same_family = last != nullptr && last->row == cell.row && last->family == family;
  if (!same_family) in_family_ = 0;
  if (same_family && !last->qualifier) return;
  // A family tombstone may have hidden any column.
  const bool is_of_family = IsFamilyTombstone(cell.type);
  if (same_family && !is_of_family && *last->qualifier == cell.qualifier) return;
  if (is_of_family || in_family_ == kMostInFamily) {
    RemoveLastFamily();
    columns_.push_back({std::string(cell.row), std::string(family), std::nullopt});
  } else {
    columns_.push_back({std::string(cell.row), std::string(family), std::string(cell.qualifier)});
  }
  ++in_family_;
  bytes_ += BytesOf(columns_.back());
  if (columns_.size() <= kMost && bytes_ <= kMostBytes) return;
  too_many_ = true;
  columns_ = {};
}

void DroppedColumns::RemoveLastFamily() {
  for (; in_family_ > 0; --in_family_) {
    bytes_ -= BytesOf(columns_.back());
    columns_.pop_back();
  }
}

std::vector<RewrittenColumn> DroppedColumns::Changed(const HasTombstones& has_tombstones) && {
  assert(!too_many_);
  std::erase_if(columns_, [&](const RewrittenColumn& column) {
    return column.qualifier && !has_tombstones(column.family, column.row, *column.qualifier) &&
           !has_tombstones(column.family, column.row, {});
  });
  return std::move(columns_);
}

}  // namespace cellfs
