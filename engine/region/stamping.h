// SPDX-License-Identifier: MIT
//
// The timestamps that HBase does not know: Stamping::kAboveColumn and kReadable
// (engine/mutation.h).
#ifndef CELLFS_ENGINE_REGION_STAMPING_H_
#define CELLFS_ENGINE_REGION_STAMPING_H_

#include <optional>
#include <span>
#include <string_view>

#include "engine/cell.h"
#include "engine/region/cell_storage.h"
#include "engine/schema.h"
#include "engine/status_or.h"

namespace cellfs {

// What a writer would like, with kAboveColumn.
struct StampWish {
  Timestamp given = kLatestTimestamp;
  std::optional<Timestamp> rewrites;
  int64_t time_to_live = kNoCellTtl;  // of the cell to be written
};

// What the column has, with the cells that the same step has put there already.
void AddToHead(const Cell& cell, ColumnHead& head);

// The timestamp of a put or a column tombstone with kAboveColumn; kTimestampsExhausted.
StatusOr<Timestamp> StampAbove(const ColumnHead& head, const StampWish& wish,
                               const FamilySchema& family, Timestamp now);

// Whether a Get of exactly its timestamp finds `put` once the cells of `step`, of which it is one,
// have been written to `row`.
StatusOr<bool> IsReadable(const Cell& put, std::span<const Cell> step, std::string_view row,
                          const FamilySchema& family, CellStorage& storage, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_STAMPING_H_
