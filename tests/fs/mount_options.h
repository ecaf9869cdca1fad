// SPDX-License-Identifier: MIT
//
// Options that several tests mount with.
#ifndef CELLFS_TESTS_FS_MOUNT_OPTIONS_H_
#define CELLFS_TESTS_FS_MOUNT_OPTIONS_H_

#include "fs/tree/options.h"

namespace cellfs::fs {

// Other users may use the mount, so modes are enforced.
inline MountOptions ForAll() {
  MountOptions options;
  options.allow_other = true;
  return options;
}

}  // namespace cellfs::fs

#endif  // CELLFS_TESTS_FS_MOUNT_OPTIONS_H_
