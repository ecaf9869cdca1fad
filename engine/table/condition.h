// SPDX-License-Identifier: MIT
//
// The condition of a CheckAndMutate (HRegion.checkAndMutateInternal).
#ifndef CELLFS_ENGINE_TABLE_CONDITION_H_
#define CELLFS_ENGINE_TABLE_CONDITION_H_

#include <optional>

#include "engine/mutation.h"
#include "engine/status_or.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

struct Verdict {
  bool holds = false;
  Timestamp cell_timestamp = 0;  // of the cell that was looked at; 0: there was none
  // What lies on the condition's column, where that was looked at: who writes it asks the same.
  std::optional<ColumnHead> head;
};

// Reads the row, whose lock the caller holds. The column's family exists.
StatusOr<Verdict> Judge(const CheckAndMutate& check, RowStorage& storage, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_CONDITION_H_
