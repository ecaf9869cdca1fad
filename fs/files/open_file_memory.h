// SPDX-License-Identifier: MIT
//
// OpenFileMemory: the bytes that open files keep in memory, over a whole mount: what is written and
// not put yet, values that are read, files without a name, listings. Its users share it, so that
// who opens many large files can use up neither the daemon's memory nor the share of others.
#ifndef CELLFS_FS_FILES_OPEN_FILE_MEMORY_H_
#define CELLFS_FS_FILES_OPEN_FILE_MEMORY_H_

#include <sys/types.h>

#include <cstdint>

#include "fs/base/outcome.h"
#include "fs/base/shared_limit.h"

namespace cellfs::fs {

// Thread-safe. It outlives its shares.
class OpenFileMemory {
 public:
  // The first user may have at least two values of that size.
  OpenFileMemory(uint64_t limit, uint64_t max_value_size);

  uint64_t used() const { return limit_.used(); }
  uint64_t limit() const { return limit_.limit(); }
  // Why a share could not grow, for a program that writes (ENOSPC) or reads (ENOMEM).
  Outcome Full(int error) const;

  // What one handle or one file holds, in the name of a user. Not thread-safe.
  class Share {
   public:
    Share(OpenFileMemory& memory, uid_t user) : counted_(memory.limit_, user) {}

    // False, and as it was: there is no room. Less is always granted.
    [[nodiscard]] bool Resize(uint64_t bytes);

   private:
    SharedLimit::Share counted_;
  };

 private:
  SharedLimit limit_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_OPEN_FILE_MEMORY_H_
