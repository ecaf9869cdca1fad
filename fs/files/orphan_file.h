// SPDX-License-Identifier: MIT
//
// OrphanFile: a file without a name. The handles that had it open when its name went share its
// bytes; they read and write on, and nothing of it is put.
#ifndef CELLFS_FS_FILES_ORPHAN_FILE_H_
#define CELLFS_FS_FILES_ORPHAN_FILE_H_

#include <time.h>

#include <functional>
#include <string>
#include <utility>

#include "fs/base/outcome.h"
#include "fs/files/file_handle.h"
#include "fs/files/open_file_memory.h"

namespace cellfs::fs {

// Guarded by the lock of the column that it had.
class OrphanFile {
 public:
  // The bytes as they were read when the name went, or why that failed, which all calls return.
  // They are held in the user's name: where there is no room for them, they are let go.
  OrphanFile(OpenFileMemory& memory, uid_t user, OutcomeOr<std::string> bytes, timespec now);

  const OutcomeOr<std::string>& bytes() const { return bytes_; }
  // Whether they were there, and the limit of open files let them go: all calls return ENOMEM.
  bool is_let_go() const { return is_let_go_; }
  OutcomeOr<SharedBytes> Read(uint64_t offset, size_t size) const;
  // ENOSPC, and nothing changed: there is no room for a file of `size` bytes.
  Outcome Change(uint64_t size, const std::function<void(std::string&)>& change, timespec now);
  void LetGo();
  // As stat(2) shows it.
  PendingWrite shown() const;

 private:
  OpenFileMemory& memory_;
  OpenFileMemory::Share share_;
  OutcomeOr<std::string> bytes_;
  bool is_let_go_ = false;
  timespec written_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_ORPHAN_FILE_H_
