// SPDX-License-Identifier: MIT
//
// A store's directory is its owner's alone. Where others can write, they can put a symbolic link in
// the place of a file, and the daemon, perhaps root's, would write where the link leads.
#ifndef CELLFS_ENGINE_DISK_PRIVATE_DIRECTORY_H_
#define CELLFS_ENGINE_DISK_PRIVATE_DIRECTORY_H_

#include <string>

#include "engine/status.h"

namespace cellfs {

// Sets the mode 0700 of a directory that is ours.
Status MakePrivate(const std::string& path);

// kAccessDenied where the store in `path`, or one of its files and directories, belongs to somebody
// else, can be written to by others, or is a symbolic link or another special file. So is a store
// that others can replace, because a directory above it is writable by all and not sticky.
Status CheckIsPrivate(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DISK_PRIVATE_DIRECTORY_H_
