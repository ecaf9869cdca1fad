// SPDX-License-Identifier: MIT
//
// FileLayer: the few file operations that the log, the catalog and the store's directory need. An
// interface so that tests can put failing, forgetful and full disks beneath them, and so that a
// store that is only read stays as it is: whatever makes, changes or removes something in its
// directory goes this way, but for store files, which SQLite and PageWriter write.
//
// Errors: kStoreFull where the device or the user's quota has no room (ENOSPC, EDQUOT), else
// kIoError; the message names operation, file and errno.
#ifndef CELLFS_ENGINE_DISK_FILE_LAYER_H_
#define CELLFS_ENGINE_DISK_FILE_LAYER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/disk/store_lock.h"
#include "engine/status_or.h"

namespace cellfs {

// A file that grows at its end. Append, Truncate and Reserve come from one thread at a time; Sync
// may run beside them.
class AppendFile {
 public:
  virtual ~AppendFile() = default;
  // One write(2), more only where the kernel takes a part. After an error a part may be there.
  virtual Status Append(std::string_view bytes) = 0;
  // What was appended before the call is on disk when this returns, also the file's length.
  virtual Status Sync() = 0;
  // What is appended next goes behind these bytes; what was reserved is gone.
  virtual Status Truncate(uint64_t size) = 0;
  // Fills the file with zeros from its end up to `size` bytes; what is appended goes over them.
  // Once they are synced, a Sync of what was appended there writes just that: no length, no new
  // blocks.
  virtual Status Reserve(uint64_t size) = 0;
};

// Thread-safe.
class FileLayer {
 public:
  virtual ~FileLayer() = default;
  // Made (mode 0600) where it is missing.
  virtual StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) = 0;
  virtual StatusOr<std::string> Read(const std::string& path) = 0;
  // Whether anything has that name; an error where nobody can say.
  virtual StatusOr<bool> Exists(const std::string& path) = 0;
  // Replaces `to`.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  // A directory with all that is in it, as far as that can be removed.
  virtual void RemoveTree(const std::string& path) = 0;
  // The names in a directory, sorted, without "." and "..".
  virtual StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  // Mode 0700; one that exists is no error. Makes no parents.
  virtual Status MakeDirectory(const std::string& path) = 0;
  // The disk begins to write what the file has, so that a Sync later has little left to do, and
  // others do not wait behind it. A hint.
  virtual void StartSync(const std::string& path) = 0;
  // Names made, renamed and removed in the directory are on disk when this returns.
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Makes the file have so many bytes, of blocks that nobody else can have any more; 0: there is no
  // such file. Answers how many it has then.
  virtual uint64_t Hold(const std::string& path, uint64_t bytes) = 0;
  // Whether paths lead where they did when the store was opened: for who writes files by other ways.
  virtual Status CheckIsInPlace() const { return {}; }
  // The lock of the store in `directory` (store_lock.h).
  virtual StatusOr<StoreLock> Lock(const std::string& directory) = 0;
};

// The machine's own files. Lives for ever.
FileLayer& PosixFiles();

// The machine's files as they are: what is written, made, renamed, removed or held goes nowhere, and
// is no error; the lock is shared with others who read. Lives for ever.
FileLayer& UnchangedFiles();

// Puts `bytes` into `directory`/`name`, durably and whole or not at all: writes and syncs
// `name`.new beside it, renames, syncs the directory. kOutcomeUnknown where only that last sync
// failed: the bytes are in place, and power loss may take them away.
Status ReplaceFile(FileLayer& files, const std::string& directory, const std::string& name,
                   std::string_view bytes);

// The status of a failed system call: "cannot <act> '<path>': No space left on device (errno 28)".
Status ErrnoStatus(std::string_view act, const std::string& path, int error);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_FILE_LAYER_H_
