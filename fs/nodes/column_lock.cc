// SPDX-License-Identifier: MIT
#include "fs/nodes/column_lock.h"

#include <algorithm>
#include <tuple>

namespace cellfs::fs {

ColumnLock& ColumnLock::operator=(ColumnLock&& other) noexcept {
  unlock();
  lock_ = std::move(other.lock_);
  column_ = std::move(other.column_);
  return *this;
}

void ColumnLock::AwaitOpening() {
  while (IsClosed()) {
    unlock();
    column_->table_.AwaitOpening(*column_);
    Lock();
  }
}

ColumnLock ColumnLock::Of(ColumnTable& columns, const Place& in_column) {
  return Of(columns.Get(in_column));
}

ColumnLock ColumnLock::Of(const Node& file) {
  while (true) {
    ColumnLock lock = Of(file.column());
    if (file.IsIn(lock.column())) return lock;
  }
}

ColumnLock ColumnLock::TryOf(ColumnPtr column) {
  ColumnLock lock(std::move(column), std::defer_lock);
  if (!lock.lock_.try_lock()) return {};
  ++held_;
  return lock.IsClosed() ? ColumnLock() : std::move(lock);
}

ColumnLock ColumnLock::TryOf(const Node& file) {
  ColumnLock lock = TryOf(file.column());
  return lock.owns_lock() && file.IsIn(lock.column()) ? std::move(lock) : ColumnLock();
}

// None is held while it waits for another's family: who closed that may wait for the one.
std::vector<ColumnLock> ColumnLock::Of(std::vector<ColumnPtr> columns) {
  const auto key = [](const ColumnPtr& column) {
    return std::tuple(column->number(), column.get());
  };
  std::sort(columns.begin(), columns.end(),
            [&](const ColumnPtr& a, const ColumnPtr& b) { return key(a) < key(b); });
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<ColumnLock> locks;
  locks.reserve(columns.size());
  while (true) {
    for (const ColumnPtr& column : columns) locks.push_back(ColumnLock(column));
    const auto closed = std::find_if(locks.begin(), locks.end(),
                                     [](const ColumnLock& lock) { return lock.IsClosed(); });
    if (closed == locks.end()) return locks;
    const ColumnPtr waited_for = closed->column_;
    locks.clear();
    waited_for->table_.AwaitOpening(*waited_for);
  }
}

std::vector<ColumnPtr> ColumnLock::Find(ColumnTable& columns,
                                        const std::vector<Place>& in_columns) {
  std::vector<ColumnPtr> found;
  found.reserve(in_columns.size());
  for (const Place& place : in_columns) found.push_back(columns.Get(place));
  return found;
}

std::vector<ColumnLock> ColumnLock::Of(ColumnTable& columns, const std::vector<Place>& in_columns) {
  return Of(Find(columns, in_columns));
}

std::optional<std::vector<ColumnLock>> ColumnLock::TryOf(ColumnTable& columns,
                                                         const std::vector<Place>& in_columns) {
  std::vector<ColumnPtr> found = Find(columns, in_columns);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<ColumnLock> locks;
  for (ColumnPtr& column : found) {
    locks.push_back(TryOf(std::move(column)));
    if (!locks.back().owns_lock()) return std::nullopt;
  }
  return locks;
}

std::pair<ColumnLock, ColumnLock> ColumnLock::Of(ColumnTable& columns, const Place& a,
                                                 const Place& b) {
  const ColumnPtr first = columns.Get(a);
  std::vector<ColumnLock> locks = Of(std::vector{first, columns.Get(b)});
  if (locks.size() == 1) return {std::move(locks.front()), ColumnLock()};
  if (&locks.front().column() != first.get()) std::swap(locks.front(), locks.back());
  return {std::move(locks.front()), std::move(locks.back())};
}

}  // namespace cellfs::fs
