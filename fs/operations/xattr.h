// SPDX-License-Identifier: MIT
//
// The virtual extended attributes user.cellfs.*; every other name is EOPNOTSUPP.
#ifndef CELLFS_FS_OPERATIONS_XATTR_H_
#define CELLFS_FS_OPERATIONS_XATTR_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/content/column_change.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What they work with.
struct Xattrs {
  LiveTree& tree;
  const Reading& reading;
  const ColumnChanging& changing;
  const ErrorLog& errors;
  const MountOptions& options;
};

OutcomeOr<std::string> GetXattr(const Xattrs& with, const Request& request, Node& node,
                                const std::string& name);
Outcome SetXattr(const Xattrs& with, const Request& request, Node& node, const std::string& name,
                 std::string_view value);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_XATTR_H_
