// SPDX-License-Identifier: MIT
//
// From what was found at a place to what stat(2) shows, and for how long the kernel may believe it.
#ifndef CELLFS_FS_RESOLVE_ATTRIBUTES_H_
#define CELLFS_FS_RESOLVE_ATTRIBUTES_H_

#include <sys/stat.h>

#include "fs/mount/mount_context.h"
#include "fs/nodes/node.h"
#include "fs/resolve/resolver.h"

namespace cellfs::fs {

// `node` is null where the kernel does not know the place.
OutcomeOr<struct stat> StatOf(MountContext& mount, const ResolvedEntry& found, const Node* node);
// Only what readdir needs: the type.
mode_t TypeOf(const Place& place);
// How long names and attributes may be kept: as long as they are fresh, until the next expiry, or
// not at all.
double ValiditySeconds(MountContext& mount, const ResolvedEntry& found);
// Whether the kernel may keep the listing of the directory.
bool MayCacheListing(MountContext& mount, const Place& directory);

timespec FromMilliseconds(Timestamp time);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_ATTRIBUTES_H_
