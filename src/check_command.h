// SPDX-License-Identifier: MIT
//
// `cellfs check`: what CheckLocalStore found, for people and for programs.
#ifndef CELLFS_SRC_CHECK_COMMAND_H_
#define CELLFS_SRC_CHECK_COMMAND_H_

#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/repair.h"

namespace cellfs {

// A line for each finding and one for the sum. Stored names appear as the mount spells them, with
// control bytes escaped.
std::string CheckText(const CheckReport& report);
// {"damage": [{"file", "what", "table", "family", "row", "qualifier", "timestamp", "after_row",
// "before_row"}], "log_records", "cells"}; a finding has the members that are known.
std::string CheckJson(const CheckReport& report);

// What `cellfs check --repair` would do, or has done; how to confirm it where something can be done.
std::string RepairText(const std::vector<TableRepair>& repairs, RepairMode mode);
// [{"table", "damage", "files", "notes", "obstacle"}]
std::string RepairJson(const std::vector<TableRepair>& repairs);
// Whether a table is not whole, or would not be.
bool IsDamageLeft(const std::vector<TableRepair>& repairs, RepairMode mode);

}  // namespace cellfs

#endif  // CELLFS_SRC_CHECK_COMMAND_H_
