// SPDX-License-Identifier: MIT
#include "fs/store/readable_timestamps.h"

#include <algorithm>

#include "engine/column_head.h"

namespace cellfs::fs {

bool HidesPutAt(CellType tombstone, Timestamp at, Timestamp put, bool is_wide) {
  switch (tombstone) {
    case CellType::kDeleteColumn:
    case CellType::kDeleteFamily:
      return is_wide ? put <= at : put == at;
    case CellType::kDelete:
    case CellType::kDeleteFamilyVersion:
      return put == at;
    case CellType::kPut:
      break;
  }
  return false;
}

Status TimestampUnreadable(Timestamp timestamp) {
  return {StatusCode::kTimestampUnreadable,
          "a cell written at timestamp " + std::to_string(timestamp) +
              " could not be read there: it is deleted or expired"};
}

// With KEEP_DELETED_CELLS a read by timestamp heeds only the tombstones of just that timestamp; with
// NEW_VERSION_BEHAVIOR only what is written later hides the put, but it is out below VERSIONS newer
// ones.
Status CheckReadableAt(Store& store, Timestamp now, const RawCellsQuery& row,
                       const std::string& qualifier, const FamilySchema& family,
                       Timestamp timestamp, int64_t time_to_live) {
  if (ExpiresAtOnce(timestamp, time_to_live, family, now)) return TimestampUnreadable(timestamp);
  RawCellsQuery later = row;  // nothing older hides it
  later.times.min = timestamp;
  CELLFS_ASSIGN_OR_RETURN(const RowCells raw,
                          RawCellsOfColumn(store, Caller::Superuser(), later, qualifier));
  if (family.new_version_behavior()) {
    const auto newer = std::count_if(raw.begin(), raw.end(), [&](const Cell& cell) {
      return cell.type == CellType::kPut && cell.timestamp > timestamp;
    });
    return newer < family.max_versions() ? Status() : TimestampUnreadable(timestamp);
  }
  const bool is_wide = family.keep_deleted_cells() == KeepDeletedCells::kFalse;
  const bool is_hidden = std::any_of(raw.begin(), raw.end(), [&](const Cell& cell) {
    return HidesPutAt(cell.type, cell.timestamp, timestamp, is_wide);
  });
  return is_hidden ? TimestampUnreadable(timestamp) : Status();
}

}  // namespace cellfs::fs
