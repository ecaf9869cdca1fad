// SPDX-License-Identifier: MIT
//
// SqlCursor: the cells of one family's table in their order, which is that of its primary key (K,
// Q, T), for T is the negated timestamp. They come in batches, long values only when they are asked
// for.
#ifndef CELLFS_ENGINE_OBKV_SQL_CURSOR_H_
#define CELLFS_ENGINE_OBKV_SQL_CURSOR_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/obkv/connection.h"
#include "engine/visibility/cell_cursor.h"

namespace cellfs::obkv {

// What the cursor may look at, and how.
struct SqlScope {
  std::string table;                   // as it stands in a statement
  bool has_ttl = false;                // it has the column TTL
  std::optional<std::string> only_row;
  std::string stop_row;                // nothing from it on is wanted; empty: no bound
  bool lengths_only = false;
  bool for_update = false;             // what it reads stays as it is until the transaction ends
};

// The connection outlives it.
std::unique_ptr<CellCursor> OpenSqlCursor(Connection& connection, SqlScope scope,
                                          const Patience& patience);

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_SQL_CURSOR_H_
