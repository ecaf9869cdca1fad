// SPDX-License-Identifier: MIT
#include "fs/nodes/cached_listing.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace cellfs::fs {

namespace {

constexpr size_t kFewNames = 1024;  // a listing of so many is never outgrown

size_t SlotOf(std::string_view key, size_t slots) {
  return std::hash<std::string_view>()(key) & (slots - 1);
}

}  // namespace

// ---- Offsets ------------------------------------------------------------------------------------

CachedListing::~CachedListing() {
  bytes_left_ += static_cast<int64_t>(names_.size() + ends_.size() * sizeof(uint32_t) +
                                      index_.size() * sizeof(uint32_t));
}

std::string_view CachedListing::NameLocked(size_t index) const {
  const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(names_).substr(begin, ends_[index] - begin);
}

std::optional<uint64_t> CachedListing::OffsetOf(std::string_view key, uint64_t expected) {
  std::lock_guard lock(mutex_);
  const uint64_t place = expected - first_;
  if (place < ends_.size() && NameLocked(place) == key) return expected;
  if (const auto index = FindLocked(key)) return first_ + *index;
  const bool has_offset = first_ + ends_.size() < kEnd;
  if (is_full_ || !has_offset || !AddLocked(key)) {
    is_full_ = true;
    return std::nullopt;
  }
  return first_ + ends_.size() - 1;
}

std::optional<size_t> CachedListing::FindLocked(std::string_view key) const {
  if (is_sorted_) {
    const auto is_before = [&](const uint32_t& end, std::string_view wanted) {
      return NameLocked(static_cast<size_t>(&end - ends_.data())) < wanted;
    };
    if (ends_.empty() || is_before(ends_.back(), key)) return std::nullopt;
    const auto found = std::lower_bound(ends_.begin(), ends_.end(), key, is_before);
    const auto index = static_cast<size_t>(found - ends_.begin());
    return NameLocked(index) == key ? std::optional(index) : std::nullopt;
  }
  for (size_t slot = SlotOf(key, index_.size()); index_[slot] != 0;
       slot = (slot + 1) & (index_.size() - 1)) {
    if (NameLocked(index_[slot] - 1) == key) return index_[slot] - 1;
  }
  return std::nullopt;
}

bool CachedListing::AddLocked(std::string_view key) {
  const bool stays_sorted = is_sorted_ && (ends_.empty() || NameLocked(ends_.size() - 1) < key);
  const bool grows = !stays_sorted && index_.size() < 2 * (ends_.size() + 1);
  const size_t slots =
      grows ? std::bit_ceil(std::max<size_t>(64, 4 * ends_.size())) : index_.size();
  const auto bytes = static_cast<int64_t>(key.size() + sizeof(uint32_t) +
                                          (slots - index_.size()) * sizeof(uint32_t));
  if (bytes_left_.fetch_sub(bytes) < bytes) {
    bytes_left_ += bytes;
    return false;
  }
  names_ += key;
  ends_.push_back(static_cast<uint32_t>(names_.size()));
  if (stays_sorted) return true;
  if (grows) {
    index_.assign(slots, 0);
    for (size_t index = 0; index + 1 < ends_.size(); ++index) IndexLocked(index);
  }
  IndexLocked(ends_.size() - 1);
  is_sorted_ = false;
  return true;
}

void CachedListing::IndexLocked(size_t index) {
  size_t slot = SlotOf(NameLocked(index), index_.size());
  while (index_[slot] != 0) slot = (slot + 1) & (index_.size() - 1);
  index_[slot] = static_cast<uint32_t>(index + 1);
}

std::optional<std::string> CachedListing::KeyAt(uint64_t offset) const {
  std::lock_guard lock(mutex_);
  const uint64_t place = offset - first_;
  if (place >= ends_.size()) return std::nullopt;
  return std::string(NameLocked(place));
}

bool CachedListing::IsOutgrown() const {
  std::lock_guard lock(mutex_);
  return streams_.empty() && ends_.size() > kFewNames + 2 * listed_;
}

uint64_t CachedListing::end() const {
  std::lock_guard lock(mutex_);
  return first_ + ends_.size();
}

// ---- Streams ------------------------------------------------------------------------------------

CachedListing::Stream::Stream(std::shared_ptr<CachedListing> listing, uint64_t changes)
    : listing_(std::move(listing)), opened_(changes), oldest_(changes) {
  std::lock_guard lock(listing_->mutex_);
  for (const Stream* other : listing_->streams_) oldest_ = std::min(oldest_, other->opened_);
  listing_->streams_.insert(this);
}

CachedListing::Stream::~Stream() {
  std::lock_guard lock(listing_->mutex_);
  listing_->streams_.erase(this);
}

bool CachedListing::Stream::IsCleanLocked(uint64_t changes) const {
  return !listing_->is_full_ &&
         std::all_of(listing_->streams_.begin(), listing_->streams_.end(),
                     [&](const Stream* open) { return open->oldest_ == changes; });
}

void CachedListing::Stream::BeforeEntries(uint64_t changes) {
  std::lock_guard lock(listing_->mutex_);
  if (!IsCleanLocked(changes)) listing_->is_unclean_ = true;
}

CachedListing::End CachedListing::Stream::BeforeEnd(uint64_t changes, size_t names) {
  std::lock_guard lock(listing_->mutex_);
  listing_->listed_ = names;
  if (!IsCleanLocked(changes)) {
    listing_->is_unclean_ = true;
    return End::kLeavesIt;
  }
  // What the kernel has may have been begun by a stream that was not clean.
  return std::exchange(listing_->is_unclean_, false) ? End::kDropsListing : End::kCompletes;
}

}  // namespace cellfs::fs
