// SPDX-License-Identifier: MIT
#include "fs/nodes/node.h"

#include <algorithm>

namespace cellfs::fs {

Snapshot<Place> Node::place() const {
  std::lock_guard lock(mutex_);
  return place_;
}

FileHandle* Node::AddHandle(std::shared_ptr<FileHandle> handle) {
  std::lock_guard lock(mutex_);
  handles_.push_back(std::move(handle));
  ++handle_count_;
  return handles_.back().get();
}

void Node::RemoveHandle(FileHandle* handle) {
  std::shared_ptr<FileHandle> removed;  // declared before the lock: dies after it
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(handles_.begin(), handles_.end(),
                               [&](const auto& held) { return held.get() == handle; });
  if (it == handles_.end()) return;
  removed = std::move(*it);
  handles_.erase(it);
  --handle_count_;
  if (handles_.empty()) handles_.shrink_to_fit();
}

std::vector<std::shared_ptr<FileHandle>> Node::handles() const {
  std::lock_guard lock(mutex_);
  return handles_;
}

std::shared_ptr<SharedFile> Node::shared_file() const {
  std::lock_guard lock(mutex_);
  return shared_file_.lock();
}

std::shared_ptr<SharedFile> Node::ShareFile() {
  std::lock_guard lock(mutex_);
  auto file = shared_file_.lock();
  if (file == nullptr) shared_file_ = file = std::make_shared<SharedFile>();
  return file;
}

void Node::PagesExpire(Timestamp when) {
  Timestamp before = pages_expire_.load();
  while (when < before && !pages_expire_.compare_exchange_weak(before, when)) {
  }
}

uint64_t Node::stale_pages(Timestamp now) {
  Timestamp expiry = pages_expire_.load(std::memory_order_relaxed);
  const bool has_expired = expiry <= now;
  if (has_expired && pages_expire_.compare_exchange_strong(expiry, kLatestTimestamp))
    PagesAreStale();
  return stale_pages_.load(std::memory_order_acquire);
}

ColumnPtr Node::column() const {
  std::lock_guard lock(mutex_);
  return column_;
}

void Node::ContentChanged() {
  std::lock_guard lock(mutex_);
  if (column_ != nullptr) return column_->Changed();
  generation_.Raise(Change::kAny);
  EntriesChanged();
  cell_cache_.Drop();
}

std::optional<CachedCell> Node::cached_cell() const {
  std::lock_guard lock(mutex_);
  if (column_ == nullptr) return cell_cache_.CellAsOf(NewestGeneration());
  return place_->kind == PlaceKind::kCell ? column_->cached_cell() : std::nullopt;
}

void Node::Cache(const CachedCell& cell, uint64_t looked_at) {
  std::lock_guard lock(mutex_);
  if (cell.expires) PagesExpire(*cell.expires);
  if (generation_.get() > looked_at) return;
  if (column_ == nullptr) return cell_cache_.Keep(cell, looked_at);
  if (place_->kind == PlaceKind::kCell) column_->Learn(cell, looked_at);
}

std::optional<PendingWrite> Node::pending() const {
  if (handle_count() == 0) return std::nullopt;
  const auto open = handles();
  for (auto it = open.rbegin(); it != open.rend(); ++it) {
    if (auto pending = (*it)->pending()) return pending;
  }
  return std::nullopt;
}

// A maker to whose file another has put first has nothing pending, and is an editor.
bool Node::is_being_written() const {
  if (pending()) return true;
  const auto file = shared_file();
  return file != nullptr && file->is_edited();
}

Timestamp Node::KeepFirstTime(Timestamp time, uint64_t forgotten) {
  std::lock_guard lock(mutex_);
  if (first_time_ >= 0) return first_time_;
  if (forgotten_ != forgotten) return time;
  if (time >= 0) ++first_times_;
  first_time_ = time;
  ++first_times_ever_;
  return time;
}

void Node::ForgetFirstTime() {
  std::lock_guard lock(mutex_);
  if (first_time_.exchange(-1) >= 0) --first_times_;
  ++forgotten_;
}

std::shared_ptr<CachedListing> Node::cached_listing(std::atomic<int64_t>& bytes_left) {
  std::lock_guard lock(mutex_);
  if (!may_cache_listing_) return nullptr;
  if (cached_listing_ == nullptr) {
    cached_listing_ = std::make_shared<CachedListing>(bytes_left, CachedListing::kFirstOffset);
  } else if (cached_listing_->IsOutgrown()) {
    cached_listing_ = std::make_shared<CachedListing>(bytes_left, cached_listing_->end());
  }
  return cached_listing_;
}

bool Node::HasOutgrownListing() const {
  std::lock_guard lock(mutex_);
  return cached_listing_ != nullptr && cached_listing_->IsOutgrown();
}

void Node::DoNotCacheListing() {
  std::lock_guard lock(mutex_);
  may_cache_listing_ = false;
  cached_listing_.reset();
}

}  // namespace cellfs::fs
