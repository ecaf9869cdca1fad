// SPDX-License-Identifier: MIT
//
// RemovedFamilies: families that rmdir took out of a row in this mount though their table declares
// them: a look-up, which finds every declared family of a row that has cells, finds them no more
// until mkdir makes them or a cell comes to them. Of very many rows the oldest is forgotten.
#ifndef CELLFS_FS_NODES_REMOVED_FAMILIES_H_
#define CELLFS_FS_NODES_REMOVED_FAMILIES_H_

#include <cstddef>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class RemovedFamilies {
 public:
  static constexpr size_t kMostRows = 4096;

  void Note(const Place& family) {
    const Place row = family.Parent();
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = by_row_.try_emplace(row);
    known->second.insert(family.family);
    if (!is_new) return;
    rows_.push_back(row);
    if (rows_.size() <= kMostRows) return;
    by_row_.erase(rows_.front());
    rows_.pop_front();
  }
  bool Has(const Place& family) const {
    const std::lock_guard lock(mutex_);
    if (by_row_.empty()) return false;
    const auto known = by_row_.find(family.Parent());
    return known != by_row_.end() && known->second.contains(family.family);
  }
  // It is there again.
  void Forget(const Place& family) {
    const std::lock_guard lock(mutex_);
    if (by_row_.empty()) return;
    const auto known = by_row_.find(family.Parent());
    if (known != by_row_.end()) known->second.erase(family.family);
  }
  void ForgetRow(const Place& row) {
    const std::lock_guard lock(mutex_);
    by_row_.erase(row);
  }
  void ForgetTable(const TableName& table) {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_row_, [&](const auto& known) { return known.first.table == table; });
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Place, std::set<std::string>, PlaceHash> by_row_;  // guarded by mutex_
  std::deque<Place> rows_;  // likewise; the oldest first, some are forgotten already
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_REMOVED_FAMILIES_H_
