// SPDX-License-Identifier: MIT
#include "fs/nodes/restoring_readers.h"

namespace cellfs::fs {
namespace {

constexpr Timestamp kFoundAfterClose = 2000;  // milliseconds

}  // namespace

bool RestoringReaders::IsOver(const Reader& reader) const {
  return reader.open == 0 && clock_.Now() - reader.closed > kFoundAfterClose;
}

void RestoringReaders::Opened(const Place& deleted, const struct stat& shown, pid_t process) {
  any_ = true;
  std::lock_guard lock(mutex_);
  std::erase_if(readers_, [this](const auto& entry) { return IsOver(entry.second); });
  Reader& reader = readers_[deleted];
  reader.shown = shown;
  reader.process = process;
  ++reader.open;
}

void RestoringReaders::Closed(const Place& deleted) {
  std::lock_guard lock(mutex_);
  const auto it = readers_.find(deleted);
  if (it == readers_.end()) return;
  --it->second.open;
  it->second.closed = clock_.Now();
}

std::optional<struct stat> RestoringReaders::Find(const Place& deleted, pid_t process) const {
  std::lock_guard lock(mutex_);
  const auto it = readers_.find(deleted);
  if (it == readers_.end() || IsOver(it->second)) return std::nullopt;
  if (process != 0 && process != it->second.process) return std::nullopt;
  return it->second.shown;
}

}  // namespace cellfs::fs
