// SPDX-License-Identifier: MIT
#include "fs/content/disk_positions.h"

#include <cassert>

#include "engine/waiting.h"
#include "fs/nodes/column_lock.h"

namespace cellfs::fs {

DiskPosition DiskPositions::Issue() {
  std::lock_guard lock(mutex_);
  return ++issued_;
}

Status DiskPositions::Await(DiskPosition position) {
  std::unique_lock lock(mutex_);
  if (position <= synced_) return {};
  assert(!ColumnLock::IsAnyHeldHere());
  while (true) {
    if (IsFailed(position)) return failure_.status;
    if (position <= synced_) return {};
    if (!is_syncing_) {
      SyncNow(lock);
      continue;
    }
    const Waiting waiting(Wait::kMayBeShort);
    synced_wakes_.wait(lock);
  }
}

// What is issued while it syncs may be too late for it.
void DiskPositions::SyncNow(std::unique_lock<std::mutex>& lock) {
  is_syncing_ = true;
  const DiskPosition up_to = issued_;
  const DiskPosition from = synced_;
  lock.unlock();
  const Status synced = store_.Sync();
  lock.lock();
  is_syncing_ = false;
  if (synced.ok()) {
    synced_ = up_to;
  } else {
    failure_ = {from, up_to, synced};
  }
  synced_wakes_.notify_all();
}

}  // namespace cellfs::fs
