// SPDX-License-Identifier: MIT
//
// CheckLog: reads every byte of a log for damage. It changes nothing, and the store may be open
// meanwhile.
#ifndef CELLFS_ENGINE_LOG_LOG_CHECK_H_
#define CELLFS_ENGINE_LOG_LOG_CHECK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/disk/file_layer.h"
#include "engine/log/log_format.h"
#include "engine/log/log_tail.h"

namespace cellfs {

struct CheckedLog {
  std::vector<Damage> damage;  // the first kMostDamage
  uint64_t records = 0;        // that were read
  uint64_t first_segment = 0;
  LogPosition end = 0;  // of its records; 0: it is damaged, or has nothing
  OlderCells older;                       // what the log had before that
  TableMarks marks;                       // what it says of manifests
  std::map<TableId, SequenceId> highest;  // of its records
  std::map<TableId, std::map<std::string, SequenceId>> families;  // likewise of each family
};

// Of the store in `directory`. Damage is also what was cut off the log, that it has no segment
// where it `must_exist`, and that it ends before what was known of it before. `tell`, if any, hears
// how many bytes were read since it was told last; false: no more is, and all ends with kCancelled.
StatusOr<CheckedLog> CheckLog(FileLayer& files, const std::string& directory, uint64_t store_id,
                              bool must_exist, const KnownEnd& known_end,
                              const std::function<bool(uint64_t bytes)>& tell = nullptr);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOG_LOG_CHECK_H_
