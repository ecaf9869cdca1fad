// SPDX-License-Identifier: MIT
#include "fs/nodes/column.h"

#include <algorithm>
#include <utility>

namespace cellfs::fs {

void Column::Append(CellWriter* writer, std::string_view bytes, uint64_t offset,
                    uint64_t stored_size, bool may_share) {
  if (offset != stored_size + tail_.size()) misplaced_ = true;
  tail_.Append(writer, bytes, may_share);
  tail_size_.store(tail_.size(), std::memory_order_release);
}

bool Column::HoldTail(OpenFileMemory& memory, uid_t user) {
  if (!tail_share_) tail_share_.emplace(memory, user);
  return tail_share_->Resize(tail_.size());
}

void Column::TailShrank() {
  tail_size_.store(tail_.size(), std::memory_order_release);
  if (tail_.empty()) tail_share_.reset();
}

void Column::PopRun() {
  tail_.PopFront();
  TailShrank();
}

// What others appended behind these bytes is at other offsets now than the kernel believes.
void Column::RemoveRuns(const CellWriter* writer) {
  if (!tail_.Has(writer)) return;
  tail_.Remove(writer);
  TailShrank();
  misplaced_ = !tail_.empty();
}

void Column::NoteAppendPut(uint64_t generation_before, uint64_t generation_after) {
  if (append_puts_to_ != generation_before) append_puts_from_ = generation_before;
  append_puts_to_ = generation_after;
}

bool Column::OnlyAppended(uint64_t generation_before, uint64_t generation_after) const {
  return generation_before == generation_after ||
         (append_puts_from_ <= generation_before && generation_after <= append_puts_to_);
}

SharedBytes Column::ReadWithTail(const std::shared_ptr<const std::string>& stored, uint64_t offset,
                                 size_t size) const {
  if (tail_.empty() || offset + size <= stored->size())
    return SharedBytes::Slice(stored, offset, size);
  auto bytes = std::make_shared<std::string>();
  if (offset < stored->size()) bytes->assign(*stored, offset, size);
  const uint64_t behind = std::max<uint64_t>(offset, stored->size());
  tail_.CopyTo(*bytes, behind - stored->size(), size - bytes->size());
  return SharedBytes::Slice(std::move(bytes), 0, size);
}

void Column::BecomeOrphan(OpenFileMemory& memory, uid_t user, OutcomeOr<std::string> stored,
                          timespec now) {
  if (stored.ok()) tail_.CopyTo(*stored, 0, tail_.size());
  while (!tail_.empty()) PopRun();
  orphan_ = std::make_unique<OrphanFile>(memory, user, std::move(stored), now);
}

}  // namespace cellfs::fs
