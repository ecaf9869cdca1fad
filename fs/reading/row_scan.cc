// SPDX-License-Identifier: MIT
#include "fs/reading/row_scan.h"

#include "fs/requests/running_request.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

bool ShallAnswer() {
  const RunningRequest* request = RunningRequest::OfThisThread();
  return request != nullptr && request->ShallAnswer();
}

}  // namespace

LongWork::Kind KindOfScan(const Place& place) {
  const bool filters = place.view != nullptr && place.view->Filters();
  return filters ? LongWork::Kind::kIsLong : LongWork::Kind::kMayBeShort;
}

OutcomeOr<std::unique_ptr<RowScan>> RowScan::Open(const Reading& reading, const Caller& caller,
                                                  const Place& place, const Scan& scan) {
  auto rights = FilterRights::Of(reading, place);
  Scan narrowed = scan;
  if (rights != nullptr) narrowed.filter = rights->Narrow(scan.filter);
  if (place.view != nullptr) narrowed.table_id = place.view->IdOf(place.table);
  CELLFS_ASSIGN_OR_RETURN(auto scanner, reading.OpenScanner(caller, place.table, narrowed));
  return std::unique_ptr<RowScan>(
      new RowScan(reading.scan_slots(), place, std::move(rights), std::move(scanner)));
}

OutcomeOr<std::vector<RowCells>> RowScan::Next(size_t max_rows) {
  if (!is_query_) return NextBatch({.max_rows = max_rows});
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(auto rows, NextBatch({.max_rows = max_rows, .partial_rows = true}));
    if (rows.empty()) return rows;
    // The last row of a batch may go on with the next one.
    const bool goes_on = last_row_ == rows.front().front().row;
    last_row_ = rows.back().front().row;
    if (goes_on) rows.erase(rows.begin());
    if (!rows.empty()) return rows;
  }
}

OutcomeOr<RowCells> RowScan::NextPiece(size_t max_bytes) {
  CELLFS_ASSIGN_OR_RETURN(
      auto rows, NextBatch({.max_rows = 1, .max_bytes = max_bytes, .partial_rows = true}));
  return rows.empty() ? RowCells() : std::move(rows.front());
}

OutcomeOr<std::vector<RowCells>> RowScan::NextBatch(ScanBatch batch) {
  LongWork work(slots_, kind_);
  while (!ShallAnswer()) {
    CELLFS_RETURN_IF_FAILED(work.Step());
    if (rights_ != nullptr) CELLFS_RETURN_IF_FAILED(rights_->BeginStep());
    batch.max_time = kLongestStep;
    batch.cancelled = work.cancelled();
    auto rows = scanner_->Next(batch);
    goes_on_ = rows.ok();
    if (!rows.ok()) return Outcome(rows.status());
    if (rights_ != nullptr && !rights_->failure().ok()) {
      goes_on_ = false;  // what it has passed by in error would be missing
      return rights_->failure();
    }
    if (!rows->empty() || scanner_->at_end()) return *std::move(rows);
  }
  return Outcome(ETIMEDOUT);
}

}  // namespace cellfs::fs
