// SPDX-License-Identifier: MIT
//
// OpenFileMemory: the bytes that open files keep in memory, over a whole mount and by user: what is
// written and not put yet, values that are read, files without a name. It has a bound, so that who
// opens many large files can use up neither the daemon's memory nor the share of others.
#ifndef CELLFS_FS_NODES_OPEN_FILE_MEMORY_H_
#define CELLFS_FS_NODES_OPEN_FILE_MEMORY_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "fs/base/outcome.h"

namespace cellfs::fs {

// Thread-safe. It outlives its shares.
class OpenFileMemory {
 public:
  // A user may have half of the limit, and at least two values of that size.
  OpenFileMemory(uint64_t limit, uint64_t max_value_size);

  uint64_t used() const;
  uint64_t limit() const { return limit_; }
  // Why a share could not grow, for a program that writes (ENOSPC) or reads (ENOMEM).
  Outcome Full(int error) const;

  // What one handle or one file holds, in the name of a user. Not thread-safe.
  class Share {
   public:
    Share(OpenFileMemory& memory, uid_t user) : memory_(memory), user_(user) {}
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False, and as it was: there is no room. Less is always granted.
    [[nodiscard]] bool Resize(uint64_t bytes);

   private:
    OpenFileMemory& memory_;
    const uid_t user_;
    uint64_t counted_ = 0;
  };

 private:
  bool Change(uid_t user, uint64_t from, uint64_t to);

  const uint64_t limit_;
  mutable std::mutex mutex_;  // guards the rest
  uint64_t used_ = 0;
  std::map<uid_t, uint64_t> by_user_;  // those who have any
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_OPEN_FILE_MEMORY_H_
