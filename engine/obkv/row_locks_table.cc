// SPDX-License-Identifier: MIT
#include "engine/obkv/row_locks_table.h"

#include <xxhash.h>

#include <string>

namespace cellfs::obkv {
namespace {

constexpr int64_t kLocks = 1024;
constexpr char kLock[] = "SELECT id FROM cellfs.row_locks WHERE id = ? FOR UPDATE";

}  // namespace

Status RowLocksTable::Make(const Transaction& transaction) {
  Connection& connection = transaction.connection();
  const Patience& patience = transaction.patience();
  CELLFS_RETURN_IF_ERROR(connection.Command("CREATE DATABASE IF NOT EXISTS cellfs", patience));
  CELLFS_RETURN_IF_ERROR(connection.Command(
      "CREATE TABLE IF NOT EXISTS cellfs.row_locks (id INT NOT NULL PRIMARY KEY)", patience));
  std::string fill = "INSERT IGNORE INTO cellfs.row_locks VALUES ";
  for (int64_t id = 0; id < kLocks; ++id)
    fill += (id == 0 ? "(" : ", (") + std::to_string(id) + ")";
  CELLFS_RETURN_IF_ERROR(connection.Command(fill, patience));
  // What makes a table ends the transaction.
  return connection.Command("START TRANSACTION", patience);
}

Status RowLocksTable::Lock(const Transaction& transaction, const TableName& table,
                           std::string_view row) {
  const std::string name = table.ToString() + '\0' + std::string(row);
  const auto id = static_cast<int64_t>(XXH64(name.data(), name.size(), 0) % kLocks);
  for (const bool is_made : {false, true}) {
    const auto locked = transaction.connection().Query(kLock, {id}, transaction.patience());
    if (locked.ok() && !locked->empty()) return {};
    const StatusCode code = locked.status().code();
    const bool is_missing = locked.ok() || code == StatusCode::kTableNotFound ||
                            code == StatusCode::kNamespaceNotFound;
    if (!is_missing) return locked.status();
    if (is_made) break;
    CELLFS_RETURN_IF_ERROR(Make(transaction));
  }
  return {StatusCode::kUnavailable, "cellfs.row_locks cannot be locked"};
}

}  // namespace cellfs::obkv
