// SPDX-License-Identifier: MIT
//
// /.cellfs: the daemon about itself, as text files made when they are read.
//
//     status   the store, its tables, pinned moments, open handles
//     config   the configuration in force
//     errors   the latest failures with their reasons
//     metrics  the same as status, for Prometheus
//     keys/    <a shortened file name>: the full key
#ifndef CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_
#define CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_

#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/mount/mount_context.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

inline constexpr std::string_view kSelfFiles[] = {"config", "errors", "metrics", "status"};

// Thread-safe.
class CellfsDirectory {
 public:
  explicit CellfsDirectory(MountContext& mount) : mount_(mount) {}

  // The text of a kSelfFile or kKeyFile.
  OutcomeOr<std::string> Text(const Place& place);

 private:
  std::string Status();
  std::string Metrics();

  MountContext& mount_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_
