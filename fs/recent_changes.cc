// SPDX-License-Identifier: MIT
#include "fs/recent_changes.h"

namespace cellfs::fs {

namespace {

constexpr size_t kMaxChanges = 65536;
constexpr size_t kMaxFilledRows = 1024;

}  // namespace

void RecentChanges::Changes::Note(uint64_t column, Change change) {
  changes_[column] = change;
  order_.emplace_back(column, change.when);
  while (order_.size() > kMaxChanges) {
    auto [oldest, when] = order_.front();
    order_.pop_front();
    auto found = changes_.find(oldest);
    if (found != changes_.end() && found->second.when == when) changes_.erase(found);
  }
}

std::optional<RecentChanges::Change> RecentChanges::Changes::Find(uint64_t column) const {
  auto found = changes_.find(column);
  if (found == changes_.end()) return std::nullopt;
  return found->second;
}

std::optional<Timestamp> RecentChanges::Find(const Changes& changes, const Place& column) const {
  std::lock_guard lock(mutex_);
  auto change = changes.Find(column.ColumnNumber());
  if (!change || change->when + age_ms_ < clock_.Now()) return std::nullopt;
  return change->timestamp;
}

void RecentChanges::NoteCreated(const Place& column, Timestamp version) {
  const uint64_t key = column.ColumnNumber();
  std::lock_guard lock(mutex_);
  created_.Note(key, {version, clock_.Now()});
}

std::optional<Timestamp> RecentChanges::CreatedVersion(const Place& column) {
  return Find(created_, column);
}

void RecentChanges::NoteRenamedAway(const Place& column, Timestamp tombstone) {
  const uint64_t key = column.ColumnNumber();
  std::lock_guard lock(mutex_);
  renamed_away_.Note(key, {tombstone, clock_.Now()});
}

std::optional<Timestamp> RecentChanges::RenamedAwayTombstone(const Place& column) {
  return Find(renamed_away_, column);
}

void RecentChanges::Forget(const Place& column) {
  const uint64_t key = column.ColumnNumber();
  std::lock_guard lock(mutex_);
  created_.Forget(key);
  renamed_away_.Forget(key);
}

void RecentChanges::NoteDeclared(const Place& family) {
  std::lock_guard lock(mutex_);
  declared_.emplace(family.table, family.family);
}

bool RecentChanges::WasDeclared(const Place& family) const {
  std::lock_guard lock(mutex_);
  return declared_.contains({family.table, family.family});
}

std::optional<Place> RecentChanges::NoteFilled(const Place& row) {
  std::lock_guard lock(mutex_);
  if (!filled_rows_.empty() && filled_rows_.back() == row) return std::nullopt;
  filled_rows_.push_back(row);
  if (filled_rows_.size() <= kMaxFilledRows) return std::nullopt;
  Place oldest = std::move(filled_rows_.front());
  filled_rows_.pop_front();
  return oldest;
}

}  // namespace cellfs::fs
