// SPDX-License-Identifier: MIT
//
// What names a store: the path of its directory, or, of a running HBase, servers of it:
//
//     hbase://HOST:PORT[,HOST:PORT...][/]
#ifndef CELLFS_SRC_MOUNT_STORE_NAME_H_
#define CELLFS_SRC_MOUNT_STORE_NAME_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/server_address.h"
#include "engine/status_or.h"

namespace cellfs {

// Whether it means a cluster, however well it is written.
bool IsCluster(std::string_view store);

// The servers of a cluster's name, and what stands behind them.
struct ClusterPath {
  std::vector<ServerAddress> servers;  // at least one
  std::vector<std::string> names;             // below the root of its tree
  std::string store() const;                  // its name, written in the one way
};
// kIllegalArgument: no server, a server without a port, or with one that is none.
StatusOr<ClusterPath> ParseCluster(std::string_view path);

// A store's name as the mount table has it: the absolute path without symbolic links, or the
// cluster's name written in the one way; one that is written wrongly as it is.
std::string CanonicalStore(const std::string& store);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_STORE_NAME_H_
