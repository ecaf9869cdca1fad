// SPDX-License-Identifier: MIT
//
// Leftovers: large files that no manifest names, such as a compaction leaves that has ended early.
// The disk takes seconds to remove some gigabytes, and nobody shall wait for that who unmounts, or
// mounts: they lie under a name that no new file gets until the background removes them, or the
// next opening of the store finds them.
#ifndef CELLFS_ENGINE_LOCAL_LEFTOVERS_H_
#define CELLFS_ENGINE_LOCAL_LEFTOVERS_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/disk/file_layer.h"

namespace cellfs {

inline constexpr uint64_t kBytesOfLargeFile = uint64_t{64} << 20;

// Thread-safe.
class Leftovers {
 public:
  explicit Leftovers(FileLayer& files) : files_(files) {}

  // "17.db" becomes "17.db.gone"; one that is called so stays. What cannot be renamed stays as it
  // is until the store is opened next.
  void Add(const std::string& path);
  // All that were added, until `stopped` says so.
  void Remove(const std::function<bool()>& stopped);

 private:
  FileLayer& files_;
  std::mutex mutex_;
  std::vector<std::string> paths_;  // guarded by mutex_
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LEFTOVERS_H_
