// SPDX-License-Identifier: MIT
//
// LogSummary: what the log of a store that is not open says of its tables, and where it is damaged.
// It changes nothing.
#ifndef CELLFS_ENGINE_LOG_LOG_SUMMARY_H_
#define CELLFS_ENGINE_LOG_LOG_SUMMARY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/disk/file_layer.h"
#include "engine/log/log_format.h"

namespace cellfs {

// A segment whose header is damaged, and told by what is around it.
struct LostHeader {
  std::string what;  // the file, and what is wrong
  SegmentHeader header;
};

// What lies behind the last record of a segment, mostly the note that another one follows, is
// damaged. The next segment begins where that record ends, so no record is lost.
struct LostEnd {
  std::string what;
  uint64_t segment = 0;
  size_t offset = 0;
};

// A note in the midst of a segment that is damaged; no record is.
struct LostNote {
  std::string what;
  uint64_t segment = 0;
  size_t offset = 0;
  size_t size = 0;
  LogPosition begin = 0;  // in the log
};

// Where the log ceases to be what was written.
struct LogBreak {
  std::string what;      // the file, and what is wrong
  uint64_t segment = 0;  // the last one that is good, 0: none is; and how far
  size_t offset = 0;
};

struct LogSummary {
  uint64_t first_segment = 0;
  OlderCells older;  // what segments before that have held
  TableMarks marks;
  std::map<TableId, SequenceId> highest;  // of the records that are there
  std::vector<LostHeader> lost_headers;   // of segments before the break, and of the broken one
  std::vector<LostEnd> lost_ends;         // likewise
  std::vector<LostNote> lost_notes;       // likewise
  std::optional<LogBreak> broken;         // the first that is left when these are mended
  LogPosition end = 0;  // of what is good then; 0: nothing is

  bool is_whole() const {
    return lost_headers.empty() && lost_ends.empty() && lost_notes.empty() && !broken;
  }
};

// Damage is what the opening of the store finds. What is whole behind it is told of too, as far as
// it can be found.
StatusOr<LogSummary> SummarizeLog(FileLayer& files, const std::string& directory,
                                  uint64_t store_id);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_SUMMARY_H_
