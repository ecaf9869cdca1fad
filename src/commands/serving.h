// SPDX-License-Identifier: MIT
//
// The store's half of the commands: in the daemon they come over its socket, else the command line
// opens the store for them.
#ifndef CELLFS_SRC_COMMANDS_SERVING_H_
#define CELLFS_SRC_COMMANDS_SERVING_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/controlled_store.h"
#include "fs/kernel/fuse_session.h"
#include "fs/operations/filesystem.h"
#include "src/commands/command.h"
#include "src/daemon/control_socket.h"

namespace cellfs {

// What the commands of one store work with.
struct Served {
  fs::FileSystem& filesystem;
  StoreControls* controls;  // null where the store is not in this process
  std::string mountpoint;   // empty: not mounted
  // The mount's; null: not mounted, or nobody asks for it.
  const fs::FuseSession* kernel = nullptr;
  std::vector<MountedStore> other_mounts = {};  // as in Session
};

// Runs the command as the peer: {"no": true} or {}. kAccessDenied where it is the owner's alone;
// kIllegalArgument for one that there is not. Thread-safe.
StatusOr<nlohmann::json> Serve(const Served& served, const Peer& peer,
                               ControlRequest request, const TakeRecord& take);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_SERVING_H_
