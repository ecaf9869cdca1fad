// SPDX-License-Identifier: MIT
#include "fs/listing/directory_stream.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "fs/requests/running_request.h"

namespace cellfs::fs {
namespace {

// From so many entries on, a reply has at most so many, so that other requests get in between.
constexpr size_t kManyNames = 1000;
constexpr size_t kNamesAtOnce = 128;

// Of two with one key that of `first` stays.
SourceEntries Merged(SourceEntries first, SourceEntries second) {
  const auto by_key = [](const SourceEntry& a, const SourceEntry& b) { return a.key < b.key; };
  SourceEntries merged;
  merged.reserve(first.size() + second.size());
  std::merge(std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()),
             std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()),
             std::back_inserter(merged), by_key);
  const auto same_key = [](const SourceEntry& a, const SourceEntry& b) { return a.key == b.key; };
  merged.erase(std::unique(merged.begin(), merged.end(), same_key), merged.end());
  return merged;
}

// Merges what another source gave. Where one of them is cut short nothing beyond its end may be
// given yet: the end is the first of both.
void AddTo(EntryBatch& batch, EntryBatch other) {
  if (other.end && (!batch.end || *other.end < *batch.end)) batch.end = std::move(other.end);
  if (other.entries.empty()) return;
  batch.entries = batch.entries.empty()
                      ? std::move(other.entries)
                      : Merged(std::move(batch.entries), std::move(other.entries));
}

}  // namespace

DirectoryStream::DirectoryStream(const Listing& with, NodePtr directory,
                                 std::shared_ptr<CachedListing> cached)
    : with_(with),
      node_(std::move(directory)),
      directory_(with.reading, node_->place()),
      own_offsets_(CachedListing::kEnd + 1),
      uses_own_offsets_(cached == nullptr) {
  if (cached != nullptr) cached_.emplace(std::move(cached), node_->changes());
}

// ---- Offsets ------------------------------------------------------------------------------------

Outcome DirectoryStream::Read(const Caller& caller, uint64_t offset, const Take& take) {
  is_at_end_ = offset == CachedListing::kEnd;
  if (is_at_end_) return {};
  CELLFS_RETURN_IF_FAILED(Seek(caller, offset));
  const size_t end = names_ < kManyNames ? std::numeric_limits<size_t>::max()
                                         : names_ + kNamesAtOnce;
  for (bool took = false; names_ < end; took = true) {
    const auto next = Next(caller);
    if (took && next.error() == ETIMEDOUT) return {};  // the next request goes on
    CELLFS_ASSIGN_OR_RETURN(const DirectoryEntry* const entry, next);
    if (entry == nullptr) {
      is_at_end_ = !took;
      return {};
    }
    if (!take(*entry)) return {};
    if (RunningRequest* const request = RunningRequest::OfThisThread()) request->HasAnAnswer();
    Advance();
  }
  return {};
}

CachedListing::End DirectoryStream::BeforeReply() {
  if (!cached_) return CachedListing::End::kCompletes;
  if (is_at_end_) return cached_->BeforeEnd(node_->changes(), names_);
  cached_->BeforeEntries(node_->changes());
  return CachedListing::End::kCompletes;
}

void DirectoryStream::Rewind() {
  position_ = {};
  offset_ = 0;
  names_ = 0;
  filled_ = false;
  sources_.reset();
  gap_.reset();
  own_offsets_.Rewind();
}

void DirectoryStream::LetGo() {
  filled_ = false;
  batch_next_ = 0;
  batch_bytes_ = 0;
  batch_ = {};
}

Outcome DirectoryStream::Seek(const Caller& caller, uint64_t offset) {
  if (offset == 0) {
    Rewind();
    CELLFS_ASSIGN_OR_RETURN(
        fixed_, FixedEntriesOf(with_.resolver, with_.options.controls, caller, directory_.place()));
    return {};
  }
  if (offset == offset_) return {};
  if (fixed_.empty()) {
    CELLFS_ASSIGN_OR_RETURN(
        fixed_, FixedEntriesOf(with_.resolver, with_.options.controls, caller, directory_.place()));
  }
  filled_ = false;
  offset_ = offset;
  position_ = {fixed_.size(), std::nullopt};
  if (offset < CachedListing::kFirstOffset) {
    position_.fixed = offset;
    return {};
  }
  if (offset < CachedListing::kEnd) {
    if (cached_) position_.key = cached_->listing().KeyAt(offset);
    return position_.key ? Outcome() : Outcome(EINVAL, "no entry of the directory has this offset");
  }
  std::tie(offset_, position_.key) = own_offsets_.Return(offset);
  while (offset_ < offset) {
    CELLFS_ASSIGN_OR_RETURN(const DirectoryEntry* const entry, Next(caller));
    if (entry == nullptr) return {};
    Advance();
  }
  return {};
}

void DirectoryStream::Advance() {
  offset_ = entry_.next_offset;
  if (!filled_) {
    ++position_.fixed;
    return;
  }
  ++names_;
  position_.key = std::move(batch_[batch_next_++].key);
  if (uses_own_offsets_) own_offsets_.Add(*position_.key);
}

