// SPDX-License-Identifier: MIT
//
// The lock of a store: flock(2) on its directory and on the file LOCK in it, so it goes with the
// process however that ends. The directory's is what keeps others out where somebody removes LOCK
// under a process that has the store open; older versions know that of LOCK alone. Who may change
// the store holds both alone, and notes his process id in the file, which only tells others whom to
// look for. Those who only read share both, and LOCK only as it is, where it is there.
#ifndef CELLFS_ENGINE_DISK_STORE_LOCK_H_
#define CELLFS_ENGINE_DISK_STORE_LOCK_H_

#include <optional>
#include <string>

#include "engine/descriptor.h"
#include "engine/status_or.h"

namespace cellfs {

struct StoreLock {
  Descriptor directory;
  Descriptor file;  // none where there is no LOCK
};

// Of the store in `path`, until the descriptors are closed. kUnavailable: another process has it,
// which the message names.
StatusOr<StoreLock> LockToChange(const std::string& path);
StatusOr<StoreLock> LockToRead(const std::string& path);

// kUnavailable, with the same message, where another process has it.
Status CheckIsUnlocked(const std::string& path);

// The process that has it, "(unknown)" where it cannot be told; nullopt: none.
std::optional<std::string> HolderOfLock(const std::string& path);
// The same, of a process that may change the store.
std::optional<std::string> WriterUnderLock(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_STORE_LOCK_H_
