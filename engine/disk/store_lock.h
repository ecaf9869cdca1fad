// SPDX-License-Identifier: MIT
//
// The lock of a store: flock(2) on its file LOCK, so it goes with the process however that ends. Who
// may change the store holds it alone, and notes his process id in the file, which only tells others
// whom to look for. Those who only read share it and leave the file as it is; where it is missing
// they lock the directory, which nobody else does.
#ifndef CELLFS_ENGINE_DISK_STORE_LOCK_H_
#define CELLFS_ENGINE_DISK_STORE_LOCK_H_

#include <optional>
#include <string>

#include "engine/descriptor.h"
#include "engine/status_or.h"

namespace cellfs {

// Of the store in `path`, until the descriptor is closed. kUnavailable: another process has it,
// which the message names.
StatusOr<Descriptor> LockToChange(const std::string& path);
StatusOr<Descriptor> LockToRead(const std::string& path);

// kUnavailable, with the same message, where another process has it.
Status CheckIsUnlocked(const std::string& path);

// The process that has it, "(unknown)" where it cannot be told; nullopt: none.
std::optional<std::string> HolderOfLock(const std::string& path);
// The same, of a process that may change the store.
std::optional<std::string> WriterUnderLock(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_STORE_LOCK_H_
