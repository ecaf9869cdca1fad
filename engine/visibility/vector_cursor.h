// SPDX-License-Identifier: MIT
//
// A CellCursor over cells in memory: system tables, tests.
#ifndef CELLFS_ENGINE_VISIBILITY_VECTOR_CURSOR_H_
#define CELLFS_ENGINE_VISIBILITY_VECTOR_CURSOR_H_

#include <memory>
#include <vector>

#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// REQUIRES: `cells` are of one family and in cell order.
std::unique_ptr<CellCursor> MakeVectorCursor(std::shared_ptr<const std::vector<Cell>> cells);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_VECTOR_CURSOR_H_
