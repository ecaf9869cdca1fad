// SPDX-License-Identifier: MIT
#include "engine/obkv/row_locks_table.h"

#include <xxhash.h>

#include <random>
#include <set>

namespace cellfs::obkv {
namespace {

constexpr int64_t kLocks = 1024;

// `recent` has the marks of the last transactions, the newest first, `turn` the number of all. The
// server says the number that it has set, so that one statement locks, marks and counts.
constexpr size_t kMarkBytes = 8;
constexpr size_t kMarks = 32;
constexpr char kMake[] =
    "CREATE TABLE IF NOT EXISTS cellfs.row_locks (id INT NOT NULL PRIMARY KEY,"
    " turn BIGINT NOT NULL, recent VARBINARY(256) NOT NULL)";
constexpr char kTakeTurn[] =
    "UPDATE cellfs.row_locks SET turn = LAST_INSERT_ID(turn + 1),"
    " recent = LEFT(CONCAT(?, recent), 256) WHERE id = ?";
constexpr char kLook[] = "SELECT turn, recent FROM cellfs.row_locks WHERE id = ? FOR UPDATE";
static_assert(kMarkBytes * kMarks == 256);

std::string NewMark() {
  static thread_local std::random_device random;
  std::string mark;
  while (mark.size() < kMarkBytes) mark += static_cast<char>(random());
  return mark;
}

std::set<int64_t> LocksOf(const TableName& table, std::span<const std::string_view> rows) {
  std::set<int64_t> locks;
  for (const std::string_view row : rows) {
    const std::string name = table.ToString() + '\0' + std::string(row);
    locks.insert(static_cast<int64_t>(XXH64(name.data(), name.size(), 0) % kLocks));
  }
  return locks;
}

Status Make(const Transaction& transaction) {
  Connection& connection = transaction.connection();
  const Patience& patience = transaction.patience();
  CELLFS_RETURN_IF_ERROR(connection.Command("CREATE DATABASE IF NOT EXISTS cellfs", patience));
  CELLFS_RETURN_IF_ERROR(connection.Command(kMake, patience));
  std::string fill = "INSERT IGNORE INTO cellfs.row_locks VALUES ";
  for (int64_t id = 0; id < kLocks; ++id)
    fill += (id == 0 ? "(" : ", (") + std::to_string(id) + ", 0, '')";
  CELLFS_RETURN_IF_ERROR(connection.Command(fill, patience));
  // What makes a table ends the transaction.
  return connection.Command("START TRANSACTION", patience);
}

// Whether the lock was there.
StatusOr<bool> TakeTurn(const Transaction& transaction, Turn& turn) {
  Connection& connection = transaction.connection();
  const auto changed = connection.Change(kTakeTurn, {turn.mark, turn.lock},
                                         transaction.patience());
  const StatusCode code = changed.status().code();
  if (code == StatusCode::kTableNotFound || code == StatusCode::kNamespaceNotFound) return false;
  if (!changed.ok()) return changed.status();
  turn.number = static_cast<int64_t>(connection.last_insert_id()) - 1;
  return *changed > 0;
}

// Without a mark: one is enough to tell.
Status LockOthers(const Transaction& transaction, const std::set<int64_t>& locks) {
  if (locks.empty()) return {};
  std::string ids;
  for (const int64_t lock : locks) ids += (ids.empty() ? "" : ", ") + std::to_string(lock);
  return transaction.connection().Command(
      "UPDATE cellfs.row_locks SET turn = turn + 1 WHERE id IN (" + ids + ")",
      transaction.patience());
}

bool HasMark(std::string_view recent, std::string_view mark) {
  for (size_t at = 0; at < recent.size(); at += kMarkBytes)
    if (recent.substr(at, kMarkBytes) == mark) return true;
  return false;
}

}  // namespace

StatusOr<Turn> RowLocksTable::Lock(const Transaction& transaction, const TableName& table,
                                   std::span<const std::string_view> rows) {
  std::set<int64_t> locks = LocksOf(table, rows);
  Turn turn{.lock = locks.extract(locks.begin()).value(), .number = 0, .mark = NewMark()};
  CELLFS_ASSIGN_OR_RETURN(bool is_taken, TakeTurn(transaction, turn));
  if (!is_taken) {
    CELLFS_RETURN_IF_ERROR(Make(transaction));
    CELLFS_ASSIGN_OR_RETURN(is_taken, TakeTurn(transaction, turn));
  }
  if (!is_taken) return Status(StatusCode::kUnavailable, "cellfs.row_locks cannot be locked");
  CELLFS_RETURN_IF_ERROR(LockOthers(transaction, locks));
  return turn;
}

StatusOr<std::optional<bool>> RowLocksTable::WasMade(const Transaction& transaction,
                                                     const Turn& turn) {
  CELLFS_ASSIGN_OR_RETURN(
      const auto rows, transaction.connection().Query(kLook, {turn.lock}, transaction.patience()));
  std::optional<bool> was_made;
  if (rows.empty()) return was_made;
  const SqlRow& row = rows.front();
  const auto later = static_cast<uint64_t>(NumberOf(row[0]) - turn.number);
  if (HasMark(BytesOf(row[1]), turn.mark))
    was_made = true;
  else if (later <= kMarks)
    was_made = false;
  return was_made;
}

}  // namespace cellfs::obkv
