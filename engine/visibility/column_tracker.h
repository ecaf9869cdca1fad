// SPDX-License-Identifier: MIT
//
// ColumnTracker: which columns are wanted, and how many versions of each: VERSIONS, MIN_VERSIONS,
// TTL and repeated timestamps. Three kinds, as HBase has them:
//   wildcard  the whole family (ScanWildcardColumnTracker); also what rewrites use
//   explicit  named columns (ExplicitColumnTracker); it lets the first expired version behind
//             MIN_VERSIONS live ones through where the wildcard does not
//   counting  under NEW_VERSION_BEHAVIOR (NewVersionBehaviorTracker), where NewVersionTracker has
//             already taken out what VERSIONS hides
#ifndef CELLFS_ENGINE_VISIBILITY_COLUMN_TRACKER_H_
#define CELLFS_ENGINE_VISIBILITY_COLUMN_TRACKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "engine/visibility/match_code.h"

namespace cellfs {

// The names of a query's columns, which outlive the tracker; null: the whole family.
using ColumnNames = const std::set<std::string>*;

struct VersionLimits {
  int32_t min_versions = 0;
  int32_t max_versions = 1;
  Timestamp oldest_unexpired = 0;  // an older cell is expired by the family's TTL
};

class ColumnTracker {
 public:
  virtual ~ColumnTracker() = default;

  virtual void Reset() = 0;  // before each row
  // True once no further column of the row is wanted.
  virtual bool Done() const = 0;
  // True where a cell of that age ends its column, whatever it is.
  virtual bool IsDone(Timestamp timestamp) const = 0;
  // kInclude, or where to go on.
  virtual MatchCode CheckColumn(const CellView& cell) = 0;
  // Counts the cell as a version. REQUIRES: CheckColumn said kInclude.
  virtual MatchCode CheckVersions(const CellView& cell) = 0;
  // The column is finished with: where to go on.
  virtual MatchCode NextRowOrNextColumn(const CellView& cell) = 0;
  virtual void DoneWithColumn(const CellView& /*cell*/) {}
  // The column to go on with; none: any.
  virtual std::optional<std::string_view> ColumnHint() const { return std::nullopt; }
};

std::unique_ptr<ColumnTracker> MakeWildcardColumnTracker(const VersionLimits& limits);
// REQUIRES: `columns` is neither null nor empty.
std::unique_ptr<ColumnTracker> MakeExplicitColumnTracker(ColumnNames columns,
                                                         const VersionLimits& limits);
std::unique_ptr<ColumnTracker> MakeCountingColumnTracker(ColumnNames columns,
                                                         const VersionLimits& limits);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_COLUMN_TRACKER_H_
