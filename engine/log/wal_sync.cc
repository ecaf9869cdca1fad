// SPDX-License-Identifier: MIT
//
// What was appended gets to the disk: for who waits for it, and in the background.
#include <algorithm>
#include <utility>

#include "engine/log/caught.h"
#include "engine/log/wal.h"
#include "engine/waiting.h"

namespace cellfs {

Wal::SyncRight::SyncRight(Wal* wal) : wal_(wal) {
  std::unique_lock lock(wal_->sync_mutex_);
  wal_->sync_done_.wait(lock, [this] { return !wal_->syncing_; });
  wal_->syncing_ = true;
}

Wal::SyncRight::~SyncRight() {
  {
    const std::lock_guard lock(wal_->sync_mutex_);
    wal_->syncing_ = false;
  }
  wal_->sync_done_.notify_all();
}

Status Wal::MakeDurable(LogPosition position, Durability durability) {
  if (durability == Durability::kFsyncWal) {
    ReserveAhead();
    return SyncTo(position);
  }
  if (durability != Durability::kAsyncWal) return {};  // write(2) was all, and was done
  const std::lock_guard lock(sync_mutex_);
  if (synced_ >= position) return {};
  if (broken_.ok() && !asynchronous_) {
    asynchronous_ = true;
    background_.notify_all();
  }
  return broken_;
}

// What was written stays written, whatever becomes of it.
void Wal::AskForSync(uint64_t unsynced) {
  (void)MakeDurable(end(), Durability::kAsyncWal);
  if (unsynced < options_.most_unsynced_bytes / 2) return;
  const std::lock_guard lock(sync_mutex_);
  sync_due_ = true;
  background_.notify_all();
}

uint64_t Wal::Unsynced() const {
  const LogPosition present = end();
  return present - std::min(present, synced());
}

bool Wal::IsBehind() const {
  return end() >= overdue_at_ || Unsynced() >= options_.most_unsynced_bytes;
}

// What fails here is found again by who writes.
void Wal::CatchUp() {
  if (end() >= overdue_at_) {
    const Waiting waiting(Wait::kIsLong);
    (void)Caught([&] { return RollIf(options_.segment_bytes); });
  }
  if (Unsynced() >= options_.most_unsynced_bytes) (void)Caught([&] { return Sync(); });
}

// Where there is no room for it, the file grows with its records.
void Wal::ReserveAhead() {
  const std::lock_guard lock(append_mutex_);
  const uint64_t size = end() - segments_.back().base;
  if (size + options_.reserved_bytes / 4 <= reserved_) return;
  if (file_->Reserve(size + options_.reserved_bytes).ok())
    reserved_ = size + options_.reserved_bytes;
}

Status Wal::SyncTo(LogPosition position) {
  if (synced_ >= position) return {};
  const Waiting waiting(Wait::kIsLong);
  {
    std::unique_lock lock(sync_mutex_);
    sync_done_.wait(lock, [&] { return !syncing_ || synced_ >= position; });
    if (synced_ >= position) return {};
    if (!broken_.ok()) return broken_;
    syncing_ = true;
  }
  const SyncRight right(this, std::adopt_lock);
  std::shared_ptr<AppendFile> file;
  LogPosition up_to = 0;  // also what others have appended by now: they need no sync of their own
  {
    const std::lock_guard lock(append_mutex_);
    file = file_;
    up_to = end();
  }
  return SyncFile(*file, up_to);
}

// REQUIRES: the right to sync, which who begins a segment keeps until what lies before is synced.
Status Wal::SyncFile(AppendFile& file, LogPosition up_to) {
  const Status status = Caught([&] { return sync_times_.Time([&] { return file.Sync(); }); });
  if (!status.ok()) return Break(status);
  const std::lock_guard lock(sync_mutex_);
  if (!broken_.ok()) return broken_;
  synced_ = std::max(synced(), up_to);
  return {};
}

Status Wal::Break(const Status& reason) {
  const std::lock_guard lock(sync_mutex_);
  if (!broken_.ok()) return broken_;
  broken_ = {StatusCode::kIoError, "the log broke"};  // short, so that it needs no memory
  is_broken_ = true;
  broken_ = {StatusCode::kIoError,
             "the log takes no more until the store is opened anew: " + reason.message()};
  return broken_;
}

void Wal::RunInBackground() {
  std::unique_lock lock(sync_mutex_);
  while (true) {
    background_.wait(lock, [this] { return stopping_ || asynchronous_ || roll_due_; });
    background_.wait_for(lock, options_.asynchronous_delay,
                         [this] { return stopping_ || roll_due_ || sync_due_; });
    if (stopping_ && !asynchronous_) return;
    asynchronous_ = sync_due_ = false;
    const bool roll = std::exchange(roll_due_, false) && !stopping_;
    lock.unlock();
    // A failed sync breaks the log, and so is told to the next writer.
    (void)Caught([&] { return roll ? RollIf(FirstRollAt()) : Sync(); });
    lock.lock();
  }
}

Status Wal::health() const {
  const std::lock_guard lock(sync_mutex_);
  return broken_;
}

}  // namespace cellfs
