// SPDX-License-Identifier: MIT
//
// Making a manifest anew that was lost or damaged, or is an older copy, from what the store files
// and the log say. What cannot be told is said, and left as it is.
#ifndef CELLFS_ENGINE_REPAIR_H_
#define CELLFS_ENGINE_REPAIR_H_

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

enum class RepairMode { kPlan, kAct };

// The tables of the store in `directory` that cannot be opened for want of their manifest. kPlan
// changes nothing; kAct writes the manifests that were planned, each whole or not at all.
// kUnavailable: the store is open. kCorruption: the store, its CATALOG or its log is damaged, which
// comes first.
StatusOr<std::vector<TableRepair>> RepairLocalStore(const std::string& directory, RepairMode mode);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_REPAIR_H_
