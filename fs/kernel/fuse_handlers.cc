// SPDX-License-Identifier: MIT
#include "fs/kernel/fuse_handlers.h"

#include <linux/fuse.h>

#include "fs/kernel/fuse_requests.h"
#include "fs/kernel/fuse_target.h"

namespace cellfs::fs {
namespace {

// Beyond that many RELEASEs and reads ahead the kernel keeps them back, and sends an OPEN before a
// RELEASE that came earlier (docs/kernel.md): as many as it knows.
constexpr unsigned kMostInBackground = 65535;
// With that many it reads less ahead: the kernel's own figure.
constexpr unsigned kFewInBackground = 9;

void Init(void* user_data, fuse_conn_info* connection) {
  FuseTarget& target = *static_cast<FuseTarget*>(user_data);
  // No writeback cache: the daemon knows at each moment how long a file being written is.
  // The kernel clears set-user-id bits: FUSE_CAP_HANDLE_KILLPRIV would say that the daemon does.
  uint64_t wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS |
                    FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO;
  // Pages that an appended byte's new time would make the kernel drop are being filled by the next
  // one (docs/kernel.md). Where the daemon sees no open, it cannot say which pages are stale.
  wanted |= target.KernelOpens()
                ? FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_AUTO_INVAL_DATA
                : FUSE_CAP_EXPLICIT_INVAL_DATA;
  connection->want = static_cast<uint32_t>(connection->capable & wanted);
  const bool in_parallel = (connection->capable & FUSE_CAP_PARALLEL_DIROPS) != 0;
  if (in_parallel) target.init_reply().Ask(FUSE_PARALLEL_DIROPS);
  connection->max_background = kMostInBackground;
  connection->congestion_threshold = kFewInBackground;
}

}  // namespace

fuse_lowlevel_ops FuseHandlers(const MountOptions& options) {
  fuse_lowlevel_ops handlers{};
  handlers.init = Init;
  AddNameHandlers(handlers);
  AddAttributeHandlers(handlers, options.xattr);
  AddFileHandlers(handlers);
  AddDirectoryHandlers(handlers);
  return handlers;
}

}  // namespace cellfs::fs
