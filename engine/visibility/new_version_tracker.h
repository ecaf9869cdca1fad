// SPDX-License-Identifier: MIT
//
// NewVersionTracker: NEW_VERSION_BEHAVIOR's idea of what is left of a column (HBASE-15968,
// NewVersionBehaviorTracker): a tombstone hides only puts written before it, and a put that once
// had VERSIONS undeleted newer puts over it is out for good, also when those are deleted later.
//
// Time is told by sequence ids. Tombstones that hide a range (DeleteFamily, DeleteColumn) cut the
// history of a column into periods; within a period, version tombstones cut it further. For each
// such stretch the puts are counted that were alive in it: a put over the count is hidden. The puts
// of a column come with timestamps descending, so those counted before it have larger timestamps.
//
// The empty qualifier is a column like any other here, which it is not in HBase (there it escapes
// family tombstones and VERSIONS).
#ifndef CELLFS_ENGINE_VISIBILITY_NEW_VERSION_TRACKER_H_
#define CELLFS_ENGINE_VISIBILITY_NEW_VERSION_TRACKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/cell.h"

namespace cellfs {

class NewVersionTracker {
 public:
  explicit NewVersionTracker(int32_t max_versions)
      : max_versions_(static_cast<size_t>(max_versions)) {
    Reset();
  }

  void Reset();  // before each row
  void Add(const CellView& tombstone);
  // Counts the put and tells whether a tombstone or VERSIONS hides it.
  bool IsHidden(const CellView& put);

 private:
  // The writes with a sequence id up to `end` (the map's key) and after the period before.
  struct Period {
    // The range tombstone that ends the period hides puts up to this timestamp; the last has none.
    std::optional<Timestamp> hides_up_to;
    std::map<Timestamp, std::set<SequenceId>> version_tombstones;
    // Stretches of the period, each by its last sequence id -> the puts alive in it.
    std::map<SequenceId, std::set<SequenceId>> counted{{kMaxSequenceId, {}}};

    void AddVersionTombstone(const CellView& tombstone);
  };
  using Periods = std::map<SequenceId, Period>;

  // Begins a new column where the cell is of one. Answers the sequence id of the put before where
  // the cell is a put of the same column and timestamp.
  std::optional<SequenceId> Enter(const CellView& cell);

  size_t max_versions_;
  Periods family_periods_;
  Periods column_periods_;
  std::optional<std::string> qualifier_;
  Timestamp last_timestamp_ = 0;
  SequenceId last_sequence_id_ = 0;
  bool last_was_put_ = false;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_NEW_VERSION_TRACKER_H_
