// SPDX-License-Identifier: MIT
//
// Transport: how requests come from the kernel, and replies go.
#ifndef CELLFS_FS_KERNEL_TRANSPORT_H_
#define CELLFS_FS_KERNEL_TRANSPORT_H_

#include "engine/status.h"

namespace cellfs::fs {

enum class Transport {
  kBest,    // io_uring where the running kernel offers it, else the device
  kDevice,  // read(2) and writev(2) of /dev/fuse
  kUring,   // FUSE over io_uring (fs/kernel/ring_pool.h), or the mount fails
};

// OK: the running kernel offers FUSE over io_uring. Else kUnavailable, and why not, with a remedy.
Status FindUring();
// OK: the machine is not made for so many more processors than it has that the threads which FUSE
// over io_uring takes, one for each, would be a waste.
Status CheckIsWorthUring();

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_TRANSPORT_H_
