// SPDX-License-Identifier: MIT
#include "fs/kernel/fuse_init_reply.h"

#include <linux/fuse.h>

#include <cstddef>
#include <cstring>

namespace cellfs::fs {

void InitReply::AddFlags(const iovec* parts, int count) {
  const uint32_t asked = flags_.exchange(0);
  constexpr size_t kEnd = offsetof(fuse_init_out, flags) + sizeof asked;
  if (count < 2 || parts[0].iov_len != sizeof(fuse_out_header) || parts[1].iov_len < kEnd) return;
  fuse_out_header header{};
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  if (header.error != 0) return;
  char* const at = static_cast<char*>(parts[1].iov_base) + offsetof(fuse_init_out, flags);
  uint32_t flags = 0;
  std::memcpy(&flags, at, sizeof flags);
  flags |= asked;
  std::memcpy(at, &flags, sizeof flags);
}

}  // namespace cellfs::fs
