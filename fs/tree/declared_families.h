// SPDX-License-Identifier: MIT
//
// DeclaredFamilies: those that mkdir declared in this mount, until somebody says himself what the
// table's schema is. Unbounded, as families are few.
#ifndef CELLFS_FS_TREE_DECLARED_FAMILIES_H_
#define CELLFS_FS_TREE_DECLARED_FAMILIES_H_

#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class DeclaredFamilies {
 public:
  void Note(const Place& family) {
    std::lock_guard lock(mutex_);
    declared_.emplace(family.table, family.family);
  }
  bool Has(const Place& family) const {
    std::lock_guard lock(mutex_);
    return declared_.contains({family.table, family.family});
  }
  // The table has another name.
  void Move(const TableName& from, const TableName& to) {
    std::lock_guard lock(mutex_);
    std::set<std::pair<TableName, std::string>> declared;
    for (const auto& [table, family] : declared_)
      declared.emplace(table == from ? to : table, family);
    declared_ = std::move(declared);
  }
  void Forget(const TableName& table) {
    std::lock_guard lock(mutex_);
    std::erase_if(declared_, [&](const auto& family) { return family.first == table; });
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<TableName, std::string>> declared_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_DECLARED_FAMILIES_H_
