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

// Whether the file that has come under a name may have, as its own, what the one before left there:
// one of the same owner, or root's, that lets nobody in whom the one before did not. Another than the
// owner may have moved it there.
inline bool MayInherit(const OwnerAndMode& maker, const OwnerAndMode& before) {
  const mode_t others = before.mode & 07;
  const mode_t group = maker.gid == before.gid ? before.mode >> 3 & 07 : before.mode >> 3 & others;
  const bool opens = (maker.mode & 07 & ~others) != 0 || (maker.mode >> 3 & 07 & ~group) != 0;
  return !opens && (maker.uid == 0 || maker.uid == before.uid);
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_OWNER_AND_MODE_H_
