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
#include <utility>
#include <vector>

#include "fs/nodes/node.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

class ColumnLocks {
 public:
  // Knows whether its thread holds any, for those who must not be called then.
  class Lock {
   public:
    Lock() = default;
    explicit Lock(std::mutex& mutex) : lock_(mutex) { ++held_; }
    Lock(Lock&&) = default;
    Lock& operator=(Lock&& other) noexcept {
      unlock();
      lock_ = std::move(other.lock_);
      return *this;
    }
    ~Lock() { unlock(); }

    void unlock() {
      if (!lock_.owns_lock()) return;
      --held_;
      lock_.unlock();
    }
    static bool IsAnyHeldHere() { return held_ > 0; }

   private:
    static inline thread_local int held_ = 0;
    std::unique_lock<std::mutex> lock_;
  };

  [[nodiscard]] Lock Take(const Place& column) { return Lock(MutexOf(column.ColumnNumber())); }

  // Of the column in which the file is, which it does not leave while the lock is held.
  [[nodiscard]] Lock Take(const Node& file) {
    while (true) {
      const uint64_t number = file.column_number();
      Lock lock(MutexOf(number));
      if (file.column_number() == number) return lock;
    }
  }

  // Of all columns: nothing is put until they go.
  [[nodiscard]] std::vector<Lock> TakeAll() {
    std::vector<Lock> locks;
    locks.reserve(mutexes_.size());
    for (std::mutex& mutex : mutexes_) locks.emplace_back(mutex);
    return locks;
  }

  // Both, whatever the order; the second is empty where they share one.
  [[nodiscard]] std::pair<Lock, Lock> Take(const Place& a, const Place& b) {
    size_t first = IndexOf(a);
    size_t second = IndexOf(b);
    if (first > second) std::swap(first, second);
    Lock lower(mutexes_[first]);
    return {std::move(lower), first == second ? Lock() : Lock(mutexes_[second])};
  }

 private:
  std::mutex& MutexOf(uint64_t column_number) { return mutexes_[column_number % mutexes_.size()]; }
  size_t IndexOf(const Place& column) const { return column.ColumnNumber() % mutexes_.size(); }

  std::array<std::mutex, 1024> mutexes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_LOCKS_H_
