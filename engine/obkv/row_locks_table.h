// SPDX-License-Identifier: MIT
//
// RowLocksTable: cellfs.row_locks, whose rows stand for rows of data that may not be there yet, for
// servers lock only what is. A transaction that changes a row by what it has read there locks one of
// them first, by the hash of the row's name. Our own mounts and commands keep to that; other clients
// know nothing of it.
#ifndef CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_
#define CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_

#include <string_view>

#include "engine/names.h"
#include "engine/obkv/transaction.h"

namespace cellfs::obkv {

// Thread-safe.
class RowLocksTable {
 public:
  // Until the transaction, which has not done anything yet, ends. Makes the table where it is not
  // there.
  Status Lock(const Transaction& transaction, const TableName& table, std::string_view row);

 private:
  static Status Make(const Transaction& transaction);
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_ROW_LOCKS_TABLE_H_
