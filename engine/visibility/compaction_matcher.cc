// SPDX-License-Identifier: MIT
#include "engine/visibility/compaction_matcher.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/visibility/column_tracker.h"
#include "engine/visibility/delete_tracker.h"
#include "engine/visibility/new_version_tracker.h"
#include "engine/visibility/query_matcher.h"

namespace cellfs {
namespace {

// KEEP_DELETED_CELLS TTL keeps as long as the family's TTL lasts, TRUE as long as DELETED_TTL.
Timestamp OldestKept(const FamilySchema& family, Timestamp now) {
  switch (family.keep_deleted_cells()) {
    case KeepDeletedCells::kFalse:
      return kLatestTimestamp;
    case KeepDeletedCells::kTtl:
      return OldestUnexpired(family, now);
    case KeepDeletedCells::kTrue:
      break;
  }
  return family.deleted_ttl() ? now - *family.deleted_ttl() * 1000
                              : std::numeric_limits<Timestamp>::min();
}

class KeepEverything : public CompactionMatcher {
 public:
  bool Keep(const CellView&) override { return true; }
};

class RewriteMatcher : public CompactionMatcher {
 public:
  RewriteMatcher(const FamilySchema& family, const Rewrite& rewrite)
      : rewrite_(rewrite),
        keep_deleted_(family.keep_deleted_cells()),
        oldest_unexpired_(OldestUnexpired(family, rewrite.now)),
        oldest_kept_tombstone_(OldestKept(family, rewrite.now)) {
    const VersionLimits limits{family.min_versions(), family.max_versions(), oldest_unexpired_};
    if (family.new_version_behavior()) {
      new_versions_.emplace(family.max_versions());
      columns_ = MakeCountingColumnTracker(nullptr, limits);
    } else {
      columns_ = MakeWildcardColumnTracker(limits);
    }
  }

  bool Keep(const CellView& cell) override {
    return Survives(cell) || cell.sequence_id <= rewrite_.keep_up_to;
  }

 private:
  bool Survives(const CellView& cell) {
    if (!has_row_ || cell.row != row_) BeginRow(cell.row);
    if (rest_of_column_dropped_ && cell.qualifier == dropped_qualifier_) return false;
    rest_of_column_dropped_ = false;
    const MatchCode code = Match(cell);
    // The empty column is walked to its end: family tombstones may lie behind (HBASE-18471).
    if ((code == MatchCode::kSeekNextColumn || code == MatchCode::kIncludeAndSeekNextColumn) &&
        !cell.qualifier.empty()) {
      rest_of_column_dropped_ = true;
      dropped_qualifier_ = cell.qualifier;
    }
    return code == MatchCode::kInclude || code == MatchCode::kIncludeAndSeekNextColumn;
  }

  void BeginRow(std::string_view row) {
    has_row_ = true;
    row_ = row;
    rest_of_column_dropped_ = false;
    columns_->Reset();
    deletes_.Reset();
    if (new_versions_) new_versions_->Reset();
  }

  MatchCode Match(const CellView& cell) {
    if (columns_->IsDone(cell.timestamp)) return columns_->NextRowOrNextColumn(cell);
    if (cell.time_to_live != kNoCellTtl && cell.time_to_live < rewrite_.now - cell.timestamp) {
      return MatchCode::kSkip;
    }
    if (!IsTombstone(cell.type)) return MatchPut(cell);
    const bool none_is_kept = keep_deleted_ == KeepDeletedCells::kFalse;
    const bool works = none_is_kept || cell.timestamp < oldest_kept_tombstone_;
    const bool redundant = none_is_kept && deletes_.IsRedundant(cell);
    if (works) Remember(cell);
    if (rewrite_.kind == RewriteKind::kMinor || rewrite_.keep_up_to > 0) {
      return redundant ? MatchCode::kSkip : MatchCode::kInclude;
    }
    if (rewrite_.time_to_purge_deletes > 0 &&
        rewrite_.now - cell.timestamp <= rewrite_.time_to_purge_deletes) {
      return MatchCode::kInclude;
    }
    if (works) return MatchCode::kSkip;
    // A kept tombstone goes with the versions it stands among, or where no put of the store is as
    // old.
    if (cell.timestamp < rewrite_.oldest_put) return columns_->NextRowOrNextColumn(cell);
    return columns_->CheckVersions(cell);
  }

  MatchCode MatchPut(const CellView& put) {
    if (new_versions_) {
      if (new_versions_->IsHidden(put)) return MatchCode::kSkip;
    } else {
      switch (deletes_.IsDeleted(put)) {
        case DeleteTracker::Result::kNotDeleted:
          break;
        case DeleteTracker::Result::kVersionDeleted:
          return MatchCode::kSkip;
        case DeleteTracker::Result::kColumnDeleted:
          return columns_->NextRowOrNextColumn(put);
      }
    }
    return columns_->CheckVersions(put);
  }

  void Remember(const CellView& tombstone) {
    if (new_versions_) {
      new_versions_->Add(tombstone);
    } else {
      deletes_.Add(tombstone);
    }
  }

  const Rewrite rewrite_;
  const KeepDeletedCells keep_deleted_;
  const Timestamp oldest_unexpired_;
  const Timestamp oldest_kept_tombstone_;  // where some are kept
  std::unique_ptr<ColumnTracker> columns_;
  DeleteTracker deletes_;
  std::optional<NewVersionTracker> new_versions_;
  bool has_row_ = false;
  std::string row_;
  bool rest_of_column_dropped_ = false;
  std::string dropped_qualifier_;
};

}  // namespace

Timestamp OldestKeptTombstone(const FamilySchema& family, Timestamp now,
                              int64_t time_to_purge_deletes) {
  const Timestamp kept = OldestKept(family, now);
  return time_to_purge_deletes > 0 ? std::min(kept, now - time_to_purge_deletes) : kept;
}

std::unique_ptr<CompactionMatcher> MakeCompactionMatcher(const FamilySchema& family,
                                                         const Rewrite& rewrite) {
  if (family.new_version_behavior()) {
    // Any put may still push others out, so only a major compaction drops.
    if (rewrite.kind == RewriteKind::kMinor || rewrite.keep_up_to > 0)
      return std::make_unique<KeepEverything>();
  }
  return std::make_unique<RewriteMatcher>(family, rewrite);
}

}  // namespace cellfs
