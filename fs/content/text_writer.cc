// SPDX-License-Identifier: MIT
#include "fs/content/text_writer.h"

#include <algorithm>
#include <cerrno>

#include "engine/waiting.h"
#include "fs/attributes/attribute_store.h"
#include "fs/files/file_bytes.h"

namespace cellfs::fs {

OutcomeOr<SharedBytes> TextWriter::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  const auto lock = TakeLock(mutex_);
  return SharedBytes::Copy(text_, offset, size);
}

// After one that failed nothing is applied: a part of the text may mean something else.
Outcome TextWriter::Write(std::string_view bytes, uint64_t offset, WriteFrom from) {
  const auto lock = TakeLock(mutex_);
  if (failed_) return *failed_;
  failed_ = Outcome(ENOMEM, {});  // if an exception ends it
  Outcome taken = Take(bytes, append_ && from == WriteFrom::kProgram ? text_.size() : offset);
  failed_ = taken;
  if (taken.ok()) failed_.reset();
  return taken;
}

Outcome TextWriter::Take(std::string_view bytes, uint64_t offset) {
  const uint64_t end = offset + bytes.size();
  if (end > max_size_) {
    return {EFBIG, "this file may have " + std::to_string(max_size_) +
                       " bytes; this write ends at " + std::to_string(end)};
  }
  if (!share_.Resize(std::max<uint64_t>(end, text_.size()))) return memory_.Full(ENOSPC);
  WriteInto(text_, bytes, offset);
  written_ = true;
  mtime_.reset();
  return {};
}

Outcome TextWriter::Truncate(uint64_t size) {
  const auto lock = TakeLock(mutex_);
  if (size > max_size_) return EFBIG;
  if (!share_.Resize(size)) return memory_.Full(ENOSPC);
  SetLength(text_, size);
  return {};
}

Outcome TextWriter::Flush() {
  const auto lock = TakeLock(mutex_);
  if (failed_) return *failed_;
  if (!written_ || node_->unlinked()) return {};
  Outcome applied = apply_(text_, mtime_);
  if (applied.is_unknown()) failed_ = applied;
  if (!applied.ok()) return applied;
  written_ = false;
  mtime_.reset();
  return {};
}

std::optional<Outcome> TextWriter::SetTime(timespec mtime) {
  const auto lock = TakeLock(mutex_);
  if (!written_) return std::nullopt;
  mtime_ = mtime;
  return Outcome();
}

OutcomeOr<SharedBytes> MemoryWriter::Read(uint64_t offset, size_t size, ReadFor /*what*/) {
  std::lock_guard lock(file_->mutex);
  return SharedBytes::Copy(file_->bytes(), offset, size);
}

Outcome MemoryWriter::Write(std::string_view bytes, uint64_t offset, WriteFrom from) {
  std::lock_guard lock(file_->mutex);
  if (append_ && from == WriteFrom::kProgram) offset = file_->bytes().size();
  if (offset + bytes.size() > max_size_) return EFBIG;
  CELLFS_RETURN_IF_FAILED(file_->Write(bytes, offset));
  file_->mtime = file_->ctime = ToTimespec(clock_.Now());
  return {};
}

Outcome MemoryWriter::Truncate(uint64_t size) {
  std::lock_guard lock(file_->mutex);
  if (size > max_size_) return EFBIG;
  CELLFS_RETURN_IF_FAILED(file_->Resize(size));
  file_->mtime = file_->ctime = ToTimespec(clock_.Now());
  return {};
}

}  // namespace cellfs::fs
