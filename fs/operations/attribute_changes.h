// SPDX-License-Identifier: MIT
//
// chmod, chown, utimensat and truncate.
#ifndef CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_
#define CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>

#include "fs/attributes/attribute_store.h"
#include "fs/base/outcome.h"
#include "fs/content/file_writer.h"
#include "fs/nodes/live_tree.h"
#include "fs/reading/reading.h"
#include "fs/requests/request.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// What it works with.
struct AttributeChanging {
  LiveTree& tree;
  const Reading& reading;
  const Resolver& resolver;
  const FileWriters& writers;  // for truncate
  AttributeStore& attributes;
  const MountOptions& options;
};

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
OutcomeOr<std::optional<ResolvedEntry>> ChangeAttributes(const AttributeChanging& with,
                                                         const Request& request, Node& node,
                                                         const AttributeChange& change,
                                                         FileHandle* handle);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_OPERATIONS_ATTRIBUTE_CHANGES_H_
