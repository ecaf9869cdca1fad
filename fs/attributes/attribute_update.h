// SPDX-License-Identifier: MIT
#ifndef CELLFS_FS_ATTRIBUTES_ATTRIBUTE_UPDATE_H_
#define CELLFS_FS_ATTRIBUTES_ATTRIBUTE_UPDATE_H_

#include <sys/types.h>
#include <time.h>

#include <optional>

#include "engine/cell.h"

namespace cellfs::fs {

// A change of owner, mode and times: only what is to change.
struct AttributeUpdate {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<mode_t> mode;
  Timestamp version = -1;         // that `mtime` and `forget_mtime` are about; -1 for directories
  std::optional<timespec> mtime;  // nothing is stored where the version itself says the same
  bool forget_mtime = false;
  std::optional<timespec> ctime;
  bool anew = false;  // the name was just created: what was stored under it before is forgotten
  // From that version on the name is another file's; one that was created just now is so from now on.
  std::optional<Timestamp> another_from;
  bool as_own = false;  // what it inherits is stored as well
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_ATTRIBUTES_ATTRIBUTE_UPDATE_H_
