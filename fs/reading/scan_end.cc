// SPDX-License-Identifier: MIT
#include "fs/reading/scan_end.h"

#include "fs/reading/filter_rights.h"
#include "fs/reading/row_scan.h"
#include "fs/tree/view.h"

namespace cellfs::fs {
namespace {

constexpr Timestamp kKeepMs = 1000;
constexpr size_t kBatch = 1024;  // rows

OutcomeOr<std::optional<std::string>> LastRow(const Reading& reading, const Caller& caller,
                                              const Place& place) {
  Scan scan = *place.query();
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(const auto scanned, RowScan::Open(reading, caller, place, scan));
  std::optional<std::string> last;
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(auto rows, scanned->Next(kBatch));
    if (rows.empty()) return last;
    if (!rows.back().empty()) last = rows.back().front().row;
  }
}

}  // namespace

// The scan may wait long for its turn, so others that look meanwhile scan for themselves.
OutcomeOr<bool> ScanEnd::IsBefore(const Reading& reading, const Caller& caller, const Place& row) {
  const uint64_t mutations = reading.GetStatistics().mutations;
  const Timestamp now = reading.clock().Now();
  Finder finder{caller.user, {}};
  if (FilterRights::Matter(reading, row))
    finder.credentials = RunningRequest::OfThisThread()->FindCredentials();
  auto end = FindCached(finder, mutations, now);
  if (!end) {
    CELLFS_ASSIGN_OR_RETURN(auto last, LastRow(reading, caller, row));
    end = End{std::move(finder), std::move(last), mutations, now};
    std::lock_guard lock(mutex_);
    end_ = end;
  }
  if (!end->last_row) return false;
  return row.query()->reversed ? row.row >= *end->last_row : row.row <= *end->last_row;
}

std::optional<ScanEnd::End> ScanEnd::FindCached(const Finder& finder, uint64_t mutations,
                                                Timestamp now) {
  std::lock_guard lock(mutex_);
  const bool is_good = end_ && end_->finder == finder && end_->mutations == mutations &&
                       now - end_->found_at < kKeepMs;
  return is_good ? end_ : std::nullopt;
}

}  // namespace cellfs::fs
