// SPDX-License-Identifier: MIT
//
// All callbacks of libfuse's low-level interface, for a session whose user data is a FuseTarget.
#ifndef CELLFS_FS_KERNEL_FUSE_HANDLERS_H_
#define CELLFS_FS_KERNEL_FUSE_HANDLERS_H_

#include <fuse3/fuse_lowlevel.h>

#include "fs/tree/options.h"

namespace cellfs::fs {

fuse_lowlevel_ops FuseHandlers(const MountOptions& options);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_HANDLERS_H_
