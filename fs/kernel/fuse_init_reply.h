// SPDX-License-Identifier: MIT
//
// InitReply: asks the kernel for what libfuse does not. INIT is the first request, and its reply says
// which of the kernel's features this mount wants; libfuse 3.14 leaves some out, whatever it is told.
// So replies go through here, and the first one gets what it lacks. What a newer libfuse has said
// itself stays as it is.
#ifndef CELLFS_FS_KERNEL_FUSE_INIT_REPLY_H_
#define CELLFS_FS_KERNEL_FUSE_INIT_REPLY_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>

namespace cellfs::fs {

// Thread-safe.
class InitReply {
 public:
  // The reply that is written next shall have these flags (FUSE_... of <linux/fuse.h>), which the
  // kernel has offered.
  void Ask(uint32_t flags) { flags_ = flags; }

  // As writev(2), for a reply.
  ssize_t Write(int device, iovec* parts, int count) {
    if (flags_.load(std::memory_order_relaxed) != 0) AddFlags(parts, count);
    return writev(device, parts, count);
  }

 private:
  void AddFlags(const iovec* parts, int count);

  std::atomic<uint32_t> flags_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_INIT_REPLY_H_
