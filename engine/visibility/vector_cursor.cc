// SPDX-License-Identifier: MIT
#include "engine/visibility/vector_cursor.h"

#include <algorithm>

namespace cellfs {
namespace {

bool IsBefore(const Cell& cell, const CellPlace& place) {
  if (cell.row != place.row) return cell.row < place.row;
  if (cell.qualifier != place.qualifier) return cell.qualifier < place.qualifier;
  return cell.timestamp > place.timestamp;
}

class VectorCursor : public CellCursor {
 public:
  explicit VectorCursor(std::shared_ptr<const std::vector<Cell>> cells)
      : cells_(std::move(cells)), index_(cells_->size()) {}

  Status Seek(const CellPlace& place) override {
    auto found = std::partition_point(cells_->begin(), cells_->end(),
                                      [&](const Cell& cell) { return IsBefore(cell, place); });
    return StandAt(found - cells_->begin());
  }

  Status SeekToRowBefore(std::string_view row) override {
    auto end = row.empty() ? cells_->end()
                           : std::partition_point(cells_->begin(), cells_->end(),
                                                  [&](const Cell& c) { return c.row < row; });
    if (end == cells_->begin()) return StandAt(static_cast<std::ptrdiff_t>(cells_->size()));
    return Seek({.row = std::prev(end)->row});
  }

  Status Next() override { return StandAt(static_cast<std::ptrdiff_t>(index_) + 1); }

  bool valid() const override { return index_ < cells_->size(); }
  const CellView& cell() const override { return view_; }

 private:
  Status StandAt(std::ptrdiff_t index) {
    index_ = static_cast<size_t>(index);
    if (valid()) view_ = ViewOf((*cells_)[index_]);
    return {};
  }

  std::shared_ptr<const std::vector<Cell>> cells_;
  size_t index_;
  CellView view_;
};

}  // namespace

std::unique_ptr<CellCursor> MakeVectorCursor(std::shared_ptr<const std::vector<Cell>> cells) {
  return std::make_unique<VectorCursor>(std::move(cells));
}

}  // namespace cellfs
