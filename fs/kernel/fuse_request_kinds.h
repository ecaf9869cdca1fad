// SPDX-License-Identifier: MIT
//
// Of which kind a request is, by the number that the kernel gives it.
#ifndef CELLFS_FS_KERNEL_FUSE_REQUEST_KINDS_H_
#define CELLFS_FS_KERNEL_FUSE_REQUEST_KINDS_H_

#include <linux/fuse.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "fs/requests/request_counts.h"

namespace cellfs::fs {

inline constexpr size_t kKnownOpcodes = 64;

constexpr std::array<RequestKind, kKnownOpcodes> RequestKindsByOpcode() {
  std::array<RequestKind, kKnownOpcodes> kinds{};
  kinds.fill(RequestKind::kOther);
  kinds[FUSE_LOOKUP] = RequestKind::kLookup;
  kinds[FUSE_GETATTR] = RequestKind::kGetattr;
  kinds[FUSE_SETATTR] = RequestKind::kSetattr;
  kinds[FUSE_OPEN] = RequestKind::kOpen;
  kinds[FUSE_READ] = RequestKind::kRead;
  kinds[FUSE_WRITE] = RequestKind::kWrite;
  kinds[FUSE_FLUSH] = RequestKind::kFlush;
  kinds[FUSE_FSYNC] = kinds[FUSE_FSYNCDIR] = RequestKind::kFsync;
  kinds[FUSE_RELEASE] = RequestKind::kRelease;
  kinds[FUSE_CREATE] = RequestKind::kCreate;
  kinds[FUSE_UNLINK] = RequestKind::kUnlink;
  kinds[FUSE_RENAME] = kinds[FUSE_RENAME2] = RequestKind::kRename;
  kinds[FUSE_MKDIR] = RequestKind::kMkdir;
  kinds[FUSE_RMDIR] = RequestKind::kRmdir;
  kinds[FUSE_OPENDIR] = RequestKind::kOpendir;
  kinds[FUSE_READDIR] = kinds[FUSE_READDIRPLUS] = RequestKind::kReaddir;
  kinds[FUSE_RELEASEDIR] = RequestKind::kReleasedir;
  kinds[FUSE_SETXATTR] = kinds[FUSE_GETXATTR] = kinds[FUSE_LISTXATTR] =
      kinds[FUSE_REMOVEXATTR] = RequestKind::kXattr;
  kinds[FUSE_STATFS] = RequestKind::kStatfs;
  kinds[FUSE_FORGET] = kinds[FUSE_BATCH_FORGET] = RequestKind::kForget;
  return kinds;
}

inline RequestKind RequestKindOf(uint32_t opcode) {
  static constexpr auto kKinds = RequestKindsByOpcode();
  // Beyond them there is only CUSE_INIT, which is not for file systems.
  return kKinds.data()[opcode % kKnownOpcodes];
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_REQUEST_KINDS_H_
