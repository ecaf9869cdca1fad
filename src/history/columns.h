// SPDX-License-Identifier: MIT
//
// One pass over the stored cells of a scope, cut into columns.
#ifndef CELLFS_SRC_HISTORY_COLUMNS_H_
#define CELLFS_SRC_HISTORY_COLUMNS_H_

#include <map>
#include <string>
#include <vector>

#include "src/history/replay.h"
#include "src/history/stored_cells.h"

namespace cellfs {

// Is shown the cells of one column after another. The tombstones of a family come before its
// columns, in the column of the empty qualifier, which may have nothing else; of a scope of one
// column they may come alone.
class ColumnVisitor {
 public:
  virtual ~ColumnVisitor() = default;
  virtual Status BeginFamily(const std::string& row, const FamilySchema& family) = 0;
  virtual void BeginColumn(const std::string& qualifier) = 0;
  virtual void See(const Cell& cell) = 0;
  virtual Status EndColumn() = 0;
  virtual Status EndFamily() { return {}; }
  // Nothing that follows matters: asked after each piece, and then the pass ends as at its end.
  virtual bool IsDecided() const { return false; }
};

// Ends with the first error, which a visitor may use to stop.
Status VisitColumns(StoredCells& cells, const TableSchema& schema, ColumnVisitor& visitor);

// What a visitor that has enough ends the pass with, and what callers of VisitColumns make of it.
Status EnoughSeen();
Status UnlessEnough(const Status& status);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_COLUMNS_H_
