// SPDX-License-Identifier: MIT
//
// ColumnHead: what lies on a column, hidden cells included, and the timestamp that goes above it:
// the rules of Stamping::kAboveColumn. Pure code, for stores that offer that stamping and for those
// who write to a store that does not.
#ifndef CELLFS_ENGINE_COLUMN_HEAD_H_
#define CELLFS_ENGINE_COLUMN_HEAD_H_

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/cell.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

// What lies on a column, hidden and expired cells included, for the choice of a timestamp.
struct ColumnHead {
  // -1: none. One at the last timestamp there is does not count once a version tombstone removed
  // it, or the column could never be written again.
  Timestamp newest_put = -1;
  Timestamp newest_wide_tombstone = -1;       // DeleteColumn of it, DeleteFamily of its family
  std::vector<Timestamp> version_tombstones;  // Delete of it, DeleteFamilyVersion; descending

  bool IsEmpty() const { return Newest() < 0 && version_tombstones.empty(); }
  Timestamp Newest() const { return std::max(newest_put, newest_wide_tombstone); }
  bool HasVersionTombstone(Timestamp timestamp) const;
  // Tombstones of a timestamp come before its puts.
  bool Counts(Timestamp put) const {
    return put < kLatestTimestamp - 1 ||
           std::find(version_tombstones.begin(), version_tombstones.end(), put) ==
               version_tombstones.end();
  }
};

// What a writer would like, with kAboveColumn.
struct StampWish {
  Timestamp given = kLatestTimestamp;
  std::optional<Timestamp> rewrites;
  int64_t time_to_live = kNoCellTtl;  // of the cell to be written
};

// The cell lies on the column as well.
void AddToHead(const Cell& cell, ColumnHead& head);

// Whether a TTL has ended a cell put now with that timestamp. MIN_VERSIONS saves the newest version
// of a column, and the only one of a read by timestamp, from the family's TTL, but no cell from its
// own.
bool ExpiresAtOnce(Timestamp timestamp, int64_t cell_ttl, const FamilySchema& family,
                   Timestamp now);

// The timestamp of a put or a column tombstone with kAboveColumn; kTimestampsExhausted.
StatusOr<Timestamp> StampAbove(const ColumnHead& head, const StampWish& wish,
                               const FamilySchema& family, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_COLUMN_HEAD_H_
