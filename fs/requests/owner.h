// SPDX-License-Identifier: MIT
//
// Whose the mount is: who mounted it, as whom the daemon runs.
#ifndef CELLFS_FS_REQUESTS_OWNER_H_
#define CELLFS_FS_REQUESTS_OWNER_H_

#include <unistd.h>

namespace cellfs::fs {

inline bool IsOwnerOrRoot(uid_t uid) { return uid == 0 || uid == geteuid(); }

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_OWNER_H_
