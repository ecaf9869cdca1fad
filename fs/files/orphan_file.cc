// SPDX-License-Identifier: MIT
#include "fs/files/orphan_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cellfs::fs {

OrphanFile::OrphanFile(OpenFileMemory& memory, uid_t user, OutcomeOr<std::string> bytes,
                       timespec now)
    : memory_(memory), share_(memory, user), bytes_(std::move(bytes)), written_(now) {
  if (bytes_.ok() && !share_.Resize(bytes_->size())) LetGo();
}

OutcomeOr<SharedBytes> OrphanFile::Read(uint64_t offset, size_t size) const {
  if (!bytes_.ok()) return bytes_.status();
  return SharedBytes::Copy(*bytes_, offset, size);
}

Outcome OrphanFile::Change(uint64_t size, const std::function<void(std::string&)>& change,
                           timespec now) {
  if (!bytes_.ok()) return bytes_.status();
  if (!share_.Resize(std::max<uint64_t>(size, bytes_->size()))) return memory_.Full(ENOSPC);
  change(*bytes_);
  static_cast<void>(share_.Resize(bytes_->size()));
  written_ = now;
  return {};
}

void OrphanFile::LetGo() {
  bytes_ = memory_.Full(ENOMEM);
  is_let_go_ = true;
  static_cast<void>(share_.Resize(0));
}

PendingWrite OrphanFile::shown() const {
  PendingWrite shown;
  shown.size = bytes_.ok() ? bytes_->size() : 0;
  shown.written = written_;
  return shown;
}

}  // namespace cellfs::fs
