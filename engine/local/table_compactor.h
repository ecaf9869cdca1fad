// SPDX-License-Identifier: MIT
//
// TableCompactor: the compactions of one table, one at a time (HBase: CompactSplit). Where the disk
// has no room for what is worth it, or was asked for, it goes on in smaller steps that give some
// back.
#ifndef CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
#define CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/admin.h"
#include "engine/local/attempts.h"
#include "engine/local/compaction_job.h"
#include "engine/local/compaction_picker.h"
#include "engine/local/store_context.h"
#include "engine/local/version_set.h"

namespace cellfs {

// Thread-safe. Its mutex comes before those of VersionSet.
class TableCompactor {
 public:
  using Stopped = CompactionJob::Stopped;

  // Both outlive it.
  TableCompactor(StoreContext& context, VersionSet& versions)
      : context_(context), versions_(versions) {}
  TableCompactor(const TableCompactor&) = delete;
  TableCompactor& operator=(const TableCompactor&) = delete;

  // Every file of every family.
  Status Compact(CompactionKind kind);
  // What is worth it, until nothing is.
  Status CompactSelected();
  // The same, in one family, if anything is; true: something was. Ends early, without an error,
  // where `stopped` says so. After an error it does nothing for a while (Attempts).
  StatusOr<bool> CompactByPolicy(const Stopped& stopped);
  // Who drops the table: none is under way while this is held, and none begins.
  std::unique_lock<std::mutex> HoldOff() { return std::unique_lock(mutex_); }

  Status last_error() const { return attempts_.last(); }
  uint64_t compactions() const { return compactions_; }

 private:
  // REQUIRES: the mutex, all that follow.
  Status CompactAll(CompactionKind kind);
  Status CompactFamily(const FamilySchema& family, CompactionKind kind);
  StatusOr<bool> CompactPair(const FamilySchema& family);
  StatusOr<bool> ThinFiles(const FamilySchema& family, const Stopped& stopped);
  StatusOr<bool> IsWorthThinning(const Compaction& alone, const Stopped& stopped) const;
  StatusOr<bool> CompactOnce(const Stopped& stopped);
  StatusOr<bool> CompactWhatIsWorthIt(const Stopped& stopped);
  StatusOr<bool> DropExpired(const FamilySchema& family);
  Status RunJob(Compaction compaction, const Stopped& stopped);

  StoreContext& context_;
  VersionSet& versions_;
  std::mutex mutex_;  // one compaction at a time
  Attempts attempts_;
  std::atomic<uint64_t> compactions_{0};
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_TABLE_COMPACTOR_H_
