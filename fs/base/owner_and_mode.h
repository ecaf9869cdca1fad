// SPDX-License-Identifier: MIT
//
// OwnerAndMode: whose something is, and what it lets others do.
#ifndef CELLFS_FS_BASE_OWNER_AND_MODE_H_
#define CELLFS_FS_BASE_OWNER_AND_MODE_H_

#include <sys/types.h>

namespace cellfs::fs {

// What is in force.
struct OwnerAndMode {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0;  // permission bits
};

// Whether who has made a file anew may have, as his own, what the one before left under its name:
// he whose that was (the new mode is his choice), and root, whose new file lets nobody in whom the
// one before did not.
inline bool MayInherit(const OwnerAndMode& maker, const OwnerAndMode& before) {
  if (maker.uid == before.uid) return true;
  const mode_t others = before.mode & 07;
  const mode_t group = maker.gid == before.gid ? before.mode >> 3 & 07 : before.mode >> 3 & others;
  return maker.uid == 0 && (maker.mode & 07 & ~others) == 0 && (maker.mode >> 3 & 07 & ~group) == 0;
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_OWNER_AND_MODE_H_
