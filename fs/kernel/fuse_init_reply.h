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
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace cellfs::fs {

// The kernel sends requests through io_uring: since Linux 6.14, and not in older systems' header.
inline constexpr uint64_t kFuseOverIoUring = uint64_t{1} << 41;

// Of an INIT request in these bytes: what the kernel can do, as FUSE_... of <linux/fuse.h>, those of
// `flags2` shifted by 32.
uint64_t OfferedFlags(const void* request, size_t size);

// Thread-safe, but for AskForRings.
class InitReply {
 public:
  // The reply that is written next shall have these flags too, which the kernel has offered.
  void Ask(uint64_t flags) { flags_ |= flags; }
  // It shall ask for io_uring if `prepare`, which is told the largest payload, returns true. Before
  // the reply.
  void AskForRings(std::function<bool(size_t)> prepare) {
    prepare_ = std::move(prepare);
    Ask(kFuseOverIoUring);
  }

  // As writev(2), for a reply.
  ssize_t Write(int device, iovec* parts, int count) {
    if (flags_.load(std::memory_order_relaxed) != 0) AddFlags(parts, count);
    return writev(device, parts, count);
  }

 private:
  void AddFlags(const iovec* parts, int count);

  std::atomic<uint64_t> flags_{0};
  std::function<bool(size_t)> prepare_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_INIT_REPLY_H_
