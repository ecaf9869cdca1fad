// SPDX-License-Identifier: MIT
//
// What a question about history is asked of, and by whom. The folder's other headers take both:
//
//     const HistoryAccess access{store, caller, clock, &cancelled};
//     Status told = ReadLog(access, {.table = table, .row = "monday"}, {.limit = 100}, print);
//
// History is what the store still has: versions, and the tombstones over them. Times are the cells'
// own timestamps, milliseconds since 1970 UTC. So a version that was put with an earlier timestamp
// counts as written then, and so does the delete of one version, which has the timestamp of what it
// deletes. Before the table was made it had none all the same.
//
// Everything is read in pieces of at most kHistoryPiece cells, with lengths only; values are read
// one by one where they are wanted.
#ifndef CELLFS_SRC_HISTORY_SCOPE_H_
#define CELLFS_SRC_HISTORY_SCOPE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/store.h"

namespace cellfs {

// A table; a row of it; a family of the table or of the row; a column of the row.
struct Scope {
  TableName table;
  std::optional<std::string> row;
  std::optional<std::string> family;
  std::optional<std::string> qualifier;  // REQUIRES: row and family
};

struct ToldColumn {
  std::string row;
  std::string family;
  std::optional<std::string> qualifier;  // nullopt: of columns whose names are not kept
};
inline constexpr size_t kColumnsNamed = 10;
// Some columns, of which the first, in the order of the store, are told by name.
struct ToldColumns {
  uint64_t count = 0;
  std::vector<ToldColumn> first;  // kColumnsNamed at most

  void Add(ToldColumn column);
};

struct HistoryAccess {
  Store& store;
  const Caller& caller;
  const Clock& clock;  // the store's
  // Once it is true the work ends with kCancelled, soon. Null: never.
  const std::atomic<bool>* cancelled = nullptr;
};

// The table's schema. kTableNotFound, kNoSuchColumnFamily; kIllegalArgument: a qualifier without a
// row and a family.
StatusOr<std::shared_ptr<const TableSchema>> CheckScope(const HistoryAccess& access,
                                                        const Scope& scope);
Status CheckNotCancelled(const HistoryAccess& access);

}  // namespace cellfs

#endif  // CELLFS_SRC_HISTORY_SCOPE_H_
