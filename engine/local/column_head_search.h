// SPDX-License-Identifier: MIT
//
// ColumnHeadSearch: what lies on a column of a table, hidden and expired cells included: it is
// asked before every write that must lie above them.
#ifndef CELLFS_ENGINE_LOCAL_COLUMN_HEAD_SEARCH_H_
#define CELLFS_ENGINE_LOCAL_COLUMN_HEAD_SEARCH_H_

#include <memory>
#include <string_view>

#include "engine/column_head.h"
#include "engine/local/table_view.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs {

// Runs once. A column may have thousands of versions: they are walked over only where tombstones
// lie among them.
class ColumnHeadSearch {
 public:
  // All of them outlive it. The column of the empty qualifier has the family's tombstones.
  ColumnHeadSearch(const TableView& view, std::string_view row, std::string_view family,
                   std::string_view qualifier)
      : view_(view), row_(row), family_(family), qualifier_(qualifier) {}

  StatusOr<ColumnHead> Run();

 private:
  Status Walk(std::string_view column, bool to_the_end);
  void TakeTombstone(const CellView& cell);

  const TableView& view_;
  const std::string_view row_;
  const std::string_view family_;
  const std::string_view qualifier_;
  std::unique_ptr<CellCursor> cursor_;
  ColumnHead head_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COLUMN_HEAD_SEARCH_H_
