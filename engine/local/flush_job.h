// SPDX-License-Identifier: MIT
//
// FlushJob: writes the frozen memstore of a table into store files, one for each family that has
// cells in it, and says what that makes of the table (LevelDB's WriteLevel0Table).
#ifndef CELLFS_ENGINE_LOCAL_FLUSH_JOB_H_
#define CELLFS_ENGINE_LOCAL_FLUSH_JOB_H_

#include <optional>
#include <vector>

#include "engine/local/dropped_columns.h"
#include "engine/local/table_services.h"
#include "engine/local/version_set.h"

namespace cellfs {

// Runs once. Not thread-safe.
class FlushJob {
 public:
  // `version` has a frozen memstore. All outlive the job.
  FlushJob(TableServices& services, VersionSet& versions, TableVersionPtr version)
      : services_(services), versions_(versions), version_(std::move(version)) {}

  // On an error, or when the table is dropped meanwhile (kCancelled), no file is left. A moment
  // that is pinned meanwhile goes on with the memstore.
  StatusOr<VersionEdit> Run();
  // What the rules have left out.
  DroppedColumns TakeDropped() { return std::move(dropped_); }

 private:
  Status WriteFamily(const FamilySchema& family, SequenceId keep_up_to, VersionEdit& edit);

  TableServices& services_;
  VersionSet& versions_;
  const TableVersionPtr version_;
  DroppedColumns dropped_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_FLUSH_JOB_H_
