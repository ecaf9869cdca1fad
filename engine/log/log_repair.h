// SPDX-License-Identifier: MIT
//
// Mending a damaged log. A header of a segment that was told by what is around it is made anew, and
// a damaged note gets one in its place that says nothing. At other damage the log is cut: what lies
// before it stays the log, and what lies behind it is kept beside the segments (cut_off_log.h), for
// it may follow from what is lost.
#ifndef CELLFS_ENGINE_LOG_LOG_REPAIR_H_
#define CELLFS_ENGINE_LOG_LOG_REPAIR_H_

#include <string>

#include "engine/disk/file_layer.h"
#include "engine/log/log_summary.h"
#include "engine/repair.h"

namespace cellfs {

// Of a store that nobody has open, whose log is as the summary says, and not whole. What is cut off
// is kept durably before anything of the log goes; where this is cut short, it is done again.
StatusOr<LogRepair> RepairLog(FileLayer& files, const std::string& directory,
                              const LogSummary& summary, RepairMode mode);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_REPAIR_H_
