// SPDX-License-Identifier: MIT
//
// The virtual extended attributes user.cellfs.*; every other name is EOPNOTSUPP.
#ifndef CELLFS_FS_OPERATIONS_XATTR_H_
#define CELLFS_FS_OPERATIONS_XATTR_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/requests/request.h"

namespace cellfs::fs {

OutcomeOr<std::string> GetXattr(MountContext& mount, const Request& request, Node& node,
                                const std::string& name);
Outcome SetXattr(MountContext& mount, const Request& request, Node& node, const std::string& name,
                 std::string_view value);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_XATTR_H_
