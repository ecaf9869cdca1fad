// SPDX-License-Identifier: MIT
#include "src/history/stored_cells.h"

#include <algorithm>
#include <utility>

namespace cellfs {
namespace {

struct Position {
  std::string qualifier;
  Timestamp timestamp = 0;
  CellType type = CellType::kPut;
};

// Lets the cells behind a position through; of a column only those of it and the tombstones of its
// family, within the times: what a scan's time range leaves out is passed by cell by cell before a
// filter sees it, and here is where one can seek.
class StoredCellsFilter : public Filter {
 public:
  StoredCellsFilter(std::optional<Position> after, std::optional<std::string> column,
                    TimeRange times)
      : after_(std::move(after)), column_(std::move(column)), times_(times) {}

  std::unique_ptr<Filter> Clone() const override {
    return std::make_unique<StoredCellsFilter>(after_, column_, times_);
  }

  FilterReturn FilterCell(const CellView& cell) override {
    if (after_ && IsBefore(cell, *after_))
      return SeekTo(cell, after_->qualifier, after_->timestamp);
    if (after_ && IsAt(cell, *after_)) return FilterReturn::kSkip;
    if (!column_) return FilterReturn::kInclude;
    const bool is_wanted = cell.qualifier == *column_ || IsFamilyTombstone(cell.type);
    if (is_wanted && times_.Contains(cell.timestamp)) return FilterReturn::kInclude;
    if (cell.qualifier > *column_) return FilterReturn::kNextRow;
    // Family tombstones may lie behind the cells of the empty column.
    if (cell.qualifier.empty()) return FilterReturn::kSkip;
    if (cell.qualifier == *column_ && cell.timestamp < times_.max) return FilterReturn::kNextRow;
    return SeekTo(cell, *column_, times_.max - 1);
  }
  std::optional<CellHint> GetNextCellHint(const CellView& /*cell*/) override { return hint_; }
  std::optional<std::string> OnlyColumn() const override { return column_; }

 private:
  // Of another timestamp than the position's; seeking brings the read on.
  static bool IsBefore(const CellView& cell, const Position& at) {
    return cell.qualifier < at.qualifier ||
           (cell.qualifier == at.qualifier && cell.timestamp > at.timestamp);
  }
  static bool IsAt(const CellView& cell, const Position& at) {
    return cell.qualifier == at.qualifier && cell.timestamp == at.timestamp && cell.type >= at.type;
  }
  FilterReturn SeekTo(const CellView& cell, const std::string& qualifier, Timestamp timestamp) {
    hint_ = CellHint{std::string(cell.row), std::string(cell.family), qualifier, timestamp};
    return FilterReturn::kSeekNextUsingHint;
  }

  const std::optional<Position> after_;
  const std::optional<std::string> column_;
  const TimeRange times_;
  std::optional<CellHint> hint_;
};

Scan RawScan(const StoredCellsOptions& options) {
  Scan scan;
  scan.raw = true;
  scan.max_versions = kAllVersions;
  scan.lengths_only = true;
  scan.time_range = options.times;
  scan.moment = options.moment;
  return scan;
}

void LimitToRow(const std::string& row, Scan& scan) {
  scan.start_row = scan.stop_row = row;
  scan.include_stop_row = true;
}

StatusOr<RowCells> ReadRow(const HistoryAccess& access, const TableName& table, const Scan& scan) {
  CELLFS_ASSIGN_OR_RETURN(const auto scanner,
                          access.store.OpenScanner(access.caller, table, scan));
  ScanBatch batch{.max_rows = 1};
  batch.cancelled = access.cancelled;
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next(batch));
  return rows.empty() ? RowCells() : std::move(rows.front());
}

}  // namespace

StoredCells::StoredCells(const HistoryAccess& access, const Scope& scope, Options options)
    : access_(access), scope_(scope), options_(std::move(options)) {}

void StoredCells::NarrowTo(Timestamp oldest) {
  if (oldest <= options_.times.min) return;
  options_.times.min = std::min(oldest, options_.times.max);
  is_narrowed_ = true;
}

StatusOr<RowCells> StoredCells::Next() {
  CELLFS_RETURN_IF_ERROR(CheckNotCancelled(access_));
  while (unfinished_) {
    CELLFS_ASSIGN_OR_RETURN(RowCells rest, NextInFamily());
    if (!rest.empty()) return rest;
  }
  while (pieces_.empty() && !at_end_) CELLFS_RETURN_IF_ERROR(FetchRows());
  if (pieces_.empty()) return RowCells();
  RowCells piece = std::move(pieces_.front());
  pieces_.pop_front();
  if (piece.size() >= options_.piece) unfinished_ = piece.back();
  return piece;
}

