// SPDX-License-Identifier: MIT
//
// RowLocks: one mutex for each of many rows, by hash, so that what reads a row to write it is not
// disturbed. A thread holds one at a time: nothing in the store is atomic over rows.
#ifndef CELLFS_ENGINE_REGION_ROW_LOCKS_H_
#define CELLFS_ENGINE_REGION_ROW_LOCKS_H_

#include <array>
#include <functional>
#include <mutex>
#include <string_view>

namespace cellfs {

class RowLocks {
 public:
  [[nodiscard]] std::unique_lock<std::mutex> Lock(std::string_view row) {
    return std::unique_lock(stripes_[std::hash<std::string_view>()(row) % stripes_.size()]);
  }

 private:
  std::array<std::mutex, 1024> stripes_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REGION_ROW_LOCKS_H_
