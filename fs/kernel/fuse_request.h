// SPDX-License-Identifier: MIT
//
// FuseRequest: a request in the bytes that the kernel sent, its header and all that follows in one
// piece, whichever way they came: by /dev/fuse (fs/kernel/fuse_session.cc) or by io_uring
// (fs/kernel/ring_entry.h).
#ifndef CELLFS_FS_KERNEL_FUSE_REQUEST_H_
#define CELLFS_FS_KERNEL_FUSE_REQUEST_H_

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>

#include <cstdint>
#include <cstring>

#include "fs/requests/request_counts.h"

namespace cellfs::fs {

struct FuseRequest {
  explicit FuseRequest(RequestCounts::Set& set) : counted_in(&set) {}

  // Of bytes.mem, where all of it is.
  fuse_in_header Header() const {
    fuse_in_header header;
    std::memcpy(&header, bytes.mem, sizeof header);
    return header;
  }
  // Takes from the header what is asked for most.
  void ReadHeader() { opcode = Header().opcode; }

  fuse_buf bytes{};  // in memory, for splice(2) is not asked for
  uint32_t opcode = 0;
  RequestCounts::Set* counted_in;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_REQUEST_H_
