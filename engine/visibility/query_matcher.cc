// SPDX-License-Identifier: MIT
#include "engine/visibility/query_matcher.h"

#include <algorithm>
#include <limits>

namespace cellfs {

Timestamp OldestUnexpired(const FamilySchema& family, Timestamp now) {
  if (family.time_to_live() == kForever) return std::numeric_limits<Timestamp>::min();
  return now - int64_t{family.time_to_live()} * 1000;
}

namespace {

TimeRange RangeOf(const FamilySchema& family, const Query& query) {
  auto own = query.family_time_ranges.find(family.name());
  return own == query.family_time_ranges.end() ? query.time_range : own->second;
}

std::unique_ptr<ColumnTracker> TrackerOf(const FamilySchema& family, const Query& query,
                                         ColumnNames columns, bool raw, bool filtered,
                                         Timestamp now) {
  if (columns != nullptr && columns->empty()) columns = nullptr;
  const int32_t asked =
      raw ? query.max_versions : std::min(query.max_versions, family.max_versions());
  VersionLimits limits{.min_versions = family.min_versions(),
                       .max_versions = asked,
                       .oldest_unexpired = raw ? 0 : OldestUnexpired(family, now)};
  if (family.new_version_behavior() && !raw) return MakeCountingColumnTracker(columns, limits);
  // A filter is shown what VERSIONS allows; what it lets through is counted afterwards.
  if (filtered) limits.max_versions = raw ? kAllVersions : family.max_versions();
  return columns == nullptr ? MakeWildcardColumnTracker(limits)
                            : MakeExplicitColumnTracker(columns, limits);
}

}  // namespace

QueryMatcher::QueryMatcher(const FamilySchema& family, const Query& query, ColumnNames columns,
                           bool raw, Filter* filter, Timestamp now)
    : raw_(raw),
      now_(now),
      time_range_(RangeOf(family, query)),
      sees_behind_tombstones_(family.keep_deleted_cells() != KeepDeletedCells::kFalse),
      filter_(filter),
      versions_after_filter_(raw ? query.max_versions
                                 : std::min(query.max_versions, family.max_versions())),
      columns_(TrackerOf(family, query, columns, raw, filter != nullptr, now)) {
  if (family.new_version_behavior() && !raw) new_versions_.emplace(family.max_versions());
}

void QueryMatcher::SetToNewRow() {
  columns_->Reset();
  if (new_versions_) {
    new_versions_->Reset();
  } else {
    deletes_.Reset();
  }
  filtered_column_.reset();
}

MatchCode QueryMatcher::Match(const CellView& cell) {
  if (columns_->Done()) return MatchCode::kSeekNextRow;
  if (columns_->IsDone(cell.timestamp)) return columns_->NextRowOrNextColumn(cell);
  if (raw_) return MatchColumn(cell);
  if (IsPastCellTtl(cell)) return MatchCode::kSkip;
  // A column that is not asked for is passed as a whole, its tombstones and what they hide too.
  if (const auto asked = columns_->ColumnHint();
      asked && *asked != cell.qualifier && !IsFamilyTombstone(cell.type)) {
    if (MatchCode code = columns_->CheckColumn(cell); code != MatchCode::kInclude) return code;
  }
  if (IsTombstone(cell.type)) {
    Remember(cell);
    return MatchCode::kSkip;
  }
  if (auto deleted = CheckDeleted(cell)) return *deleted;
  return MatchColumn(cell);
}

bool QueryMatcher::IsPastCellTtl(const CellView& cell) const {
  return cell.time_to_live != kNoCellTtl && cell.time_to_live < now_ - cell.timestamp;
}

void QueryMatcher::Remember(const CellView& tombstone) {
  const bool counts = sees_behind_tombstones_ ? time_range_.Contains(tombstone.timestamp)
                                              : tombstone.timestamp >= time_range_.min;
  if (!counts) return;
  if (new_versions_) {
    new_versions_->Add(tombstone);
  } else {
    deletes_.Add(tombstone);
  }
}

std::optional<MatchCode> QueryMatcher::CheckDeleted(const CellView& put) {
  if (new_versions_) {
    if (new_versions_->IsHidden(put)) return MatchCode::kSkip;
    return std::nullopt;
  }
  switch (deletes_.IsDeleted(put)) {
    case DeleteTracker::Result::kNotDeleted:
      return std::nullopt;
    case DeleteTracker::Result::kVersionDeleted:
      return MatchCode::kSkip;
    case DeleteTracker::Result::kColumnDeleted:
      return columns_->NextRowOrNextColumn(put);
  }
  return std::nullopt;
}

MatchCode QueryMatcher::MatchColumn(const CellView& cell) {
  // The column before the time range: what is too new in a column that is not wanted would be
  // stepped over, cell by cell, to the end of a row.
  if (MatchCode code = columns_->CheckColumn(cell); code != MatchCode::kInclude) return code;
  if (!time_range_.Contains(cell.timestamp)) {
    if (cell.timestamp >= time_range_.max) return MatchCode::kSkip;
    return columns_->NextRowOrNextColumn(cell);
  }
  const MatchCode code = columns_->CheckVersions(cell);
  if (code == MatchCode::kSkip || code == MatchCode::kSeekNextColumn || filter_ == nullptr) {
    return code;
  }
  return MergeFilterReturn(cell, code);
}

// `code` is one of the three kInclude...
MatchCode QueryMatcher::MergeFilterReturn(const CellView& cell, MatchCode code) {
  const bool last_of_row = code == MatchCode::kIncludeAndSeekNextRow;
  switch (filter_->FilterCell(cell)) {
    case FilterReturn::kSkip:
      if (code == MatchCode::kInclude) return MatchCode::kSkip;
      return last_of_row ? MatchCode::kSeekNextRow : MatchCode::kSeekNextColumn;
    case FilterReturn::kNextColumn:
      return last_of_row ? MatchCode::kSeekNextRow : columns_->NextRowOrNextColumn(cell);
    case FilterReturn::kNextRow:
      return MatchCode::kSeekNextRow;
    case FilterReturn::kSeekNextUsingHint:
      return MatchCode::kSeekNextUsingHint;
    case FilterReturn::kInclude:
      break;
    case FilterReturn::kIncludeAndNextColumn:
      if (code == MatchCode::kInclude) code = MatchCode::kIncludeAndSeekNextColumn;
      break;
    case FilterReturn::kIncludeAndSeekNextRow:
      code = MatchCode::kIncludeAndSeekNextRow;
      break;
  }
  if (filtered_column_ != cell.qualifier) {
    filtered_column_ = cell.qualifier;
    filtered_count_ = 0;
  }
  if (++filtered_count_ > versions_after_filter_) {
    code = code == MatchCode::kIncludeAndSeekNextRow ? MatchCode::kSeekNextRow
                                                     : MatchCode::kSeekNextColumn;
  }
  if (code == MatchCode::kIncludeAndSeekNextColumn || code == MatchCode::kSeekNextColumn) {
    columns_->DoneWithColumn(cell);
  }
  return code;
}

}  // namespace cellfs
