// SPDX-License-Identifier: MIT
//
// RestoringReaders: who reads .deleted/q. A copy to q ends its being there, but a program that
// copies (Python's shutil) looks at its source again afterwards: for that process the name is still
// found for a moment, and for its descriptors as long as they are open.
#ifndef CELLFS_FS_NODES_RESTORING_READERS_H_
#define CELLFS_FS_NODES_RESTORING_READERS_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "engine/clock.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe.
class RestoringReaders {
 public:
  explicit RestoringReaders(const Clock& clock) : clock_(clock) {}

  // `shown`: its attributes when the process opened it.
  void Opened(const Place& deleted, const struct stat& shown, pid_t process);
  void Closed(const Place& deleted);
  // False: none was opened.
  bool any() const { return any_.load(std::memory_order_acquire); }

  // The attributes it had; nullopt: nobody reads it, or (process != 0) somebody else does.
  std::optional<struct stat> Find(const Place& deleted, pid_t process = 0) const;

 private:
  struct Reader {
    struct stat shown {};
    pid_t process = 0;
    int open = 0;
    Timestamp closed = 0;
  };
  bool IsOver(const Reader& reader) const;

  const Clock& clock_;
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::unordered_map<Place, Reader, PlaceHash> readers_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_RESTORING_READERS_H_
