// SPDX-License-Identifier: MIT
//
// CompactionPolicy: which files of a family to compact, and when to compact them all. The rules are
// those of HBase's ExploringCompactionPolicy: of all runs of neighbouring files that are alike in
// size, the one with the most files, for that takes away the most files; of several such runs, the
// one that costs the least to write. So a cell is rewritten a logarithmic number of times. Pure.
#ifndef CELLFS_ENGINE_LOCAL_COMPACTION_POLICY_H_
#define CELLFS_ENGINE_LOCAL_COMPACTION_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "engine/cell.h"

namespace cellfs {

struct CompactionLimits {
  size_t min_files = 3;   // hbase.hstore.compaction.min; less than 2 counts as 2
  size_t max_files = 10;  // hbase.hstore.compaction.max
  double ratio = 1.2;     // hbase.hstore.compaction.ratio
  // hbase.hstore.compaction.min.size: a run that is smaller together need not be alike in size.
  uint64_t min_size = 128 << 20;
  // hbase.hstore.compaction.max.size: of a run together.
  uint64_t max_size = std::numeric_limits<uint64_t>::max();
  // hbase.hstore.blockingStoreFiles: with so many files some run is compacted, alike or not.
  size_t blocking_files = 16;
};

// The files [begin, end).
struct FileRange {
  size_t begin = 0;
  size_t end = 0;
  friend bool operator==(const FileRange&, const FileRange&) = default;
};

// `sizes`: the bytes of a family's files, oldest first. nullopt: nothing is to be compacted.
std::optional<FileRange> SelectCompaction(std::span<const uint64_t> sizes,
                                          const CompactionLimits& limits);

struct MajorSchedule {
  int64_t period = 7LL * 24 * 60 * 60 * 1000;  // hbase.hregion.majorcompaction, ms; 0: never
  double jitter = 0.5;                         // hbase.hregion.majorcompaction.jitter
};

// Whether the oldest of a family's files, by the time when it was written, is older than the period
// give or take the jitter. How much that is follows from the names, so that tables filled together
// are compacted one after the other, and a restart changes nothing.
// For the caller to leave alone: a single file that a major compaction made; and, as HBase does,
// max_files and more, which become fewer by SelectCompaction first.
bool NeedsMajor(Timestamp now, Timestamp oldest_file, const MajorSchedule& schedule,
                std::string_view table, std::string_view family);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_COMPACTION_POLICY_H_
