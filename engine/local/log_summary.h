// SPDX-License-Identifier: MIT
//
// LogSummary: what the log of a store that is not open says of its tables. It changes nothing.
#ifndef CELLFS_ENGINE_LOCAL_LOG_SUMMARY_H_
#define CELLFS_ENGINE_LOCAL_LOG_SUMMARY_H_

#include <map>
#include <string>

#include "engine/local/file_layer.h"
#include "engine/local/log_format.h"

namespace cellfs {

struct LogSummary {
  uint64_t first_segment = 0;
  OlderCells older;  // what segments before that have held
  TableMarks marks;
  std::map<TableId, SequenceId> highest;  // of the records that are there
};

// kCorruption: a segment is missing or its header is damaged. What lies behind the intact records of
// a segment is passed over.
StatusOr<LogSummary> SummarizeLog(FileLayer& files, const std::string& directory,
                                  uint64_t store_id);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_LOG_SUMMARY_H_
