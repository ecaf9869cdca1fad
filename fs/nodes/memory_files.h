// SPDX-License-Identifier: MIT
//
// Files that are held in memory (temporaries beside a .toml and below .versions): so many, and so
// many bytes in all of them, that who makes them can use up neither the daemon's memory nor others'
// share of it.
#ifndef CELLFS_FS_NODES_MEMORY_FILES_H_
#define CELLFS_FS_NODES_MEMORY_FILES_H_

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "fs/base/outcome.h"

namespace cellfs::fs {

// What is left for all files. Thread-safe.
struct MemoryLeft {
  static constexpr int64_t kFiles = 1024;
  static constexpr int64_t kBytes = int64_t{64} << 20;

  std::atomic<int64_t> files{kFiles};
  std::atomic<int64_t> bytes{kBytes};
};

// The bytes and attributes of a file; of a directory the attributes.
class MemoryFile {
 public:
  explicit MemoryFile(std::shared_ptr<MemoryLeft> left) : left_(std::move(left)) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::mutex mutex;  // guards the rest
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0600;
  timespec mtime{};
  timespec ctime{};

  const std::string& bytes() const { return bytes_; }
  // ENOSPC: too many are held already, and nothing changed.
  Outcome Write(std::string_view bytes, uint64_t offset);
  Outcome Resize(uint64_t size);

 private:
  const std::shared_ptr<MemoryLeft> left_;
  std::string bytes_;
};

// Thread-safe. Files may outlive it.
class MemoryFiles {
 public:
  // ENOSPC: there are too many.
  OutcomeOr<std::shared_ptr<MemoryFile>> Make();

 private:
  const std::shared_ptr<MemoryLeft> left_ = std::make_shared<MemoryLeft>();
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_MEMORY_FILES_H_
