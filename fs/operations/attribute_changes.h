// SPDX-License-Identifier: MIT
//
// chmod, chown, utimensat and truncate.
#ifndef CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_
#define CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>

#include "fs/base/outcome.h"
#include "fs/nodes/node.h"
#include "fs/requests/request.h"
#include "fs/resolve/resolver.h"

namespace cellfs::fs {

struct MountContext;

// Only what is asked for; "now" is already the clock's time.
struct AttributeChange {
  std::optional<mode_t> mode;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<timespec> mtime;
  std::optional<uint64_t> size;
};

// `handle` is the open file that the change came through, null for a path. Returns the file as it
// was found, if it had to be looked for: it need not be looked for again.
OutcomeOr<std::optional<ResolvedEntry>> ChangeAttributes(MountContext& mount,
                                                         const Request& request, Node& node,
                                                         const AttributeChange& change,
                                                         FileHandle* handle);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_
