// SPDX-License-Identifier: MIT
//
// QueryMatcher: decides, cell by cell, what a read of one family sees (HBase's
// NormalUserScanQueryMatcher and RawScanQueryMatcher). This is the rule of reading:
//
//   an expired cell ends its column; one past its own TTL is passed over;
//   a tombstone is remembered, a put that a remembered tombstone hides is passed over;
//   a put after the time range is passed over without counting, one before it ends the column;
//   columns not asked for are passed over; so is a second put of one timestamp;
//   of the rest, as many versions as VERSIONS and the query allow, and what the filter lets
//   through.
#ifndef CELLFS_ENGINE_VISIBILITY_QUERY_MATCHER_H_
#define CELLFS_ENGINE_VISIBILITY_QUERY_MATCHER_H_

#include <memory>
#include <optional>
#include <string>

#include "engine/filter.h"
#include "engine/read.h"
#include "engine/schema.h"
#include "engine/visibility/column_tracker.h"
#include "engine/visibility/delete_tracker.h"
#include "engine/visibility/new_version_tracker.h"

namespace cellfs {

// Not thread-safe.
class QueryMatcher {
 public:
  // `query`, `columns` and `filter` (may be null) outlive the matcher.
  QueryMatcher(const FamilySchema& family, const Query& query, ColumnNames columns, bool raw,
               Filter* filter, Timestamp now);

  void SetToNewRow();
  // REQUIRES: `cell` is of the current row.
  MatchCode Match(const CellView& cell);
  // Where kSeekNextColumn leads; none: behind the cell's column.
  std::optional<std::string_view> ColumnHint() const { return columns_->ColumnHint(); }

 private:
  MatchCode MatchColumn(const CellView& cell);
  MatchCode MergeFilterReturn(const CellView& cell, MatchCode code);
  bool IsPastCellTtl(const CellView& cell) const;
  // Nothing where the put lives.
  std::optional<MatchCode> CheckDeleted(const CellView& put);
  void Remember(const CellView& tombstone);

  const bool raw_;
  const Timestamp now_;
  const TimeRange time_range_;
  const bool sees_behind_tombstones_;  // KEEP_DELETED_CELLS: only tombstones inside the range hide
  Filter* const filter_;
  int32_t versions_after_filter_;
  std::unique_ptr<ColumnTracker> columns_;
  DeleteTracker deletes_;
  std::optional<NewVersionTracker> new_versions_;

  // The column whose cells the filter has let through, and how many.
  std::optional<std::string> filtered_column_;
  int32_t filtered_count_ = 0;
};

// now - TTL, or the smallest timestamp for a family without one.
Timestamp OldestUnexpired(const FamilySchema& family, Timestamp now);

}  // namespace cellfs

#endif  // CELLFS_ENGINE_VISIBILITY_QUERY_MATCHER_H_
