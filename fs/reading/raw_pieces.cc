// SPDX-License-Identifier: MIT
#include "fs/reading/raw_pieces.h"

#include <algorithm>

#include "engine/filters.h"
#include "fs/reading/reading.h"
#include "fs/store/raw_cells.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

OutcomeOr<RowCells> FirstCells(const Reading& reading, const Caller& caller, const Place& place,
                               FilterPtr columns, const TimeRange& times, ReadDetail detail) {
  RawCellsQuery query{place.table, place.row, place.family};
  query.lengths_only = detail == ReadDetail::kLengths;
  query.times = times;
  query.limit = kRawPiece;
  if (place.view != nullptr && place.view->ShowsPast()) {
    Get seen;
    place.view->Narrow(seen);
    query.times.max = std::min(times.max, seen.time_range.max);
    query.moment = std::move(seen.moment);
    query.table_id = place.view->IdOf(place.table);
  }
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, reading.RawCells(caller, query, std::move(columns)));
  return cells;
}

}  // namespace

OutcomeOr<RowCells> RawCellsAfter(const Reading& reading, const Caller& caller,
                                  const Place& row_or_family,
                                  const std::optional<std::string>& after) {
  FilterPtr columns;
  if (after) {
    CELLFS_ASSIGN_OR_RETURN(columns, MakeColumnRangeFilter(after, false, std::nullopt, false));
  }
  return FirstCells(reading, caller, row_or_family, std::move(columns), {}, ReadDetail::kLengths);
}

OutcomeOr<std::optional<Cell>> RawPut(const Reading& reading, const Caller& caller,
                                      const Place& column, Timestamp timestamp) {
  const std::string& qualifier = column.qualifier;
  CELLFS_ASSIGN_OR_RETURN(auto columns, MakeColumnRangeFilter(qualifier, true, qualifier, true));
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, FirstCells(reading, caller, column, std::move(columns),
                                                     AtTimestamp(timestamp), ReadDetail::kValues));
  const auto put = std::find_if(cells.begin(), cells.end(),
                                [](const Cell& cell) { return cell.type == CellType::kPut; });
  if (put == cells.end()) return std::optional<Cell>();
  return std::optional(std::move(*put));
}

OutcomeOr<RowCells> NewestRawCells(const Reading& reading, const Caller& caller,
                                   const Place& column, const TimeRange& times) {
  const std::string& qualifier = column.qualifier;
  CELLFS_ASSIGN_OR_RETURN(auto columns, MakeColumnRangeFilter(qualifier, true, qualifier, true));
  return FirstCells(reading, caller, column, std::move(columns), times, ReadDetail::kLengths);
}

// The first cell is the family's newest tombstone, if there is one, else the column's newest cell.
OutcomeOr<std::optional<Timestamp>> NewestTimestampFrom(const Reading& reading,
                                                        const Caller& caller, const Place& column,
                                                        Timestamp from) {
  RawCellsQuery query{column.table, column.row, column.family};
  query.times = {from, kLatestTimestamp - 1};
  query.limit = 1;
  CELLFS_ASSIGN_OR_RETURN(const RowCells first,
                          reading.RawCellsOfColumn(caller, query, column.qualifier));
  if (first.empty()) return std::optional<Timestamp>();
  Timestamp newest = first.front().timestamp;
  if (!IsFamilyTombstone(first.front().type)) return std::optional(newest);
  CELLFS_ASSIGN_OR_RETURN(const RowCells own,
                          NewestRawCells(reading, caller, column, query.times));
  if (!own.empty()) newest = std::max(newest, own.front().timestamp);
  return std::optional(newest);
}

OutcomeOr<Timestamp> FirstTimestampAbove(const Reading& reading, const Caller& caller,
                                         const Place& column) {
  const Timestamp now = reading.clock().Now();
  CELLFS_ASSIGN_OR_RETURN(const auto newest, NewestTimestampFrom(reading, caller, column, now));
  return newest ? *newest + 1 : now;
}

// A piece begins at the timestamp of the last cell, of which there may be more.
OutcomeOr<RowCells> RawColumnPieces::Next() {
  if (at_end_) return RowCells();
  CELLFS_RETURN_IF_FAILED(work_.Step());
  if (last_ && last_->timestamp < times_.max) times_.max = last_->timestamp + 1;
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, NewestRawCells(reading_, caller_, column_, times_));
  at_end_ = cells.size() < kRawPiece;
  if (last_) {
    std::erase_if(cells, [this](const Cell& cell) {
      return CompareCells(ViewOf(cell), ViewOf(*last_)) <= 0;
    });
  }
  if (cells.empty()) {
    at_end_ = true;
  } else {
    last_ = cells.back();
  }
  return cells;
}

}  // namespace cellfs::fs
