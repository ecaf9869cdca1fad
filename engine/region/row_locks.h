// SPDX-License-Identifier: MIT
//
// RowLocks: one mutex for each of many rows, by hash, so that what reads a row to write it is not
// disturbed. Who needs several takes them in the order of the stripes, and who needs one takes no
// second: so nobody waits in a circle.
#ifndef CELLFS_ENGINE_REGION_ROW_LOCKS_H_
#define CELLFS_ENGINE_REGION_ROW_LOCKS_H_

#include <array>
#include <bitset>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

namespace cellfs {

class RowLocks {
 public:
  using OneLock = std::unique_lock<std::mutex>;
  static constexpr size_t kStripes = 1024;
  using Stripes = std::bitset<kStripes>;

  static size_t StripeOf(std::string_view row) {
    return std::hash<std::string_view>()(row) % kStripes;
  }

  [[nodiscard]] OneLock Lock(std::string_view row) { return OneLock(mutexes_[StripeOf(row)]); }
  [[nodiscard]] std::vector<OneLock> LockAll(const Stripes& stripes) {
    std::vector<OneLock> locks;
    locks.reserve(stripes.count());
    for (size_t stripe = 0; stripe < kStripes; ++stripe)
      if (stripes[stripe]) locks.emplace_back(mutexes_[stripe]);
    return locks;
  }

 private:
  std::array<std::mutex, kStripes> mutexes_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_ROW_LOCKS_H_
