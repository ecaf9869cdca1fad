// SPDX-License-Identifier: MIT
#include "engine/hbase/scanner_leases.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cellfs::hbase {

ScannerLeases::~ScannerLeases() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

ScannerLeases::Lease::Lease(ScannerLeases& leases, Scanner scanner, SteadyClock::duration time)
    : leases_(leases) {
  const auto now = SteadyClock::now();
  const std::lock_guard lock(leases_.mutex_);
  entry_ = leases_.entries_.insert(leases_.entries_.end(), {std::move(scanner), time, now, now});
  if (!leases_.thread_.joinable()) leases_.thread_ = std::thread([&leases] { leases.Run(); });
  leases_.changed_.notify_all();
}

ScannerLeases::Lease::~Lease() {
  const std::lock_guard lock(leases_.mutex_);
  leases_.entries_.erase(entry_);
}

void ScannerLeases::Lease::Use() {
  const std::lock_guard lock(leases_.mutex_);
  entry_->used = entry_->renewed = SteadyClock::now();
}

void ScannerLeases::Run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const auto next = RenewDue(lock);
    if (!ends_) changed_.wait_until(lock, next);
  }
}

SteadyClock::time_point ScannerLeases::RenewDue(std::unique_lock<std::mutex>& lock) {
  const auto now = SteadyClock::now();
  std::vector<Scanner> due;
  for (Entry& entry : entries_) {
    if (!IsKept(entry, now) || now < entry.renewed + entry.time / 2) continue;
    due.push_back(entry.scanner);
    entry.renewed = now;
  }
  lock.unlock();  // a connection may have to be made
  for (const Scanner& scanner : due) renew_(scanner);
  lock.lock();
  auto next = now + std::chrono::hours(1);
  for (const Entry& entry : entries_) {
    if (IsKept(entry, now)) next = std::min(next, entry.renewed + entry.time / 2);
  }
  return next;
}

}  // namespace cellfs::hbase
