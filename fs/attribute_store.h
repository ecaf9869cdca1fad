// SPDX-License-Identifier: MIT
//
// AttributeStore: owner, mode and times where they are not what the tree would show by itself, in the
// table cellfs:attributes.
#ifndef CELLFS_FS_ATTRIBUTE_STORE_H_
#define CELLFS_FS_ATTRIBUTE_STORE_H_

#include <sys/types.h>
#include <time.h>

#include <optional>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/options.h"
#include "fs/place.h"

namespace cellfs::fs {

// What is in force at a place: owner and mode with what is inherited; the times where they are
// remembered.
struct ShownAttributes {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;  // permission bits
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
};

// Thread-safe.
class AttributeStore {
 public:
  AttributeStore(Store& store, const MountOptions& options, std::shared_ptr<const Clock> clock);

  // `version` is the timestamp of the cell that the place shows; < 0: a directory, or none. Must cost
  // next to nothing where nothing is stored for the table.
  ShownAttributes Find(const Place& place, Timestamp version);

 private:
  Store& store_;
  const MountOptions& options_;
  const std::shared_ptr<const Clock> clock_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTE_STORE_H_
