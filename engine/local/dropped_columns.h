// SPDX-License-Identifier: MIT
//
// DroppedColumns: the columns of which a flush or a compaction has dropped cells, as far as memory
// goes: of very many in one family of a row, that family.
#ifndef CELLFS_ENGINE_LOCAL_DROPPED_COLUMNS_H_
#define CELLFS_ENGINE_LOCAL_DROPPED_COLUMNS_H_

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/cell.h"
#include "engine/rewrite_observer.h"

namespace cellfs {

class DroppedColumns {
 public:
  // Cells in their order.
  void Add(std::string_view family, const CellView& cell);
  bool empty() const { return columns_.empty(); }
  // Omits columns that lost only hidden cells. The newest cell of a column never exceeds VERSIONS,
  // so a column without a tombstone, its own or the family's, reads as before.
  using HasTombstones =
      std::function<bool(const std::string& family, const std::string& row, std::string_view)>;
  std::vector<RewrittenColumn> Changed(const HasTombstones& has_tombstones) &&;

 private:
  std::vector<RewrittenColumn> columns_;
  size_t in_family_ = 0;  // of the last ones, in one family of a row
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_DROPPED_COLUMNS_H_
