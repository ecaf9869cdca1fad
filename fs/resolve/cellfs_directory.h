// SPDX-License-Identifier: MIT
//
// /.cellfs: the daemon about itself, as text files made when they are read.
//
//     status   the store, its tables, pinned moments, open handles
//     config   the configuration in force
//     errors   the latest failures with their reasons
//     metrics  the same as status, for Prometheus, and how long requests took
//     keys/    <a shortened file name>: the full key
#ifndef CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_
#define CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "fs/base/outcome.h"
#include "fs/files/open_file_memory.h"
#include "fs/nodes/inode_table.h"
#include "fs/reading/reading.h"
#include "fs/requests/request_counts.h"
#include "fs/tree/asof.h"
#include "fs/tree/error_log.h"
#include "fs/tree/options.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

inline constexpr std::string_view kSelfFiles[] = {"config", "errors", "metrics", "status"};

// Thread-safe.
class CellfsDirectory {
 public:
  CellfsDirectory(const Reading& reading, const InodeTable& inodes,
                  const OpenFileMemory& open_files, AsofRegistry& asof, const ErrorLog& errors,
                  const RequestCounts& requests, const MountOptions& options)
      : reading_(reading),
        inodes_(inodes),
        open_files_(open_files),
        asof_(asof),
        errors_(errors),
        requests_(requests),
        options_(options),
        mounted_at_(reading.clock().Now()) {}

  // The text of a kSelfFile or kKeyFile.
  OutcomeOr<std::string> Text(const Place& place) const;
  // Whose failures who asks now may see; nullopt: everybody's.
  static std::optional<uid_t> WhoseErrors();

 private:
  std::string Status() const;
  std::string Metrics() const;
  std::string Errors() const;

  const Reading& reading_;
  const InodeTable& inodes_;
  const OpenFileMemory& open_files_;
  AsofRegistry& asof_;
  const ErrorLog& errors_;
  const RequestCounts& requests_;
  const MountOptions& options_;
  const Timestamp mounted_at_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_CELLFS_DIRECTORY_H_
