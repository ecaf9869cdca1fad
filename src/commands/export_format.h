// SPDX-License-Identifier: MIT
//
// The lines of an export; docs/export-format.md explains them.
//
//     {"cellfs_export": 1}
//     {"namespace": "log", "properties": {...}}
//     {"table": "log:t", "attributes": {...}, "splits": [...], "families": {"f": {...}}}
//     {"table": "log:t", "row": "r", ...}                  cells (cell_line.h), with "sequence"
//     {"end": {"tables": 1, "cells": 5}}
#ifndef CELLFS_SRC_COMMANDS_EXPORT_FORMAT_H_
#define CELLFS_SRC_COMMANDS_EXPORT_FORMAT_H_

#include <cstdint>

namespace cellfs {

inline constexpr char kExportMember[] = "cellfs_export";
inline constexpr int64_t kExportFormat = 1;
inline constexpr char kEndMember[] = "end";

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_EXPORT_FORMAT_H_
