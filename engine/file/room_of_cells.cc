// SPDX-License-Identifier: MIT
#include "engine/file/room_of_cells.h"

#include <algorithm>
#include <functional>

namespace cellfs {
namespace {

constexpr uint64_t kBesideKeyAndValue = 32;  // numbers, checksums
constexpr uint64_t kWhole = 1000;
constexpr size_t kMostOfRow =
    1024;  // of tombstones of single timestamps; further ones are not known

}  // namespace

void RoomOfCells::Add(const CellView& cell, bool is_new_row, bool is_new_column) {
  if (is_new_row) {
    family_deleted_ = -1;
    family_versions_deleted_.clear();
  }
  if (is_new_column) {
    column_deleted_ = version_deleted_ = -1;
    has_newer_ = false;
  }
  const uint64_t bytes =
      cell.row.size() + cell.qualifier.size() + cell.value.size() + kBesideKeyAndValue;
  bytes_ += bytes;
  if (cell.type != CellType::kPut) {
    NoteTombstone(cell);
    deleted_ += bytes;
  } else if (IsDeleted(cell.timestamp)) {
    deleted_ += bytes;
  } else {
    if (has_newer_) old_versions_ += bytes;
    has_newer_ = true;
  }
}

void RoomOfCells::NoteTombstone(const CellView& cell) {
  if (cell.type == CellType::kDeleteFamily) {
    family_deleted_ = std::max(family_deleted_, cell.timestamp);
  } else if (cell.type == CellType::kDeleteColumn) {
    column_deleted_ = std::max(column_deleted_, cell.timestamp);
  } else if (cell.type == CellType::kDelete) {
    version_deleted_ = cell.timestamp;
  } else if (cell.type == CellType::kDeleteFamilyVersion &&
             family_versions_deleted_.size() < kMostOfRow) {
    family_versions_deleted_.push_back(cell.timestamp);
  }
}

bool RoomOfCells::IsDeleted(Timestamp timestamp) const {
  return timestamp <= std::max(family_deleted_, column_deleted_) || timestamp == version_deleted_ ||
         std::binary_search(family_versions_deleted_.begin(), family_versions_deleted_.end(),
                            timestamp, std::greater<>());
}

RoomFacts RoomOfCells::Facts() const {
  if (bytes_ == 0) return {};
  return {.old_versions = static_cast<int64_t>(old_versions_ * kWhole / bytes_),
          .deleted = static_cast<int64_t>(deleted_ * kWhole / bytes_)};
}

}  // namespace cellfs
