// SPDX-License-Identifier: MIT
#include "fs/store/explicit_timestamps.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "fs/store/raw_cells.h"
#include "fs/store/readable_timestamps.h"

namespace cellfs::fs {
namespace {

// In the first look; one at the last timestamp there is may not count (ColumnHead::Counts).
constexpr int32_t kPutsOfHead = 2;

// Of a column, and of its family's tombstones, in the second look.
constexpr int32_t kMostCellsOfLook = 64;

constexpr Timestamp kWorthWaitingFor = 10;  // milliseconds

ColumnHead HeadIn(const RowCells& raw) {
  ColumnHead head;
  for (const Cell& cell : raw) {
    if (cell.type != CellType::kPut || head.Counts(cell.timestamp)) AddToHead(cell, head);
  }
  return head;
}

// Whether what lies beneath the last cell that was read may matter: only what is newer than the
// newest put and the newest wide tombstone does, and of their own time what hides one version.
bool GoesOnBeneath(const Cell& last, const ColumnHead& head) {
  if (last.timestamp != head.Newest()) return last.timestamp > head.Newest();
  return last.type == CellType::kDelete || last.type == CellType::kDeleteFamilyVersion;
}

// Of a look that brings so many cells of the column, and of its family's tombstones. Those of the
// empty column lie between them.
bool IsAll(const RowCells& raw, const ColumnHead& head, const std::string& qualifier,
           int32_t most_of_each) {
  const Cell* last[2] = {};
  int32_t count[2] = {};
  for (const Cell& cell : raw) {
    const bool is_of_family = !qualifier.empty() && IsFamilyTombstone(cell.type);
    last[is_of_family] = &cell;
    ++count[is_of_family];
  }
  const auto ends = [&](int which) {
    return count[which] < most_of_each || !GoesOnBeneath(*last[which], head);
  };
  return ends(0) && ends(1);
}

// What lies on the column, as far as it matters: as a rule the first look tells, for a filter lets
// through so many cells of each column, tombstones counted. A file that is removed and made again
// for ever has a tombstone for each time, of which the newest alone does.
StatusOr<ColumnHead> HeadOf(Store& store, RawCellsQuery query, const std::string& qualifier) {
  const auto look = [&] { return RawCellsOfColumn(store, Caller::Superuser(), query, qualifier); };
  CELLFS_ASSIGN_OR_RETURN(RowCells raw, look());
  ColumnHead head = HeadIn(raw);
  if (IsAll(raw, head, qualifier, query.max_versions)) return head;
  query.max_versions = kAllVersions;
  query.limit = kMostCellsOfLook;
  CELLFS_ASSIGN_OR_RETURN(raw, look());
  head = HeadIn(raw);
  if (raw.size() < static_cast<size_t>(kMostCellsOfLook)) return head;
  const bool reaches_column = qualifier.empty() || !IsFamilyTombstone(raw.back().type);
  if (reaches_column && !GoesOnBeneath(raw.back(), head)) return head;
  query.limit = -1;
  query.times.min = std::max(head.Newest(), Timestamp{0});
  CELLFS_ASSIGN_OR_RETURN(raw, look());
  return HeadIn(raw);
}

}  // namespace

ExplicitTimestamps::ExplicitTimestamps(Store& store, const Clock& clock, const TableName& table,
                                       RowMutations& mutations)
    : store_(store), clock_(clock), table_(table), row_(mutations.row) {
  for (Mutation& mutation : mutations.mutations) {
    if (auto* put = std::get_if<Put>(&mutation)) Take(*put);
    if (auto* deletion = std::get_if<Delete>(&mutation)) Take(*deletion);
    if (auto* append = std::get_if<Append>(&mutation)) Take(*append);
  }
}

void ExplicitTimestamps::Take(Put& put) {
  const Stamping stamping = std::exchange(put.stamping, Stamping::kAsGiven);
  for (PutCell& cell : put.cells) {
    if (stamping == Stamping::kReadable) readable_.push_back({&cell, put.time_to_live});
    if (stamping != Stamping::kAboveColumn) continue;
    const StampWish wish{cell.timestamp, std::exchange(cell.rewrites, {}), put.time_to_live};
    stamped_.push_back({&cell.family, &cell.qualifier, wish, &cell.timestamp, true});
  }
}

void ExplicitTimestamps::Take(Delete& deletion) {
  const Stamping stamping = std::exchange(deletion.stamping, Stamping::kAsGiven);
  for (DeleteMarker& marker : deletion.markers) {
    markers_.push_back(&marker);
    if (stamping != Stamping::kAboveColumn || marker.type != CellType::kDeleteColumn) continue;
    stamped_.push_back(
        {&marker.family, &marker.qualifier, {.given = marker.timestamp}, &marker.timestamp});
  }
}

// HBase's Append takes the given timestamp where the column is absent, and is never below the value
// it appends to. Which one it took is in what it returns.
void ExplicitTimestamps::Take(Append& append) {
  if (std::exchange(append.stamping, Stamping::kAsGiven) != Stamping::kAboveColumn) return;
  is_append_ = append.return_results = true;
  for (AppendCell& cell : append.cells) {
    const StampWish wish{cell.timestamp, std::nullopt, append.time_to_live};
    stamped_.push_back({&cell.family, &cell.qualifier, wish, &cell.timestamp});
  }
}

// Where nobody can say how late it is there, writing goes on: no more would be known without.
Status ExplicitTimestamps::CheckClock() const {
  const auto difference = store_.ClockDifference();
  if (!difference.ok() || std::chrono::abs(*difference) <= kLongestClockDifference) return {};
  const bool is_ahead = difference->count() > 0;
  return {StatusCode::kIoError,
          "nothing is written: this machine's clock is " +
              std::to_string(std::chrono::abs(*difference).count() / 1000) + " s " +
              (is_ahead ? "ahead of" : "behind") + " the cluster's"};
}

Status ExplicitTimestamps::Choose() {
  guard_.reset();
  if (!stamped_.empty()) CELLFS_RETURN_IF_ERROR(CheckClock());
  CELLFS_ASSIGN_OR_RETURN(const auto schema, store_.DescribeTable(table_));
  const auto no_family = [](const std::string& family) {
    return Status(StatusCode::kNoSuchColumnFamily, "family '" + family + "' does not exist");
  };
  for (const Stamped& one : stamped_) {
    const FamilySchema* family = schema->FindFamily(*one.family);
    if (family == nullptr) return no_family(*one.family);
    CELLFS_RETURN_IF_ERROR(Stamp(one, *family));
  }
  WaitForStamps();
  for (const Readable& put : readable_) {
    const FamilySchema* family = schema->FindFamily(put.cell->family);
    if (family == nullptr) return no_family(put.cell->family);
    CELLFS_RETURN_IF_ERROR(CheckReadable(put, *family));
  }
  return {};
}

// Another client's put gets the clock there. It must not lie beneath ours that was read before it; so
// ours is not there before its time, where that is near: the column was written in this millisecond.
void ExplicitTimestamps::WaitForStamps() const {
  Timestamp latest = 0;
  for (const Stamped& one : stamped_) latest = std::max(latest, *one.timestamp);
  const Timestamp ahead = latest - clock_.Now();
  if (ahead <= 0 || ahead > kWorthWaitingFor) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(ahead));
}

