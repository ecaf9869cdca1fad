// SPDX-License-Identifier: MIT
#include "fs/files/shared_file.h"

#include <algorithm>
#include <utility>

#include "fs/files/file_bytes.h"

namespace cellfs::fs {

bool SharedFile::Append(CellWriter* writer, std::string_view bytes, uint64_t offset,
                        uint64_t stored_size, bool may_share) {
  const bool is_in_place = offset == stored_size + tail_.size();
  tail_.Append(writer, bytes, may_share, append_end_ == offset);
  append_end_ = offset + bytes.size();
  shown_.reset();
  tail_size_.store(tail_.size(), std::memory_order_release);
  return is_in_place;
}

bool SharedFile::HoldTail(OpenFileMemory& memory, uid_t user) {
  if (!tail_share_) tail_share_.emplace(memory, user);
  return tail_share_->Resize(tail_.size());
}

void SharedFile::TailShrank() {
  tail_size_.store(tail_.size(), std::memory_order_release);
  if (tail_.empty()) tail_share_.reset();
}

void SharedFile::PopRun() {
  tail_.PopFront();
  TailShrank();
}

void SharedFile::AddShownTo(std::string& stored) const {
  uint64_t first_behind = UINT64_MAX;
  {
    const std::lock_guard lock(behind_mutex_);
    for (const uint64_t each : first_behind_) first_behind = std::min(first_behind, each);
    if (static_cast<size_t>(replacers_) > first_behind_.size()) first_behind = 0;
  }
  tail_.CopyTo(stored, 0, tail_.size_below(first_behind));
}

void SharedFile::RemoveRuns(const CellWriter* writer) {
  if (!tail_.Has(writer)) return;
  tail_.Remove(writer);
  shown_.reset();
  TailShrank();
}

// ---- Edited bytes -------------------------------------------------------------------------------

void SharedFile::EditsChanged() { has_edits_.store(!edits_.empty(), std::memory_order_release); }

void SharedFile::Edit(CellWriter* writer, std::string_view bytes, uint64_t offset) {
  edits_.Write(writer, bytes, offset);
  if (shown_) WriteInto(*shown_, bytes, offset);
  EditsChanged();
}

void SharedFile::AppendToEdits(CellWriter* writer, std::string_view bytes) {
  edits_.Append(writer, bytes);
  if (shown_) *shown_ += bytes;
  EditsChanged();
}

void SharedFile::TruncateEdits(CellWriter* writer, uint64_t size) {
  edits_.Truncate(writer, size);
  if (shown_) SetLength(*shown_, size);
  EditsChanged();
}

bool SharedFile::HoldEdits(OpenFileMemory& memory, uid_t user) {
  const uint64_t edits = edits_.edits().bytes();
  if (edits == 0 && !shown_) {
    edits_share_.reset();
    return true;
  }
  if (!edits_share_) edits_share_.emplace(memory, user);
  if (edits_share_->Resize(edits + (shown_ ? shown_->size() : 0))) return true;
  shown_.reset();
  return edits_share_->Resize(edits);
}

void SharedFile::DropEdits() {
  edits_.Clear();
  EditsChanged();
}

void SharedFile::RemoveEdits(const CellWriter* writer) {
  if (!edits_.Has(writer)) return;
  edits_.Remove(writer);
  if (edits_.empty()) shown_.reset();
  EditsChanged();
}

// ---- The file that is shared --------------------------------------------------------------------

void SharedFile::NoteSharedPut(uint64_t generation_before, uint64_t generation_after) {
  if (shared_puts_to_ != generation_before) shared_puts_from_ = generation_before;
  shared_puts_to_ = generation_after;
  if (edits_.generation() == generation_before) edits_.FollowsPut(generation_after);
}

bool SharedFile::OnlySharedPuts(uint64_t generation_before, uint64_t generation_after) const {
  return generation_before == generation_after ||
         (shared_puts_from_ <= generation_before && generation_after <= shared_puts_to_);
}

const std::string& SharedFile::Show(std::string stored, uint64_t generation) {
  tail_.CopyTo(stored, 0, tail_.size());
  edits_.edits().ApplyTo(stored);
  shown_ = std::move(stored);
  shown_generation_ = generation;
  return *shown_;
}

void SharedFile::ShowPut(std::string bytes, uint64_t generation) {
  shown_.reset();
  if (!tail_.empty() || !edits_.empty()) return;
  shown_ = std::move(bytes);
  shown_generation_ = generation;
}

std::optional<std::string> SharedFile::TakePut(uint64_t generation, size_t max_size) {
  const std::string* const bytes = shown(generation);
  if (bytes == nullptr || bytes->size() > max_size) return std::nullopt;
  if (!tail_.empty() || !edits_.empty()) return std::nullopt;
  return std::exchange(shown_, std::nullopt);
}

SharedBytes SharedFile::Read(const std::shared_ptr<const std::string>& stored, uint64_t generation,
                             uint64_t offset, size_t size) {
  if (edits_.empty()) return ReadWithTail(stored, offset, size);
  const std::string* const kept = shown(generation);
  return SharedBytes::Copy(kept != nullptr ? *kept : Show(*stored, generation), offset, size);
}

SharedBytes SharedFile::ReadWithTail(const std::shared_ptr<const std::string>& stored,
                                     uint64_t offset,
                                     size_t size) const {
  if (tail_.empty() || offset + size <= stored->size())
    return SharedBytes::Slice(stored, offset, size);
  auto bytes = std::make_shared<std::string>();
  if (offset < stored->size()) bytes->assign(*stored, offset, size);
  const uint64_t behind = std::max<uint64_t>(offset, stored->size());
  tail_.CopyTo(*bytes, behind - stored->size(), size - bytes->size());
  return SharedBytes::Slice(std::move(bytes), 0, size);
}

void SharedFile::AddReplacer(uint64_t first_behind) {
  std::unique_lock lock(behind_mutex_, std::defer_lock);
  if (first_behind != 0) {
    lock.lock();
    first_behind_.push_back(first_behind);
  }
  replacers_.fetch_add(1, std::memory_order_acq_rel);
}

void SharedFile::RemoveReplacer(uint64_t first_behind) {
  std::unique_lock lock(behind_mutex_, std::defer_lock);
  if (first_behind != 0) {
    lock.lock();
    first_behind_.erase(std::find(first_behind_.begin(), first_behind_.end(), first_behind));
  }
  replacers_.fetch_sub(1, std::memory_order_acq_rel);
}

void SharedFile::BecomeOrphan(OpenFileMemory& memory, uid_t user, OutcomeOr<std::string> stored,
                              timespec now) {
  if (stored.ok()) {
    tail_.CopyTo(*stored, 0, tail_.size());
    edits_.edits().ApplyTo(*stored);
  }
  while (!tail_.empty()) PopRun();
  DropEdits();
  shown_.reset();
  edits_share_.reset();
  orphan_ = std::make_unique<OrphanFile>(memory, user, std::move(stored), now);
}

}  // namespace cellfs::fs
