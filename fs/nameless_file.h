// SPDX-License-Identifier: MIT
//
// NamelessFile: what a file holds once its name has gone, shared by those who had it open then.
// They read and write on, and nothing of it is put.
#ifndef CELLFS_FS_NAMELESS_FILE_H_
#define CELLFS_FS_NAMELESS_FILE_H_

#include <time.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "fs/file_handle.h"
#include "fs/outcome.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class NamelessFile {
 public:
  // As the file was read when its name went; or why it could not be, which all calls return then.
  NamelessFile(OutcomeOr<std::string> bytes, timespec now)
      : bytes_(std::move(bytes)), written_(now) {}

  OutcomeOr<std::string> Bytes() const;
  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size) const;
  Outcome Change(const std::function<void(std::string&)>& change, timespec now);
  // As stat(2) shows it.
  PendingWrite shown() const;

 private:
  mutable std::mutex mutex_;
  OutcomeOr<std::string> bytes_;  // guarded by mutex_
  timespec written_;              // guarded by mutex_
};

// A handle's way to it, known from the moment before the name goes. Thread-safe; its mutex is a
// leaf.
class NamelessAccess {
 public:
  // `may_read`: an error where whoever opened the handle may not.
  void Keep(std::shared_ptr<NamelessFile> file, Outcome may_read);
  // Null where nothing was kept.
  std::shared_ptr<NamelessFile> file() const;
  // REQUIRES: file().
  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size) const;
  OutcomeOr<std::string> Bytes() const;

 private:
  Outcome may_read() const;

  mutable std::mutex mutex_;
  std::shared_ptr<NamelessFile> file_;  // guarded by mutex_
  Outcome may_read_;                    // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NAMELESS_FILE_H_
