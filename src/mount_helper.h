// SPDX-License-Identifier: MIT
//
// The program as mount(8) calls it for an fstab line, or for `mount -t cellfs STORE DIRECTORY`:
//
//     mount.cellfs STORE DIRECTORY [-sfnv] [-o OPTIONS]
//     cellfs STORE DIRECTORY [-o OPTIONS]                  by mount.fuse3(8), for fuse.cellfs
#ifndef CELLFS_SRC_MOUNT_HELPER_H_
#define CELLFS_SRC_MOUNT_HELPER_H_

namespace cellfs {

bool IsCallOfMount(int argc, char** argv);

// The exit codes are mount(8)'s.
int RunMountHelper(int argc, char** argv);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_HELPER_H_