StatusOr<RowCells> StoredCells::NextInFamily() {
  const Cell last = *std::exchange(unfinished_, std::nullopt);
  Scan scan = RawScan(options_);
  LimitToRow(last.row, scan);
  scan.columns[last.family];
  scan.store_limit = static_cast<int32_t>(options_.piece);
  scan.filter = std::make_shared<StoredCellsFilter>(
      Position{last.qualifier, last.timestamp, last.type}, scope_.qualifier, options_.times);
  if (scope_.qualifier) LimitToColumn(scan);
  CELLFS_ASSIGN_OR_RETURN(RowCells cells, ReadRow(access_, scope_.table, scan));
  if (cells.size() >= options_.piece) unfinished_ = cells.back();
  return cells;
}

// By the filter, which knows the times too.
void StoredCells::LimitToColumn(Scan& scan) {
  scan.time_range = {};
  scan.passed_over = &beside_;
}

Status StoredCells::OpenScanner() {
  Scan scan = RawScan(options_);
  scan.store_limit = static_cast<int32_t>(options_.piece);
  if (scope_.row) LimitToRow(*scope_.row, scan);
  if (last_row_) {
    scan.start_row = *last_row_;
    scan.include_start_row = false;
  }
  if (scope_.family) scan.columns[*scope_.family];
  if (scope_.qualifier) {
    scan.filter =
        std::make_shared<StoredCellsFilter>(std::nullopt, scope_.qualifier, options_.times);
    LimitToColumn(scan);
  }
  CELLFS_ASSIGN_OR_RETURN(scanner_,
                          access_.store.OpenScanner(access_.caller, scope_.table, scan));
  is_narrowed_ = false;
  return {};
}

// A scanner holds nothing of the store between two batches, so a new one costs no more than those.
Status StoredCells::FetchRows() {
  if (scope_.row && last_row_) {
    at_end_ = true;
    return {};
  }
  if (scanner_ == nullptr || is_narrowed_) CELLFS_RETURN_IF_ERROR(OpenScanner());
  ScanBatch batch{.max_rows = kHistoryPiece};
  batch.cancelled = access_.cancelled;
  CELLFS_ASSIGN_OR_RETURN(auto rows, scanner_->Next(batch));
  at_end_ = scanner_->at_end() || (scope_.row && rows.empty());
  for (RowCells& row : rows) TakeRow(std::move(row));
  return {};
}

void StoredCells::TakeRow(RowCells cells) {
  if (cells.empty()) return;
  last_row_ = cells.front().row;
  for (auto begin = cells.begin(); begin != cells.end();) {
    const auto end = std::find_if(
        begin, cells.end(), [&](const Cell& cell) { return cell.family != begin->family; });
    pieces_.emplace_back(std::make_move_iterator(begin), std::make_move_iterator(end));
    begin = end;
  }
}

namespace {

// Of a put: with its value, or its length.
struct PutQuery {
  const HistoryAccess& access;
  const TableName& table;
  const Cell& put;
  std::shared_ptr<const Moment> moment;
  NewerCells newer;

  // `passed_over`: set where the caller may not read something that it came by.
  StatusOr<std::optional<Cell>> Read(bool lengths_only, std::atomic<bool>& passed_over) const {
    // Within times cells are passed by one by one before the filter can seek.
    TimeRange times;
    if (newer == NewerCells::kLeftOut) times.max = put.timestamp + 1;
    Scan scan = RawScan({.times = times, .moment = moment});
    scan.lengths_only = lengths_only;
    scan.passed_over = &passed_over;
    LimitToRow(put.row, scan);
    scan.columns[put.family];
    scan.filter = std::make_shared<StoredCellsFilter>(std::nullopt, put.qualifier,
                                                      AtTimestamp(put.timestamp));
    CELLFS_ASSIGN_OR_RETURN(RowCells cells, ReadRow(access, table, scan));
    const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
      return cell.type == CellType::kPut && cell.qualifier == put.qualifier;
    });
    if (found == cells.end()) return std::optional<Cell>();
    return std::optional(std::move(*found));
  }
};

}  // namespace

StatusOr<std::optional<Cell>> ReadStoredPut(const HistoryAccess& access, const TableName& table,
                                            const Cell& put,
                                            std::shared_ptr<const Moment> moment,
                                            NewerCells newer) {
  const PutQuery query{access, table, put, std::move(moment), newer};
  std::atomic<bool> passed_over = false;
  CELLFS_ASSIGN_OR_RETURN(auto found, query.Read(false, passed_over));
  if (found || !passed_over) return found;
  // What was passed over may have lain beside it.
  CELLFS_ASSIGN_OR_RETURN(const auto closed, query.Read(true, passed_over));
  if (!closed) return found;
  return Status(StatusCode::kAccessDenied,
                "no right to read version " + std::to_string(put.timestamp) + " of column '" +
                    put.family + ":" + put.qualifier + "' of row '" + put.row +
                    "': another's file had that name then");
}

StatusOr<std::optional<Cell>> FindStoredPut(const HistoryAccess& access, const TableName& table,
                                            const Cell& put,
                                            std::shared_ptr<const Moment> moment,
                                            NewerCells newer) {
  std::atomic<bool> beside = false;
  return PutQuery{access, table, put, std::move(moment), newer}.Read(true, beside);
}

}  // namespace cellfs
