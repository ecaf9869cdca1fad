// SPDX-License-Identifier: MIT
//
// What an Increment or an Append comes to: the old values are read, under the row's lock, and new
// cells made of them (HRegion.reckonDeltasByStore). A column named twice is reckoned twice from the
// same old value.
#ifndef CELLFS_ENGINE_TABLE_DELTA_RECKONING_H_
#define CELLFS_ENGINE_TABLE_DELTA_RECKONING_H_

#include <vector>

#include "engine/mutation.h"
#include "engine/options.h"
#include "engine/status_or.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

struct ReckonedCell {
  Cell cell;
  size_t index = 0;         // of the delta in the mutation
  bool was_absent = false;  // no old value: the cell has the timestamp that was given, or `now`
};

// By family, qualifier and given timestamp, the largest first: of two of one timestamp the later
// one is to win. kNotALong; kValueTooLarge; kTimestampsExhausted.
StatusOr<std::vector<ReckonedCell>> Reckon(const Increment& increment, RowStorage& storage,
                                           const SiteSettings& site, Timestamp now);
StatusOr<std::vector<ReckonedCell>> Reckon(const Append& append, RowStorage& storage,
                                           const SiteSettings& site, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_DELTA_RECKONING_H_
