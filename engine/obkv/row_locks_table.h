// SPDX-License-Identifier: MIT
//
// RowLocksTable: cellfs.row_locks, whose rows stand for rows of data that may not be there yet, for
// servers lock only what is. A transaction that changes rows locks those of them first that the
// hashes of the rows' names say, in their order. Our own mounts and commands keep to that; other
// clients know nothing of it.
//
// By the same rows it is known what has become of a transaction whose COMMIT was not answered: each
// leaves a mark in one of them, which is there if and only if it was committed.
#ifndef CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_
#define CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/names.h"
#include "engine/obkv/transaction.h"

namespace cellfs::obkv {

// Of a transaction at one of the locks.
struct Turn {
  int64_t lock = 0;
  int64_t number = 0;  // so many were committed before it
  std::string mark;
};

// Thread-safe.
class RowLocksTable {
 public:
  // Until the transaction, which has not done anything yet, ends. Makes the table where it is not
  // there. REQUIRES: there is a row.
  StatusOr<Turn> Lock(const Transaction& transaction, const TableName& table,
                      std::span<const std::string_view> rows);

  // Asked in another transaction: waits until the first one is over. Nullopt: nobody knows any more,
  // for many have come after it.
  StatusOr<std::optional<bool>> WasMade(const Transaction& transaction, const Turn& turn);
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_
