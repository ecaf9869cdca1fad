// SPDX-License-Identifier: MIT
//
// The one table from the engine's status codes to errno.
#ifndef CELLFS_FS_BASE_STATUS_ERRNO_H_
#define CELLFS_FS_BASE_STATUS_ERRNO_H_

#include "engine/status.h"

namespace cellfs::fs {

int StatusErrno(const Status& status);  // 0 for ok
int StatusErrno(StatusCode code);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_STATUS_ERRNO_H_
