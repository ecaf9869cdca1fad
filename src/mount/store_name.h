// SPDX-License-Identifier: MIT
//
// What names a store: the path of its directory; of a running HBase servers of it; of a database in
// OBKV-HBase's layout its server, by address or by the path of its socket:
//
//     hbase://HOST:PORT[,HOST:PORT...][/]
//     obkv://[USER@]HOST:PORT[/]
//     obkv+unix://[USER@]/PATH/OF/SOCKET[/]
#ifndef CELLFS_SRC_MOUNT_STORE_NAME_H_
#define CELLFS_SRC_MOUNT_STORE_NAME_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/server_address.h"
#include "engine/status_or.h"

namespace cellfs {

// Whether it means a store of servers, however well it is written; else it is a directory's path.
bool IsRemote(std::string_view store);

enum class RemoteKind { kCluster, kDatabase };

// The servers that a name says, and what stands behind them.
struct RemoteName {
  RemoteKind kind = RemoteKind::kCluster;
  std::string user;                    // of a database; empty: it says none
  std::vector<ServerAddress> servers;  // at least one, unless there is a socket
  std::string socket;                  // of a database; empty: none
  std::vector<std::string> names;      // below the root of its tree
  std::string store() const;           // its name, written in the one way
};
// kIllegalArgument: no server, a server without a port, or with one that is none. A socket ends
// where a socket lies, else with the path.
StatusOr<RemoteName> ParseRemote(std::string_view path);

// A store's name as the mount table has it: the absolute path without symbolic links, or servers'
// name written in the one way; one that is written wrongly as it is.
std::string CanonicalStore(const std::string& store);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_STORE_NAME_H_
