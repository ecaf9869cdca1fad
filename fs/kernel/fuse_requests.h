// SPDX-License-Identifier: MIT
//
// The callbacks of libfuse's low-level interface, by kinds of requests: unpack, call FileSystem,
// reply once (fs/kernel/fuse_callback.h).
#ifndef CELLFS_FS_KERNEL_FUSE_REQUESTS_H_
#define CELLFS_FS_KERNEL_FUSE_REQUESTS_H_

#include <fuse3/fuse_lowlevel.h>

namespace cellfs::fs {

// Each adds those of its kind.
void AddNameHandlers(fuse_lowlevel_ops& handlers);
// `xattr`: with extended attributes; else libfuse answers ENOSYS once and the kernel never asks
// again.
void AddAttributeHandlers(fuse_lowlevel_ops& handlers, bool xattr);
void AddFileHandlers(fuse_lowlevel_ops& handlers);
void AddDirectoryHandlers(fuse_lowlevel_ops& handlers);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_REQUESTS_H_
