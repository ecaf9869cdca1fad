// SPDX-License-Identifier: MIT
//
// The text that Prometheus reads of a mount, /.cellfs/metrics: each metric with HELP and TYPE.
#ifndef CELLFS_FS_RESOLVE_METRICS_TEXT_H_
#define CELLFS_FS_RESOLVE_METRICS_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "engine/admin.h"
#include "fs/requests/request_counts.h"

namespace cellfs::fs {

// As Prometheus wants label values, and as TOML takes strings.
std::string Quotable(const std::string& text);

void WriteMountMetrics(uint64_t open_file_bytes, size_t inodes, const AllRequestFigures& requests,
                       std::ostream& text);
// Of the file system that the directory lies on; nothing where that is empty.
void WriteDiskMetrics(const std::string& directory, std::ostream& text);
void WriteStatisticsMetrics(const Statistics& statistics, std::ostream& text);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_RESOLVE_METRICS_TEXT_H_
