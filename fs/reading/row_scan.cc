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
  CELLFS_ASSIGN_OR_RETURN(auto scanner, reading.OpenScanner(caller, place.table, narrowed));
  return std::unique_ptr<RowScan>(
      new RowScan(reading.scan_slots(), KindOfScan(place), std::move(rights), std::move(scanner)));
}

OutcomeOr<std::vector<RowCells>> RowScan::Next(size_t max_rows) {
  LongWork work(slots_, kind_);
  while (!ShallAnswer()) {
    CELLFS_RETURN_IF_FAILED(work.Step());
    if (rights_ != nullptr) CELLFS_RETURN_IF_FAILED(rights_->BeginStep());
    auto rows = scanner_->Next(
        {.max_rows = max_rows, .max_time = kLongestStep, .cancelled = work.cancelled()});
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
