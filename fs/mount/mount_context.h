// SPDX-License-Identifier: MIT
//
// MountContext: what everything in one mount shares. Made by FileSystem, lives as long as it.
#ifndef CELLFS_FS_MOUNT_MOUNT_CONTEXT_H_
#define CELLFS_FS_MOUNT_MOUNT_CONTEXT_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "engine/clock.h"
#include "engine/store.h"
#include "fs/attributes/attribute_store.h"
#include "fs/attributes/directory_times.h"
#include "fs/base/delayed_calls.h"
#include "fs/base/outcome.h"
#include "fs/nodes/column_locks.h"
#include "fs/nodes/inode_table.h"
#include "fs/nodes/kernel_cache.h"
#include "fs/nodes/last_absent.h"
#include "fs/nodes/last_put.h"
#include "fs/nodes/unstored_entries.h"
#include "fs/requests/scan_slots.h"
#include "fs/store/column_mutations.h"
#include "fs/store/freshness.h"
#include "fs/tree/asof.h"
#include "fs/tree/error_log.h"
#include "fs/tree/long_names.h"
#include "fs/tree/name_spelling.h"
#include "fs/tree/options.h"
#include "fs/tree/recent_changes.h"

namespace cellfs::fs {

// The members are thread-safe each.
struct MountContext {
  MountContext(Store& store_in, MountOptions options_in, std::shared_ptr<const Clock> clock_in);

  Store& store;
  const MountOptions options;
  const std::shared_ptr<const Clock> clock;
  const Freshness freshness;
  const Timestamp mounted_at;
  const Timestamp made_at;  // the store; the mount, where that is not known
  const NameSpelling row_names;
  const NameSpelling qualifier_names;

  std::atomic<int64_t> cached_listing_bytes_left{int64_t{16} << 20};  // before the nodes
  InodeTable inodes;
  MemoryFiles memory_files;
  UnstoredEntries unstored;
  LastAbsent last_absent;
  LastPut last_put;
  AsofRegistry asof;
  AttributeStore attributes;
  const ColumnMutations mutations;
  ErrorLog errors;
  LongNames long_names;
  ColumnLocks column_locks;
  ScanSlots scan_slots;
  std::mutex schema_changes;  // of a schema with the time that its .toml shows
  DirectoryTimes directory_times;
  RecentChanges recent{*clock, options.temporary_age_ms};
  KernelCache kernel;    // its thread uses the rest
  DelayedCalls delayed;  // and so does its: last

  // Of what follows a change that is done: a failure goes to the log alone.
  void RecordFailure(std::string_view operation, const Place& place, const Outcome& outcome);

  // How the place is named in its directory.
  std::string FileName(const Place& place) const;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_MOUNT_MOUNT_CONTEXT_H_
