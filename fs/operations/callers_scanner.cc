// SPDX-License-Identifier: MIT
#include "fs/operations/callers_scanner.h"

#include <algorithm>
#include <cerrno>

#include "fs/requests/long_work.h"

namespace cellfs::fs {
namespace {

Status NoTurn(const Outcome& outcome) {
  if (outcome.error() == EINTR) return {StatusCode::kCancelled, "who asked has given up waiting"};
  return {StatusCode::kUnavailable, outcome.reason()};
}

Status Unreadable(const Outcome& outcome) {
  const std::string why = "owners and modes cannot be read: " + outcome.reason();
  if (outcome.error() == ETIMEDOUT) return {StatusCode::kTimedOut, why};
  if (outcome.error() == EINTR) return {StatusCode::kCancelled, why};
  return {StatusCode::kIoError, why};
}

}  // namespace

StatusOr<std::vector<RowCells>> CallersScanner::Next(const ScanBatch& batch) {
  LongWork work(slots_, std::exchange(may_be_short_, false) ? LongWork::Kind::kMayBeShort
                                                            : LongWork::Kind::kIsLong);
  if (const Outcome turn = work.Step(); !turn.ok()) return NoTurn(turn);
  if (rights_ != nullptr) {
    if (const Outcome begun = rights_->BeginStep(); !begun.ok()) return Unreadable(begun);
  }
  ScanBatch step = batch;
  step.max_time = std::min<ScanBatch::Duration>(step.max_time, kLongestStep);
  auto rows = scanner_->Next(step);
  if (rights_ != nullptr && !rights_->failure().ok()) return Unreadable(rights_->failure());
  return rows;
}

}  // namespace cellfs::fs
