// SPDX-License-Identifier: MIT
#include "fs/nodes/orphan_file.h"

namespace cellfs::fs {

OutcomeOr<SharedBytes> OrphanFile::Read(uint64_t offset, size_t size) const {
  if (!bytes_.ok()) return bytes_.status();
  return SharedBytes::Copy(*bytes_, offset, size);
}

Outcome OrphanFile::Change(const std::function<void(std::string&)>& change, timespec now) {
  if (!bytes_.ok()) return bytes_.status();
  change(*bytes_);
  written_ = now;
  return {};
}

PendingWrite OrphanFile::shown() const {
  PendingWrite shown;
  shown.size = bytes_.ok() ? bytes_->size() : 0;
  shown.written = written_;
  return shown;
}

}  // namespace cellfs::fs
