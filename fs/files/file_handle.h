// SPDX-License-Identifier: MIT
//
// FileHandle: one open file, whatever it is: a cell read, a cell written, a .toml, a counter. Kinds
// override what they can do; the rest answers EBADF or does nothing.
#ifndef CELLFS_FS_FILES_FILE_HANDLE_H_
#define CELLFS_FS_FILES_FILE_HANDLE_H_

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// Bytes kept alive by what owns them.
struct SharedBytes {
  std::shared_ptr<const std::string> owner;
  std::string_view bytes;

  // At most `size` bytes from `offset`.
  static SharedBytes Slice(std::shared_ptr<const std::string> whole, uint64_t offset, size_t size);
  // The same of bytes that may change afterwards.
  static SharedBytes Copy(const std::string& bytes, uint64_t offset, size_t size);
};

// What a file looks like while bytes, or a length, are not yet put.
struct PendingWrite {
  uint64_t size = 0;
  bool follows_stored = false;    // the size is that of bytes behind the stored value
  std::optional<timespec> mtime;  // set by the program; else the time of the last write
  timespec written{};
};

// Pages of a mapping come by any handle of the file and go where they are, whether or not the
// handle appends.
enum class WriteFrom { kProgram, kMapping };

// What the kernel reads into its pages, for a mapping too, all that read the file share, whatever
// handle it came by.
enum class ReadFor { kProgram, kPages };

// Thread-safe: the kernel sends several requests of one handle at a time.
class FileHandle {
 public:
  virtual ~FileHandle() = default;

  virtual OutcomeOr<SharedBytes> Read(uint64_t /*offset*/, size_t /*size*/, ReadFor /*what*/) {
    return Outcome(EBADF);
  }
  // All of it or none.
  virtual Outcome Write(std::string_view /*bytes*/, uint64_t /*offset*/, WriteFrom /*from*/) {
    return Outcome(EBADF);
  }
  virtual Outcome Truncate(uint64_t /*size*/) { return Outcome(EBADF); }
  // fallocate(2): the file is at least so long. Where it cannot be, nothing that was written is
  // lost.
  virtual Outcome Allocate(uint64_t /*size*/) { return Outcome(EOPNOTSUPP); }
  // A descriptor was closed; there may be more. What it returns, close(2) returns.
  virtual Outcome Flush() { return {}; }
  // What is not put yet, the creation or a truncation of the file alone included.
  virtual Outcome PutAll() { return Flush(); }
  // Puts a truncation alone of a file that was there, `made_too`: or the making of one, if a
  // descriptor was closed and nothing was written since. Where that fails the release tells.
  virtual void PutClosedStart(bool /*made_too*/) {}
  // Somebody else opens the file to write it, and perhaps to read it: what this one holds for itself
  // becomes part of the file that all share (fs/files/shared_file.h).
  virtual void Share(bool /*with_reader*/) {}
  // fsync(2): what is not put yet. Whoever calls it waits for the disk then, unless the handle has.
  virtual Outcome Sync() { return Flush(); }
  virtual bool WaitsForDisk() const { return false; }
  // The last descriptor and the last mapping have gone. Called once, before the handle dies.
  virtual void Release() {}
  // Instead of Release: the mount ends while it is open, and whoever writes has not finished.
  virtual void Abandon() { Release(); }
  // Whether, as far as one can tell, every descriptor has been closed: nothing was written since
  // the last Flush. What a program holds open in two of them, and has closed one, looks the same.
  virtual bool SeemsClosed() const { return false; }
  // A time, by futimens(2); nullopt: the handle has nothing to put, the caller sets it elsewhere.
  virtual std::optional<Outcome> SetTime(timespec /*mtime*/) { return std::nullopt; }

  // The name is about to go, or to be another file's: the last moment to ask whether the caller may
  // read what is there. Called under the column's lock, as the next one.
  virtual void NameGoes() {}
  // It has gone: what is not put goes to the orphan file (fs/files/orphan_file.h).
  virtual void NameWent() {}

  virtual std::optional<PendingWrite> pending() const { return std::nullopt; }

  // Who opened it.
  uid_t user = 0;
};

// Decides how the kernel treats an open file.
struct OpenedFile {
  std::shared_ptr<FileHandle> handle;
  bool keep_cache = false;  // pages from earlier opens are right
  bool direct_io = false;   // no pages at all for this handle
  bool no_flush = false;    // close sends no FLUSH
};

// The flags of open(2) that matter here.
struct OpenMode {
  bool read = true;
  bool write = false;
  bool truncate = false;
  bool append = false;
  bool created = false;    // by this very call
  bool exclusive = false;  // O_EXCL: the first put must find nothing there
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_FILE_HANDLE_H_
