// SPDX-License-Identifier: MIT
//
// CompactionJob: writes the cells of some files of a family into one, or several without a common
// row (CompactionOutput), leaves out what HBase's rules drop, and says what that makes of the table
// (LevelDB's DoCompactionWork).
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_JOB_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/disk/disk_reserve.h"
#include "engine/giving_up.h"
#include "engine/local/compaction_output.h"
#include "engine/local/compaction_picker.h"
#include "engine/local/dropped_columns.h"
#include "engine/local/rewrite.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"

namespace cellfs {

// Runs once. Not thread-safe.
class CompactionJob {
 public:
  // It ends with kCancelled where `stopped` says so, or when the table is altered or dropped. Null:
  // somebody waits for it (GivingUp), and it does not give way to writes either.
  using Stopped = std::function<bool()>;

  // All outlive the job.
  CompactionJob(TableServices& services, VersionSet& versions, Compaction compaction,
                Stopped stopped);
  ~CompactionJob();
  CompactionJob(const CompactionJob&) = delete;
  CompactionJob& operator=(const CompactionJob&) = delete;

  // What it would write, at most. No value is read.
  StatusOr<uint64_t> Measure() const;
  // Whether it would leave out half of what the files have, or more. No value is read.
  StatusOr<bool> WouldLeaveOutHalf() const;
  // Claims the room that it takes, until the job goes. Before it begins: what a compaction cannot
  // finish would only take room from others meanwhile. kStoreFull, with what helps.
  Status ClaimRoom();
  // On an error no file is left, but that a large one is among the store's leftovers.
  StatusOr<VersionEdit> Run();
  // What the rules have left out.
  DroppedColumns TakeDropped() { return std::move(dropped_); }

 private:
  bool MustStop() const;
  Status Pace(const CellView& written);
  Rewrite Rules() const;
  bool TellsHidden(SequenceId keep_up_to) const;
  uint64_t BytesOfFurtherFiles() const;
  std::vector<std::unique_ptr<CellCursor>> OpenFiles(bool lengths_only) const;
  StatusOr<RewriteInput> Input(bool lengths_only) const;

  TableServices& services_;
  VersionSet& versions_;
  const Compaction compaction_;
  const Stopped stopped_;
  const GivingUp* const asker_ = GivingUp::OfThisThread();
  const uint64_t alterations_;
  const OutputLimits limits_;
  DiskReserve::Claim claim_;
  uint64_t claimed_ = 0;
  const bool has_too_many_files_;  // it does not pause
  uint64_t unpaced_ = 0;           // bytes
  DroppedColumns dropped_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_JOB_H_
