// SPDX-License-Identifier: MIT
#include "fs/nameless_file.h"

namespace cellfs::fs {

OutcomeOr<std::string> NamelessFile::Bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

OutcomeOr<SharedBytes> NamelessFile::Read(uint64_t offset, size_t size) const {
  std::lock_guard lock(mutex_);
  if (!bytes_.ok()) return bytes_.status();
  if (offset >= bytes_->size()) return SharedBytes();
  return SharedBytes::Slice(std::make_shared<const std::string>(bytes_->substr(offset, size)), 0,
                            size);
}

Outcome NamelessFile::Change(const std::function<void(std::string&)>& change, timespec now) {
  std::lock_guard lock(mutex_);
  if (!bytes_.ok()) return bytes_.status();
  change(*bytes_);
  written_ = now;
  return {};
}

PendingWrite NamelessFile::shown() const {
  std::lock_guard lock(mutex_);
  PendingWrite shown;
  shown.size = bytes_.ok() ? bytes_->size() : 0;
  shown.written = written_;
  return shown;
}

void NamelessAccess::Keep(std::shared_ptr<NamelessFile> file, Outcome may_read) {
  std::lock_guard lock(mutex_);
  file_ = std::move(file);
  may_read_ = std::move(may_read);
}

std::shared_ptr<NamelessFile> NamelessAccess::file() const {
  std::lock_guard lock(mutex_);
  return file_;
}

Outcome NamelessAccess::may_read() const {
  std::lock_guard lock(mutex_);
  return may_read_;
}

OutcomeOr<SharedBytes> NamelessAccess::Read(uint64_t offset, size_t size) const {
  CELLFS_RETURN_IF_FAILED(may_read());
  return file()->Read(offset, size);
}

OutcomeOr<std::string> NamelessAccess::Bytes() const {
  CELLFS_RETURN_IF_FAILED(may_read());
  return file()->Bytes();
}

}  // namespace cellfs::fs
