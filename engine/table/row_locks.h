// SPDX-License-Identifier: MIT
//
// RowLocks: a fixed number of mutexes, shared by the rows by hash, so that read-modify-write of a
// row is atomic. An operation on several rows takes their mutexes in the order of the stripes, and
// an operation on one row takes no second mutex: so there is no deadlock.
#ifndef CELLFS_ENGINE_TABLE_ROW_LOCKS_H_
#define CELLFS_ENGINE_TABLE_ROW_LOCKS_H_

#include <array>
#include <bitset>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

#include "engine/waiting.h"

namespace cellfs {

class RowLocks {
 public:
  using OneLock = std::unique_lock<std::mutex>;
  static constexpr size_t kStripes = 1024;
  using Stripes = std::bitset<kStripes>;

  static size_t StripeOf(std::string_view row) {
    return std::hash<std::string_view>()(row) % kStripes;
  }

  [[nodiscard]] OneLock Lock(std::string_view row) { return LockOf(StripeOf(row)); }
  [[nodiscard]] std::vector<OneLock> LockAll(const Stripes& stripes) {
    std::vector<OneLock> locks;
    locks.reserve(stripes.count());
    for (size_t stripe = 0; stripe < kStripes; ++stripe)
      if (stripes[stripe]) locks.push_back(LockOf(stripe));
    return locks;
  }

 private:
  // Who holds one may wait for memory.
  OneLock LockOf(size_t stripe) { return TakeLock(mutexes_[stripe]); }

  std::array<std::mutex, kStripes> mutexes_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_TABLE_ROW_LOCKS_H_
