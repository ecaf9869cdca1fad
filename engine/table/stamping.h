// SPDX-License-Identifier: MIT
//
// Stamping::kReadable (engine/mutation.h); what kAboveColumn means is said by engine/column_head.h.
#ifndef CELLFS_ENGINE_TABLE_STAMPING_H_
#define CELLFS_ENGINE_TABLE_STAMPING_H_

#include <span>
#include <string_view>

#include "engine/cell.h"
#include "engine/schema.h"
#include "engine/status_or.h"
#include "engine/storage/cell_storage.h"

namespace cellfs {

// Whether a Get of exactly its timestamp finds `put` once the cells of `step`, of which it is one,
// have been written to `row`.
StatusOr<bool> IsReadable(const Cell& put, std::span<const Cell> step, std::string_view row,
                          const FamilySchema& family, RowStorage& storage, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_STAMPING_H_
