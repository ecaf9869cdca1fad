// SPDX-License-Identifier: MIT
#include "src/history/replay.h"

#include <algorithm>

namespace cellfs {

bool IsVersionTombstone(CellType type) {
  return type == CellType::kDelete || type == CellType::kDeleteFamilyVersion;
}

bool HasTtlEnded(const FamilySchema& family, Timestamp put, Timestamp now) {
  return family.time_to_live() != kForever &&
         put < now - int64_t{family.time_to_live()} * 1000;
}

bool Covers(const Cell& tombstone, Timestamp put) {
  const bool is_wide =
      tombstone.type == CellType::kDeleteColumn || tombstone.type == CellType::kDeleteFamily;
  return is_wide ? put <= tombstone.timestamp : put == tombstone.timestamp;
}

void FamilyReplay::BeginFamily() {
  family_up_to_ = -1;
  family_exactly_.clear();
  family_written_.clear();
  BeginColumn();
}

void FamilyReplay::BeginColumn() {
  column_up_to_ = exactly_ = -1;
  written_.clear();
  is_decided_ = is_replayed_ = false;
  visible_.reset();
}

void FamilyReplay::See(const Cell& cell) {
  if (cell.timestamp > time_.up_to) return;
  if (family_.new_version_behavior()) {
    (IsFamilyTombstone(cell.type) ? family_written_ : written_).push_back(cell);
    return;
  }
  switch (cell.type) {
    case CellType::kDeleteFamily:
      family_up_to_ = std::max(family_up_to_, cell.timestamp);
      return;
    case CellType::kDeleteFamilyVersion:
      family_exactly_.insert(cell.timestamp);
      return;
    case CellType::kDeleteColumn:
      column_up_to_ = std::max(column_up_to_, cell.timestamp);
      return;
    case CellType::kDelete:
      exactly_ = cell.timestamp;  // the puts that it hides come before those of other timestamps
      return;
    case CellType::kPut:
      if (!is_decided_) SeePut(cell);
  }
}

// One that is past its own TTL is passed over; one that the family's has ended ends the column,
// unless MIN_VERSIONS saves the newest.
void FamilyReplay::SeePut(const Cell& put) {
  if (IsPastOwnTtl(put) || Hides(put.timestamp)) return;
  is_decided_ = true;
  if (!IsExpired(put) || family_.min_versions() > 0) visible_ = put;
}

const Cell* FamilyReplay::Visible() {
  if (family_.new_version_behavior() && !is_replayed_) ReplayInOrderOfWriting();
  return visible_ ? &*visible_ : nullptr;
}

bool FamilyReplay::IsPastOwnTtl(const Cell& put) const {
  return put.time_to_live != kNoCellTtl && put.timestamp < time_.now - put.time_to_live;
}

bool FamilyReplay::IsExpired(const Cell& put) const {
  return HasTtlEnded(family_, put.timestamp, time_.now);
}

bool FamilyReplay::Hides(Timestamp put) const {
  return put <= family_up_to_ || put <= column_up_to_ || put == exactly_ ||
         family_exactly_.contains(put);
}

// What one mutation has written is one step: its puts come first, then its tombstones, which hide
// them too.
void FamilyReplay::ReplayInOrderOfWriting() {
  is_replayed_ = true;
  std::vector<Cell> cells = written_;
  cells.insert(cells.end(), family_written_.begin(), family_written_.end());
  std::erase_if(cells, [this](const Cell& cell) {
    return cell.type == CellType::kPut && IsPastOwnTtl(cell);
  });
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    if (a.sequence_id != b.sequence_id) return a.sequence_id < b.sequence_id;
    return !IsTombstone(a.type) && IsTombstone(b.type);
  });
  std::vector<Cell> live;  // newest first
  for (const Cell& cell : cells) Apply(cell, live);
  if (live.empty()) return;
  if (!IsExpired(live.front()) || family_.min_versions() > 0) visible_ = live.front();
}

void FamilyReplay::Apply(const Cell& cell, std::vector<Cell>& live) const {
  if (IsTombstone(cell.type)) {
    std::erase_if(live, [&](const Cell& put) { return Covers(cell, put.timestamp); });
    return;
  }
  std::erase_if(live, [&](const Cell& put) { return put.timestamp == cell.timestamp; });
  const auto place = std::find_if(live.begin(), live.end(), [&](const Cell& put) {
    return put.timestamp < cell.timestamp;
  });
  live.insert(place, cell);
  if (live.size() > static_cast<size_t>(family_.max_versions())) live.pop_back();
}

}  // namespace cellfs
