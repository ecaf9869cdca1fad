// SPDX-License-Identifier: MIT
//
// DiskPositions: which puts are on disk already. With FSYNC_WAL a put is made with SYNC_WAL, under
// the column's lock, and gets a position; who promised that it is on disk waits for that position
// when he holds no lock any more, whoever made the put. All who wait at a time wait for one sync.
#ifndef CELLFS_FS_CONTENT_DISK_POSITIONS_H_
#define CELLFS_FS_CONTENT_DISK_POSITIONS_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/store.h"

namespace cellfs::fs {

// 0: nothing is waited for.
using DiskPosition = uint64_t;

// Thread-safe.
class DiskPositions {
 public:
  explicit DiskPositions(Store& store)
      : store_(store), syncs_apart_(store.traits().syncs_apart) {}

  // Whether the wait for the disk can come after a put.
  bool syncs_apart() const { return syncs_apart_; }
  // Of what has been put before this call.
  DiskPosition Issue();
  // Until all up to there is on disk. Not under the lock of a column. A sync that failed has failed
  // for all that it was for, and what they put may or may not be on disk.
  Status Await(DiskPosition position);

 private:
  struct Failure {
    DiskPosition from = 0;  // above this, up to `to`
    DiskPosition to = 0;
    Status status;
  };
  bool IsFailed(DiskPosition position) const {
    return position > failure_.from && position <= failure_.to;
  }
  void SyncNow(std::unique_lock<std::mutex>& lock);

  Store& store_;
  const bool syncs_apart_;
  std::mutex mutex_;  // guards the rest; a leaf
  std::condition_variable synced_wakes_;
  DiskPosition issued_ = 0;
  DiskPosition synced_ = 0;
  Failure failure_;  // the last
  bool is_syncing_ = false;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_CONTENT_DISK_POSITIONS_H_
