// SPDX-License-Identifier: MIT
#include "src/history/columns.h"

#include <optional>

namespace cellfs {
namespace {

constexpr char kEnough[] = "enough was seen";

}  // namespace

Status VisitColumns(StoredCells& cells, const TableSchema& schema, ColumnVisitor& visitor) {
  struct Place {
    std::string row;
    std::string family;
    std::string qualifier;
  };
  std::optional<Place> at;
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(const RowCells piece, cells.Next());
    if (piece.empty()) break;
    const Cell& first = piece.front();
    const bool is_same_family = at && at->row == first.row && at->family == first.family;
    if (at && !is_same_family) {
      CELLFS_RETURN_IF_ERROR(visitor.EndColumn());
      CELLFS_RETURN_IF_ERROR(visitor.EndFamily());
      at.reset();
    }
    // A family that was added or dropped meanwhile is passed over.
    const FamilySchema* const family = schema.FindFamily(first.family);
    if (family == nullptr) continue;
    if (!at) CELLFS_RETURN_IF_ERROR(visitor.BeginFamily(first.row, *family));
    for (const Cell& cell : piece) {
      if (!at || at->qualifier != cell.qualifier) {
        if (at) CELLFS_RETURN_IF_ERROR(visitor.EndColumn());
        at = Place{cell.row, cell.family, cell.qualifier};
        visitor.BeginColumn(cell.qualifier);
      }
      visitor.See(cell);
    }
    if (visitor.IsDecided()) break;
  }
  if (!at) return {};
  CELLFS_RETURN_IF_ERROR(visitor.EndColumn());
  return visitor.EndFamily();
}

Status EnoughSeen() { return {StatusCode::kCancelled, kEnough}; }

Status UnlessEnough(const Status& status) {
  const bool is_enough = status.code() == StatusCode::kCancelled && status.message() == kEnough;
  return is_enough ? Status() : status;
}

}  // namespace cellfs
