// SPDX-License-Identifier: MIT
#include "fs/tree/directory_times.h"

#include <algorithm>

namespace cellfs::fs {
namespace {

constexpr size_t kMany = 16384;

}  // namespace

bool DirectoryTimes::Note(const Place& directory, Timestamp time) {
  std::lock_guard lock(mutex_);
  const auto [it, added] = changes_.try_emplace(directory, Noted{time});
  it->second.time = time;
  return added && changes_.size() % kMany == 0;
}

bool DirectoryTimes::Settle(const Place& directory, Timestamp time) {
  std::lock_guard lock(mutex_);
  const auto it = changes_.find(directory);
  if (it == changes_.end() || it->second.time >= time) return false;
  it->second.time = time;
  return true;
}

// Under the mutex: who notes a later time makes the directory forget the one before first.
void DirectoryTimes::Keep(const Place& directory, const std::atomic<Timestamp>& first_time) {
  std::lock_guard lock(mutex_);
  const Timestamp time = first_time;
  if (time >= 0) changes_.try_emplace(directory, Noted{time}).first->second.was_kept = true;
}

void DirectoryTimes::Forget(const Place& directory) {
  std::lock_guard lock(mutex_);
  changes_.erase(directory);
}

void DirectoryTimes::MoveTable(const TableName& from, const TableName& to) {
  std::lock_guard lock(mutex_);
  std::vector<Change> moving;
  for (const auto& [directory, noted] : changes_) {
    if (directory.table == from) moving.push_back({directory, noted.time, noted.was_kept});
  }
  for (Change& change : moving) {
    changes_.erase(change.directory);
    change.directory.table = to;
    changes_[change.directory] = {change.time, change.was_kept};
  }
}

void DirectoryTimes::ForgetTable(const TableName& table) {
  std::lock_guard lock(mutex_);
  std::erase_if(changes_, [&](const auto& change) { return change.first.table == table; });
}

std::optional<Timestamp> DirectoryTimes::Find(const Place& directory) const {
  std::lock_guard lock(mutex_);
  if (changes_.empty()) return std::nullopt;
  const auto it = changes_.find(directory);
  return it == changes_.end() ? std::nullopt : std::optional(it->second.time);
}

std::vector<DirectoryTimes::Change> DirectoryTimes::All() const {
  std::vector<Change> all;
  std::lock_guard lock(mutex_);
  all.reserve(changes_.size());
  for (const auto& [directory, noted] : changes_)
    all.push_back({directory, noted.time, noted.was_kept});
  return all;
}

void DirectoryTimes::Stored(const Change& change) {
  std::lock_guard lock(mutex_);
  const auto it = changes_.find(change.directory);
  if (it == changes_.end()) return;
  const Noted& noted = it->second;
  if (noted.time == change.time && noted.was_kept == change.was_kept) changes_.erase(it);
}

}  // namespace cellfs::fs
