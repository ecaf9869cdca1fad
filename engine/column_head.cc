// SPDX-License-Identifier: MIT
#include "engine/column_head.h"

#include <functional>

namespace cellfs {
namespace {

bool TakesGiven(const ColumnHead& head, const StampWish& wish, const FamilySchema& family,
                Timestamp now) {
  if (wish.given > now || ExpiresAtOnce(wish.given, wish.time_to_live, family, now)) return false;
  if (wish.given <= head.newest_wide_tombstone || wish.given < head.newest_put) return false;
  if (wish.given == head.newest_put) return !head.HasVersionTombstone(wish.given);
  return head.version_tombstones.empty() || wish.given > head.version_tombstones.front();
}

bool TakesRewritten(const ColumnHead& head, const StampWish& wish, const FamilySchema& family,
                    Timestamp now) {
  Timestamp rewritten = *wish.rewrites;
  return rewritten >= head.newest_put && rewritten > head.newest_wide_tombstone &&
         !head.HasVersionTombstone(rewritten) &&
         !ExpiresAtOnce(rewritten, wish.time_to_live, family, now);
}

}  // namespace

bool ColumnHead::HasVersionTombstone(Timestamp timestamp) const {
  return std::binary_search(version_tombstones.begin(), version_tombstones.end(), timestamp,
                            std::greater<>());
}

bool ExpiresAtOnce(Timestamp timestamp, int64_t cell_ttl, const FamilySchema& family,
                   Timestamp now) {
  if (cell_ttl != kNoCellTtl && now - timestamp > cell_ttl) return true;
  return family.time_to_live() != kForever && family.min_versions() == 0 &&
         now - timestamp > int64_t{family.time_to_live()} * 1000;
}

void AddToHead(const Cell& cell, ColumnHead& head) {
  switch (cell.type) {
    case CellType::kPut:
      head.newest_put = std::max(head.newest_put, cell.timestamp);
      break;
    case CellType::kDeleteColumn:
    case CellType::kDeleteFamily:
      head.newest_wide_tombstone = std::max(head.newest_wide_tombstone, cell.timestamp);
      break;
    case CellType::kDelete:
    case CellType::kDeleteFamilyVersion:
      head.version_tombstones.insert(
          std::upper_bound(head.version_tombstones.begin(), head.version_tombstones.end(),
                           cell.timestamp, std::greater<>()),
          cell.timestamp);
      break;
  }
}

StatusOr<Timestamp> StampAbove(const ColumnHead& head, const StampWish& wish,
                               const FamilySchema& family, Timestamp now) {
  if (wish.given != kLatestTimestamp && TakesGiven(head, wish, family, now)) return wish.given;
  if (wish.rewrites && TakesRewritten(head, wish, family, now)) return *wish.rewrites;
  Timestamp newest = head.Newest();
  Timestamp stamp = newest < now ? now : newest + 1;
  for (auto it = head.version_tombstones.rbegin();
       it != head.version_tombstones.rend() && *it <= stamp && stamp < kLatestTimestamp; ++it) {
    if (*it == stamp) ++stamp;
  }
  if (stamp < kLatestTimestamp) return stamp;
  return Status(StatusCode::kTimestampsExhausted,
                "no timestamp is left above the newest version of the column");
}

}  // namespace cellfs
