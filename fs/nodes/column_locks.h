// SPDX-License-Identifier: MIT
//
// ColumnLocks: what changes a column, and a change of the name it goes to, one after the other. A
// handle asks under the lock what its name is, and reads there; unlink and rename change store and
// name under it. Mutexes by hash: a thread holds those of one operation, and takes a handle's own
// mutex before, never after. Nobody waits for the kernel while holding one: the kernel may wait for
// a request that needs it.
#ifndef CELLFS_FS_NODES_COLUMN_LOCKS_H_
#define CELLFS_FS_NODES_COLUMN_LOCKS_H_

#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "engine/waiting.h"
#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

class ColumnLocks {
 public:
  // Knows whether its thread holds any, for those who must not be called then.
  class Lock {
   public:
    Lock() = default;
    Lock(std::shared_mutex& all, std::mutex& mutex)
        : all_(all, std::defer_lock), lock_(mutex, std::defer_lock) {
      LockOrWait(all_);
      LockOrWait(lock_);
      ++held_;
    }
    // The second of two, or a further one: it goes before the first.
    explicit Lock(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
      LockOrWait(lock_);
      ++held_;
    }
    Lock(Lock&&) = default;
    Lock& operator=(Lock&& other) noexcept {
      unlock();
      all_ = std::move(other.all_);
      lock_ = std::move(other.lock_);
      return *this;
    }
    ~Lock() { unlock(); }

    void unlock() {
      if (!lock_.owns_lock()) return;
      --held_;
      lock_.unlock();
      if (all_.owns_lock()) all_.unlock();
    }
    static bool IsAnyHeldHere() { return held_ > 0; }

   private:
    static inline thread_local int held_ = 0;
    std::shared_lock<std::shared_mutex> all_;
    std::unique_lock<std::mutex> lock_;
  };
  using LockOfAll = std::unique_lock<std::shared_mutex>;

  [[nodiscard]] Lock Take(const Place& column) {
    return Lock(all_, MutexOf(column.ColumnNumber()));
  }

  // Of the column in which the file is, which it does not leave while the lock is held.
  [[nodiscard]] Lock Take(const Node& file) {
    while (true) {
      const uint64_t number = file.column_number();
      Lock lock(all_, MutexOf(number));
      if (file.column_number() == number) return lock;
    }
  }

  // Of several columns, whatever their order.
  [[nodiscard]] std::vector<Lock> Take(const std::vector<Place>& columns) {
    std::set<size_t> indexes;
    for (const Place& column : columns) indexes.insert(IndexOf(column));
    std::vector<Lock> locks;
    for (const size_t index : indexes) {
      if (locks.empty()) {
        locks.emplace_back(all_, mutexes_[index]);
      } else {
        locks.emplace_back(mutexes_[index]);
      }
    }
    return locks;
  }

  // Of all columns: nothing is put until it goes. Not for a thread that holds any.
  [[nodiscard]] LockOfAll TakeAll() {
    LockOfAll lock(all_, std::defer_lock);
    LockOrWait(lock);
    return lock;
  }

  // Both, whatever the order; the second is empty where they share one.
  [[nodiscard]] std::pair<Lock, Lock> Take(const Place& a, const Place& b) {
    size_t first = IndexOf(a);
    size_t second = IndexOf(b);
    if (first > second) std::swap(first, second);
    Lock lower(all_, mutexes_[first]);
    return {std::move(lower), first == second ? Lock() : Lock(mutexes_[second])};
  }

 private:
  std::mutex& MutexOf(uint64_t column_number) { return mutexes_[column_number % mutexes_.size()]; }
  size_t IndexOf(const Place& column) const { return column.ColumnNumber() % mutexes_.size(); }

  std::shared_mutex all_;  // shared by whoever holds one of
  std::array<std::mutex, 1024> mutexes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_LOCKS_H_
