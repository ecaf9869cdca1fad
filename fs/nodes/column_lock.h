// SPDX-License-Identifier: MIT
//
// ColumnLock: what changes a column, and a change of the name it goes to, one after the other. A
// handle asks under the lock what its name is, and reads there; unlink and rename change store and
// name under it.
//
// Order: a handle's own mutex, a schema's turn (fs/schema/schema_changes.h), the locks of columns,
// then the leaves. A thread holds those of one operation, taken together. Nobody waits for the
// kernel while holding one: it may wait for a request that needs it.
#ifndef CELLFS_FS_NODES_COLUMN_LOCK_H_
#define CELLFS_FS_NODES_COLUMN_LOCK_H_

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/waiting.h"
#include "fs/nodes/column.h"
#include "fs/nodes/column_table.h"
#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Of one thread. Keeps the column.
class ColumnLock {
 public:
  ColumnLock() = default;
  ColumnLock(ColumnLock&& other) noexcept = default;
  ColumnLock& operator=(ColumnLock&& other) noexcept;
  ~ColumnLock() { unlock(); }

  // Of the column that the place is in.
  [[nodiscard]] static ColumnLock Of(ColumnTable& columns, const Place& in_column);
  // Of the one in which the file is, which it does not leave while the lock is held.
  [[nodiscard]] static ColumnLock Of(const Node& file);
  // Likewise, at once; holds none where that cannot be.
  [[nodiscard]] static ColumnLock TryOf(const Node& file);
  // Of several, whatever their order, each once.
  [[nodiscard]] static std::vector<ColumnLock> Of(ColumnTable& columns,
                                                  const std::vector<Place>& in_columns);
  // Likewise, at once; none where one of them cannot be had.
  [[nodiscard]] static std::optional<std::vector<ColumnLock>> TryOf(
      ColumnTable& columns, const std::vector<Place>& in_columns);
  // Of both, in this order; the second is empty where they are one.
  [[nodiscard]] static std::pair<ColumnLock, ColumnLock> Of(ColumnTable& columns, const Place& a,
                                                            const Place& b);

  bool owns_lock() const { return lock_.owns_lock(); }
  Column& column() const { return *column_; }
  void unlock() {
    if (!lock_.owns_lock()) return;
    --held_;
    lock_.unlock();
  }
  // Whether this thread holds any: for those who must not be called then.
  static bool IsAnyHeldHere() { return held_ > 0; }

 private:
  // Waits for the mutex alone.
  explicit ColumnLock(ColumnPtr column) : ColumnLock(std::move(column), std::defer_lock) {
    Lock();
  }
  ColumnLock(ColumnPtr column, std::defer_lock_t)
      : column_(std::move(column)), lock_(column_->mutex_, std::defer_lock) {}
  static ColumnLock Of(ColumnPtr column) {
    ColumnLock lock(std::move(column));
    if (lock.IsClosed()) lock.AwaitOpening();
    return lock;
  }
  static std::vector<ColumnPtr> Find(ColumnTable& columns, const std::vector<Place>& in_columns);
  static std::vector<ColumnLock> Of(std::vector<ColumnPtr> columns);
  static ColumnLock TryOf(ColumnPtr column);
  void Lock() {
    LockOrWait(lock_);
    ++held_;
  }
  void AwaitOpening();
  bool IsClosed() const { return column_->table_.IsClosed(*column_); }

  static inline thread_local int held_ = 0;
  ColumnPtr column_;  // before the lock: goes after it
  std::unique_lock<std::mutex> lock_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_LOCK_H_
