// SPDX-License-Identifier: MIT
//
// EntryAttributes: from what was found at a place to what stat(2) shows, and for how long the
// kernel may believe it.
#ifndef CELLFS_FS_RESOLVE_ATTRIBUTES_H_
#define CELLFS_FS_RESOLVE_ATTRIBUTES_H_

#include <sys/stat.h>

#include "fs/attributes/attribute_store.h"
#include "fs/nodes/node.h"
#include "fs/reading/reading.h"
#include "fs/resolve/resolver.h"
#include "fs/tree/directory_times.h"
#include "fs/tree/options.h"

namespace cellfs::fs {

// Thread-safe; holds nothing of its own. A node learns what time it has shown.
class EntryAttributes {
 public:
  // `made_at`: the time of what nothing else tells a time of.
  EntryAttributes(const Reading& reading, AttributeStore& attributes,
                  const DirectoryTimes& directory_times, const MountOptions& options,
                  Timestamp made_at)
      : reading_(reading),
        attributes_(attributes),
        directory_times_(directory_times),
        options_(options),
        made_at_(made_at) {}

  // `node` is null where the kernel does not know the place. `pending`: of the node.
  OutcomeOr<struct stat> StatOf(const ResolvedEntry& found, Node* node,
                                const std::optional<PendingWrite>& pending) const;
  // As StatOf shows it.
  uint64_t InodeNumberOf(const Place& place) const;
  // How long names and attributes may be kept: as long as they are fresh, until the next expiry, or
  // not at all.
  double ValiditySeconds(const ResolvedEntry& found) const;
  // Whether the kernel may keep the listing of the directory.
  bool MayCacheListing(const Place& directory) const;

 private:
  std::optional<timespec> Noted(const Place& place) const;
  timespec MadeAt(const ResolvedEntry& found) const;
  OutcomeOr<ShownAttributes> OfDropped(const Place& place) const;

  const Reading& reading_;
  AttributeStore& attributes_;
  const DirectoryTimes& directory_times_;
  const MountOptions& options_;
  const Timestamp made_at_;
};

// Only what readdir needs: the type.
mode_t TypeOf(const Place& place);

timespec FromMilliseconds(Timestamp time);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_ATTRIBUTES_H_
