// SPDX-License-Identifier: MIT
#include "fs/scan_end.h"

#include "fs/view.h"

namespace cellfs::fs {
namespace {

constexpr Timestamp kKeepMs = 1000;
constexpr int kBatch = 1024;  // rows

OutcomeOr<std::optional<std::string>> LastRow(MountContext& mount, const Caller& caller,
                                              const Place& place) {
  Scan scan = place.view->scan;
  scan.lengths_only = true;
  CELLFS_ASSIGN_OR_RETURN(auto scanner, mount.store.OpenScanner(caller, place.table, scan));
  std::optional<std::string> last;
  while (true) {
    CELLFS_ASSIGN_OR_RETURN(auto rows, scanner->Next({.max_rows = kBatch}));
    if (rows.empty()) return last;
    if (!rows.back().empty()) last = rows.back().front().row;
  }
}

}  // namespace

OutcomeOr<bool> ScanEnd::IsBefore(MountContext& mount, const Caller& caller, const Place& row) {
  const uint64_t mutations = mount.store.GetStatistics().mutations;
  const Timestamp now = mount.clock->Now();
  std::lock_guard lock(mutex_);
  if (!end_ || end_->mutations != mutations || now - end_->found_at >= kKeepMs) {
    CELLFS_ASSIGN_OR_RETURN(auto last, LastRow(mount, caller, row));
    end_ = End{std::move(last), mutations, now};
  }
  if (!end_->last_row) return false;
  return row.view->scan.reversed ? row.row >= *end_->last_row : row.row <= *end_->last_row;
}

}  // namespace cellfs::fs
