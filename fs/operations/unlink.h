// SPDX-License-Identifier: MIT
//
// unlink.
#ifndef CELLFS_FS_OPERATIONS_UNLINK_H_
#define CELLFS_FS_OPERATIONS_UNLINK_H_

#include <string_view>

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/content/column_change.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What it works with.
struct FileUnlinking {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  const ColumnChanging& changing;
  AttributeStore& attributes;
  ErrorLog& errors;
  const MountOptions& options;
};

// Who has the file open goes on with what it held.
Outcome Unlink(const FileUnlinking& with, const Request& request, const Place& directory,
               std::string_view name);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_UNLINK_H_
