// SPDX-License-Identifier: MIT
#include "engine/file/room_of_cells.h"

namespace cellfs {
namespace {

constexpr uint64_t kBesideKeyAndValue = 32;  // numbers, checksums
constexpr uint64_t kWhole = 1000;

}  // namespace

void RoomOfCells::Add(const CellView& cell, bool is_hidden, bool is_new_column) {
  if (is_new_column) has_newer_ = false;
  const uint64_t bytes =
      cell.row.size() + cell.qualifier.size() + cell.value.size() + kBesideKeyAndValue;
  bytes_ += bytes;
  if (cell.type != CellType::kPut || is_hidden) {
    deleted_ += bytes;
  } else {
    if (has_newer_) old_versions_ += bytes;
    has_newer_ = true;
  }
}

RoomFacts RoomOfCells::Facts() const {
  if (bytes_ == 0) return {};
  return {.old_versions = static_cast<int64_t>(old_versions_ * kWhole / bytes_),
          .deleted = static_cast<int64_t>(deleted_ * kWhole / bytes_)};
}

}  // namespace cellfs
