// SPDX-License-Identifier: MIT
//
// KeptQueries: the names below .scan that the kernel knows. Each holds its query, with what its
// expressions have become, as long as the kernel does, and whoever looks names up can make as many as
// he likes. Of more than so many the oldest is to be forgotten: who uses it looks it up anew.
#ifndef CELLFS_FS_NODES_KEPT_QUERIES_H_
#define CELLFS_FS_NODES_KEPT_QUERIES_H_

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class KeptQueries {
 public:
  static constexpr size_t kMost = 1024;

  struct Name {
    Place scan_directory;
    std::string name;
  };
  // One that the kernel is about to know. The one that is too many, if there is.
  std::optional<Name> Add(Name query) {
    const std::lock_guard lock(mutex_);
    queries_.push_back(std::move(query));
    if (queries_.size() <= kMost) return std::nullopt;
    Name oldest = std::move(queries_.front());
    queries_.pop_front();
    return oldest;
  }

 private:
  std::mutex mutex_;           // a leaf
  std::deque<Name> queries_;  // oldest first; some may have been forgotten since
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_KEPT_QUERIES_H_