Status ExplicitTimestamps::Stamp(const Stamped& one, const FamilySchema& family) {
  const RawCellsQuery query{table_, row_, *one.family, kPutsOfHead};
  CELLFS_ASSIGN_OR_RETURN(const ColumnHead head, HeadOf(store_, query, *one.qualifier));
  CELLFS_ASSIGN_OR_RETURN(*one.timestamp, StampAbove(head, one.wish, family, clock_.Now()));
  if (!one.is_put) return {};
  // The version that is put again, where it is, may be there.
  TimeRange later;
  later.min = std::max(*one.timestamp, head.newest_put + 1);
  guard_ = Guard{*one.family, *one.qualifier, later};
  return {};
}

Status ExplicitTimestamps::CheckReadable(const Readable& put, const FamilySchema& family) {
  const PutCell& cell = *put.cell;
  if (IsHiddenByStep(cell)) return TimestampUnreadable(cell.timestamp);
  return CheckReadableAt(store_, clock_.Now(), {table_, row_, cell.family}, cell.qualifier, family,
                         cell.timestamp, put.time_to_live);
}

bool ExplicitTimestamps::IsHiddenByStep(const PutCell& put) const {
  return std::any_of(markers_.begin(), markers_.end(), [&](const DeleteMarker* marker) {
    const bool covers = marker->family == put.family &&
                        (IsFamilyTombstone(marker->type) || marker->qualifier == put.qualifier);
    return covers && HidesPutAt(marker->type, marker->timestamp, put.timestamp, true);
  });
}

void ExplicitTimestamps::Complete(MutationResult& result) const {
  if (!is_append_) return;
  for (const Cell& cell : result.results) result.timestamps.push_back(cell.timestamp);
}

}  // namespace cellfs::fs
