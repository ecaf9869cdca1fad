// SPDX-License-Identifier: MIT
//
// Who asks for a file operation, as the kernel says.
#ifndef CELLFS_FS_REQUESTS_REQUEST_H_
#define CELLFS_FS_REQUESTS_REQUEST_H_

#include <sys/types.h>

#include "engine/caller.h"

namespace cellfs::fs {

struct Request {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
  mode_t umask = 0;
  // The user's name where the store checks rights, else the superuser. Valid during the request
  // only: handles keep a copy, because they outlive the session that the requests come from.
  const Caller* caller = &Caller::Superuser();
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_REQUEST_H_
