// SPDX-License-Identifier: MIT
#include "fs/attributes/directory_times.h"

#include <algorithm>

namespace cellfs::fs {
namespace {

constexpr size_t kMany = 16384;

}  // namespace

bool DirectoryTimes::Note(const Place& directory, Timestamp time) {
  std::lock_guard lock(mutex_);
  const auto [it, added] = changes_.try_emplace(directory, time);
  it->second = time;
  return added && changes_.size() % kMany == 0;
}

bool DirectoryTimes::Settle(const Place& directory, Timestamp time) {
  std::lock_guard lock(mutex_);
  const auto it = changes_.find(directory);
  if (it == changes_.end() || it->second >= time) return false;
  it->second = time;
  return true;
}

void DirectoryTimes::Forget(const Place& directory) {
  std::lock_guard lock(mutex_);
  changes_.erase(directory);
}

std::optional<Timestamp> DirectoryTimes::Find(const Place& directory) const {
  std::lock_guard lock(mutex_);
  if (changes_.empty()) return std::nullopt;
  const auto it = changes_.find(directory);
  return it == changes_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<DirectoryTimes::Change> DirectoryTimes::All() const {
  std::vector<Change> all;
  std::lock_guard lock(mutex_);
  all.reserve(changes_.size());
  for (const auto& [directory, time] : changes_) all.push_back({directory, time});
  return all;
}

void DirectoryTimes::Stored(const Change& change) {
  std::lock_guard lock(mutex_);
  const auto it = changes_.find(change.directory);
  if (it != changes_.end() && it->second == change.time) changes_.erase(it);
}

}  // namespace cellfs::fs
