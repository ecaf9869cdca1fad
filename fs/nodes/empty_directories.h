// SPDX-License-Identifier: MIT
//
// EmptyDirectories: the rows and families in which no cell was seen when they were looked at last,
// as long as nothing has come since, anywhere. mkdir looks twice for what it makes, and rm -r looks
// again for what it has emptied, each time past all that is hidden there.
#ifndef CELLFS_FS_NODES_EMPTY_DIRECTORIES_H_
#define CELLFS_FS_NODES_EMPTY_DIRECTORIES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "fs/nodes/generation.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class EmptyDirectories {
 public:
  // REQUIRES: MayBeCached (fs/reading/reading.h). `looked_at`: Generation::Comings() from before the
  // look.
  void Note(const Place& row_or_family, uint64_t looked_at) {
    Seen seen{row_or_family, looked_at};  // before the lock: the one before goes after it
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& other) {
      return other.directory == row_or_family;
    });
    std::swap(known != seen_.end() ? *known : seen_[next_++ % seen_.size()], seen);
  }
  bool Has(const Place& row_or_family) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(seen_.begin(), seen_.end(), [&](const Seen& seen) {
      return seen.directory == row_or_family && seen.looked_at == Generation::Comings();
    });
  }

 private:
  struct Seen {
    Place directory;  // the root, which is none of them: there is nothing
    uint64_t looked_at = 0;
  };

  mutable std::mutex mutex_;
  std::array<Seen, 4> seen_;  // guarded by mutex_, as is the next
  size_t next_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_EMPTY_DIRECTORIES_H_
