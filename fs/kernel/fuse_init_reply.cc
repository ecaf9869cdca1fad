// SPDX-License-Identifier: MIT
#include "fs/kernel/fuse_init_reply.h"

#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace cellfs::fs {
namespace {

// nullopt: it is no reply to INIT, or an error.
std::optional<fuse_init_out> InitOf(const iovec* parts, int count) {
  if (count < 2 || parts[0].iov_len != sizeof(fuse_out_header) ||
      parts[1].iov_len < sizeof(fuse_init_out)) {
    return std::nullopt;
  }
  fuse_out_header header{};
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  if (header.error != 0) return std::nullopt;
  fuse_init_out init{};
  std::memcpy(&init, parts[1].iov_base, sizeof init);
  return init;
}

// How many bytes a request or a reply has at most behind its header.
size_t LargestPayload(const fuse_init_out& init) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return std::max({size_t{FUSE_MIN_READ_BUFFER}, size_t{init.max_write}, init.max_pages * page});
}

}  // namespace

uint64_t OfferedFlags(const void* request, size_t size) {
  fuse_init_in init{};
  if (size < sizeof(fuse_in_header) + sizeof init) return 0;
  std::memcpy(&init, static_cast<const char*>(request) + sizeof(fuse_in_header), sizeof init);
  const uint64_t high = (init.flags & FUSE_INIT_EXT) != 0 ? init.flags2 : 0;
  return init.flags | high << 32;
}

void InitReply::AddFlags(const iovec* parts, int count) {
  uint64_t asked = flags_.exchange(0);
  auto init = InitOf(parts, count);
  if (!init) return;
  if ((asked & kFuseOverIoUring) != 0 && !prepare_(LargestPayload(*init))) {
    asked &= ~kFuseOverIoUring;
  }
  init->flags |= static_cast<uint32_t>(asked);
  if (const auto high = static_cast<uint32_t>(asked >> 32); high != 0) {
    init->flags |= FUSE_INIT_EXT;
    init->flags2 |= high;
  }
  std::memcpy(parts[1].iov_base, &*init, sizeof *init);
}

}  // namespace cellfs::fs
