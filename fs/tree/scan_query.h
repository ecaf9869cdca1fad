// SPDX-License-Identifier: MIT
//
// The names below .scan: a Scan written as the name of a directory, parts separated by commas.
//
//     prefix=com.,limit=10          start=a,stop=b,stop_inclusive       reverse,limit=1
//     columns=anchor:cnnsi.com,columns=contents,time_range=5..9,versions=all
//     filter=PrefixFilter('row') AND TimestampsFilter(1%2C2)
//
// `columns` is a family, or family:qualifier, and may be given several times; `time_range` is
// [min, max) and may leave out either. Values are spelled as keys are (fs/tree/name_spelling.h),
// with
// ',' as %2C. `start` is inclusive and `stop` exclusive, in the order of the scan: with `reverse`
// start is the largest row.
#ifndef CELLFS_FS_TREE_SCAN_QUERY_H_
#define CELLFS_FS_TREE_SCAN_QUERY_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/read.h"
#include "fs/tree/name_spelling.h"

namespace cellfs::fs {

struct ScanQuery {
  std::string prefix;
  std::string start;
  std::string stop;
  bool start_exclusive = false;
  bool stop_inclusive = false;
  bool reverse = false;
  std::optional<int64_t> limit;  // rows
  std::vector<std::pair<std::string, std::optional<std::string>>> columns;
  TimeRange time_range;
  int32_t versions = 1;
  std::string filter;  // in HBase's filter language

  // kIllegalArgument names the part and what is allowed.
  static StatusOr<ScanQuery> Read(std::string_view name, NameMode mode);
  std::string Name(NameMode mode) const;

  // kIllegalArgument where the filter is not understood.
  StatusOr<Scan> ToScan() const;

  friend bool operator==(const ScanQuery&, const ScanQuery&) = default;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_SCAN_QUERY_H_
