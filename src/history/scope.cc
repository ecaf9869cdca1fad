// SPDX-License-Identifier: MIT
#include "src/history/scope.h"

#include <utility>

namespace cellfs {

void ToldColumns::Add(ToldColumn column) {
  ++count;
  if (first.size() < kColumnsNamed) first.push_back(std::move(column));
}

StatusOr<std::shared_ptr<const TableSchema>> CheckScope(const HistoryAccess& access,
                                                        const Scope& scope) {
  if (scope.qualifier && !(scope.row && scope.family))
    return Status(StatusCode::kIllegalArgument, "a column needs its row and its family");
  if (scope.row && scope.row->empty())
    return Status(StatusCode::kIllegalArgument, "a row key has at least one byte");
  CELLFS_ASSIGN_OR_RETURN(auto schema, access.store.DescribeTable(scope.table));
  if (scope.family && schema->FindFamily(*scope.family) == nullptr) {
    return Status(StatusCode::kNoSuchColumnFamily, "family '" + *scope.family + "' of table '" +
                                                       scope.table.ToString() + "' does not exist");
  }
  return schema;
}

Status CheckNotCancelled(const HistoryAccess& access) {
  if (access.cancelled == nullptr || !*access.cancelled) return {};
  return {StatusCode::kCancelled, "cancelled"};
}

}  // namespace cellfs
