// SPDX-License-Identifier: MIT
//
// Making a manifest anew that was lost or damaged, or is an older copy, from what the store files
// and the log say, and cutting a damaged log. What cannot be told is said, and left as it is.
#ifndef CELLFS_ENGINE_REPAIR_H_
#define CELLFS_ENGINE_REPAIR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/names.h"
#include "engine/status_or.h"

namespace cellfs {

// What becomes of one table.
struct TableRepair {
  TableName table;
  std::string damage;              // why its manifest cannot be used
  std::vector<std::string> files;  // that the new manifest names
  std::vector<std::string> notes;  // of files that it leaves out, and why
  std::string obstacle;            // why it is left as it is; empty: it can be repaired
};

// What becomes of the log. A damaged header of a segment is made anew where what is around it tells
// what it was; at any other damage the log ends.
struct LogRepair {
  std::string damage;
  std::vector<std::string> headers;  // the segments whose headers are made anew
  uint64_t saved = 0;                // the whole records behind these, which the log has again
  std::vector<std::string> ends;     // the segments behind whose last record damage is cut off, and
                                     // no record with it, as the next segment begins there
  std::vector<std::string> notes;    // the segments in which damaged notes are passed over
  bool is_short = false;  // an older copy, or without its end: it is taken as it is
  bool is_cut = false;
  uint64_t records = 0;           // whole ones behind the cut, which tables lack then
  uint64_t bytes = 0;             // that are cut off, damaged ones too
  std::vector<std::string> kept;  // the files beside the segments that have what is cut off
};

struct StoreRepair {
  std::optional<LogRepair> log;      // none: it is whole
  std::vector<TableRepair> tables;  // that cannot be opened for want of their manifest
};

enum class RepairMode { kPlan, kAct };

// kPlan changes nothing; kAct writes the manifests that were planned, each whole or not at all, and
// mends the log. kUnavailable: the store is open. kCorruption: FORMAT or CATALOG is damaged, which
// comes first.
StatusOr<StoreRepair> RepairLocalStore(const std::string& directory, RepairMode mode);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REPAIR_H_
