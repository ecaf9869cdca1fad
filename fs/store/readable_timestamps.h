// SPDX-License-Identifier: MIT
//
// Whether a put at an explicit timestamp could be read by it, judged as a store with
// Stamping::kReadable judges, from what lies on the column: for a store that does not, and for who
// wants to know it before there is anything to put.
#ifndef CELLFS_FS_STORE_READABLE_TIMESTAMPS_H_
#define CELLFS_FS_STORE_READABLE_TIMESTAMPS_H_

#include <string>

#include "engine/schema.h"
#include "engine/store.h"
#include "fs/store/raw_cells.h"

namespace cellfs::fs {

// kTimestampUnreadable: it is hidden by a tombstone, or expires at once.
Status CheckReadableAt(Store& store, Timestamp now, const RawCellsQuery& row,
                       const std::string& qualifier, const FamilySchema& family,
                       Timestamp timestamp, int64_t time_to_live);

Status TimestampUnreadable(Timestamp timestamp);

// `is_wide`: a column's or family's tombstone hides what is older, too.
bool HidesPutAt(CellType tombstone, Timestamp at, Timestamp put, bool is_wide);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_STORE_READABLE_TIMESTAMPS_H_
