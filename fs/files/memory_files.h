// SPDX-License-Identifier: MIT
//
// Files that are held in memory (temporaries beside a .toml and below .versions, and wherever the
// store takes nothing back): so many, and so many bytes in all of them, which their makers share
// (fs/base/shared_limit.h).
#ifndef CELLFS_FS_FILES_MEMORY_FILES_H_
#define CELLFS_FS_FILES_MEMORY_FILES_H_

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "fs/base/outcome.h"
#include "fs/base/shared_limit.h"

namespace cellfs::fs {

// Of all files. Thread-safe.
struct MemoryFileLimits {
  SharedLimit files{1024};
  SharedLimit bytes{uint64_t{64} << 20};
};

// The bytes and attributes of a file; of a directory the attributes.
class MemoryFile {
 public:
  MemoryFile(std::shared_ptr<MemoryFileLimits> limits, uid_t maker);

  std::mutex mutex;  // guards the rest
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0600;
  timespec mtime{};
  timespec ctime{};

  // It was renamed, and these bytes are stored under its new name: who has it open changes them no
  // more (ESTALE).
  bool is_put = false;

  const std::string& bytes() const { return bytes_; }
  // ENOSPC: the maker's files have too many already, and nothing changed.
  Outcome Write(std::string_view bytes, uint64_t offset);
  Outcome Resize(uint64_t size);

 private:
  friend class MemoryFiles;

  const std::shared_ptr<MemoryFileLimits> limits_;  // outlives the shares
  SharedLimit::Share file_;
  SharedLimit::Share size_;
  std::string bytes_;
};

// Thread-safe. Files may outlive it.
class MemoryFiles {
 public:
  // ENOSPC: the maker has too many.
  OutcomeOr<std::shared_ptr<MemoryFile>> Make(uid_t maker);

 private:
  const std::shared_ptr<MemoryFileLimits> limits_ = std::make_shared<MemoryFileLimits>();
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_MEMORY_FILES_H_
