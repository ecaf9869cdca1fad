// SPDX-License-Identifier: MIT
//
// Users and groups as people name them.
#ifndef CELLFS_FS_BASE_ACCOUNT_NAMES_H_
#define CELLFS_FS_BASE_ACCOUNT_NAMES_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace cellfs::fs {

// A number, or the name of one that this machine knows; nullopt: it is neither.
std::optional<uid_t> UserNamed(const std::string& word);
std::optional<gid_t> GroupNamed(const std::string& word);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_ACCOUNT_NAMES_H_
