// SPDX-License-Identifier: MIT
//
// Making files, and opening them for writing.
#ifndef CELLFS_FS_CONTENT_FILE_WRITER_H_
#define CELLFS_FS_CONTENT_FILE_WRITER_H_

#include <memory>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

// From CREATE on the name exists, empty: claims the place `file`, which was not there when it was
// looked for. Whether this call made it; false where it is there by now, or EEXIST if `exclusive`.
// EPERM where no file can be made.
OutcomeOr<bool> ClaimFile(MountContext& mount, const Request& request, const Place& file,
                          mode_t mode, bool exclusive);

// A handle for an existing or just claimed file of any kind that can be written: cells and
// versions, counters, .toml files, files in memory. Not yet in the node's list of handles.
OutcomeOr<OpenedFile> OpenForWriting(MountContext& mount, const Request& request, NodePtr node,
                                     const OpenMode& mode);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_FILE_WRITER_H_