uint64_t DirectoryStream::OffsetOf(const SourceEntry& entry) {
  if (entry.found.expires) node_->DoNotCacheListing();
  if (!uses_own_offsets_) {
    const bool is_last = batch_is_last_ && batch_next_ + 1 == batch_.size();
    if (is_last) return CachedListing::kEnd;
    if (const auto offset = cached_->listing().OffsetOf(entry.key, offset_ + 1)) return *offset;
    node_->DoNotCacheListing();
    uses_own_offsets_ = true;
  }
  return own_offsets_.next();
}

OutcomeOr<const DirectoryEntry*> DirectoryStream::Next(const Caller& caller) {
  while (position_.fixed < fixed_.size() && !fixed_[position_.fixed]) ++position_.fixed;
  if (position_.fixed < fixed_.size()) {
    entry_.next_offset = position_.fixed + 1;
    entry_.found = &*fixed_[position_.fixed];
    entry_.name = position_.fixed == 0   ? "."
                  : position_.fixed == 1 ? ".."
                                         : with_.names.Of(entry_.found->place);
    return &entry_;
  }
  while (!filled_ || batch_next_ == batch_.size()) {
    if (filled_ && batch_is_last_) return nullptr;
    CELLFS_RETURN_IF_FAILED(Fill(caller));
  }
  const SourceEntry& entry = batch_[batch_next_];
  entry_.next_offset = OffsetOf(entry);
  entry_.found = &entry.found;
  entry_.name = with_.names.Of(entry_.found->place);
  return &entry_;
}

// ---- Batches ------------------------------------------------------------------------------------

Outcome DirectoryStream::Fill(const Caller& caller) {
  CELLFS_RETURN_IF_FAILED(directory_.ReadSchema());
  if (!sources_) sources_ = SourcesOf(directory_, with_.unstored, with_.options);
  const uint64_t looked_at = Node::NewestGeneration();
  CELLFS_ASSIGN_OR_RETURN(EntryBatch batch, ReadSources(caller));
  filled_ = true;
  batch_next_ = 0;
  batch_is_last_ = !batch.end;
  batch_ = std::move(batch.entries);
  batch_bytes_ = 0;
  for (SourceEntry& entry : batch_) {
    entry.found.looked_at = looked_at;
    batch_bytes_ += HeldBytes(entry);
  }
  return {};
}

OutcomeOr<EntryBatch> DirectoryStream::ReadSources(const Caller& caller) {
  EntryBatch others, all;
  const uint64_t emptied = with_.unstored.emptied();
  CELLFS_RETURN_IF_FAILED(ReadSource(caller, sources_->unstored.get(), others));
  CELLFS_RETURN_IF_FAILED(ReadSource(caller, sources_->history.get(), others));
  CELLFS_RETURN_IF_FAILED(ReadStored(caller, others, all));
  // What lost its last cell between the two is unstored by now.
  if (with_.unstored.emptied() != emptied)
    CELLFS_RETURN_IF_FAILED(ReadSource(caller, sources_->unstored.get(), others));
  AddTo(all, std::move(others));
  if (all.end && !all.entries.empty() && *all.end < all.entries.back().key) {
    std::erase_if(all.entries, [&](const SourceEntry& entry) { return *all.end < entry.key; });
  }
  return all;
}

// A row that is not stored may get a cell between two batches: it is among the unstored ones for a
// while yet, and when it is not, the gap is looked at anew. Where others write nobody would tell.
bool DirectoryStream::HasNoStoredIn(const EntryBatch& unstored) const {
  if (!gap_ || gap_->handed_over != with_.unstored.handed_over()) return false;
  if (gap_->after && (!position_.key || *position_.key < *gap_->after)) return false;
  if (!gap_->until) return true;
  return unstored.end && *unstored.end < *gap_->until;
}

Outcome DirectoryStream::ReadStored(const Caller& caller, const EntryBatch& unstored,
                                    EntryBatch& batch) {
  if (HasNoStoredIn(unstored)) return {};
  gap_.reset();
  const uint64_t handed_over = with_.unstored.handed_over();
  CELLFS_RETURN_IF_FAILED(ReadSource(caller, sources_->stored.get(), batch));
  const bool is_far = !unstored.end || !with_.reading.freshness().is_exact();
  if (is_far || directory_.place().kind != PlaceKind::kTable || directory_.place().view != nullptr)
    return {};
  std::optional<std::string> first;
  if (!batch.entries.empty()) first = batch.entries.front().key;
  if (first || !batch.end) gap_ = {position_.key, std::move(first), handed_over};
  return {};
}

Outcome DirectoryStream::ReadSource(const Caller& caller, EntrySource* source, EntryBatch& batch) {
  if (source == nullptr) return {};
  CELLFS_ASSIGN_OR_RETURN(EntryBatch read, source->After(caller, position_.key));
  AddTo(batch, std::move(read));
  return {};
}

}  // namespace cellfs::fs
