// SPDX-License-Identifier: MIT
//
// DroppedColumns: the columns of which a flush or a compaction has dropped cells, in bounded
// memory: of many in one family of a row it remembers that family, and of too many just that there
// are some.
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
  static constexpr size_t kMostInFamily = 16384;  // of a row
  static constexpr size_t kMost = 65536;
  static constexpr size_t kMostBytes = 8 << 20;

  // Cells of a family in their order; one family may follow another.
  void Add(std::string_view family, const CellView& cell);
  bool empty() const { return columns_.empty() && !too_many_; }
  // No column is named: any of the table may be one of them.
  bool too_many() const { return too_many_; }
  // Omits columns that lost only hidden cells. The newest cell of a column never exceeds VERSIONS,
  // so a column without a tombstone, its own or the family's, reads as before.
  // REQUIRES: !too_many().
  using HasTombstones =
      std::function<bool(const std::string& family, const std::string& row, std::string_view)>;
  std::vector<RewrittenColumn> Changed(const HasTombstones& has_tombstones) &&;

 private:
  void RemoveLastFamily();

  std::vector<RewrittenColumn> columns_;
  size_t bytes_ = 0;      // of columns_
  size_t in_family_ = 0;  // of the last ones, in one family of a row
  bool too_many_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_DROPPED_COLUMNS_H_
