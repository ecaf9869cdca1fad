// SPDX-License-Identifier: MIT
#include "fs/tree/recent_changes.h"

namespace cellfs::fs {

namespace {

constexpr size_t kMaxChanges = 65536;

}  // namespace

RecentChanges::Changes::ByColumn::const_iterator RecentChanges::Changes::FindNoted(
    const Place& column, uint64_t number) const {
  auto [noted, end] = changes_.equal_range(number);
  while (noted != end && !noted->second.column.IsOf(column)) ++noted;
  return noted == end ? changes_.end() : noted;
}

void RecentChanges::Changes::Note(const Place& column, Change change) {
  const uint64_t number = column.ColumnNumber();
  if (const auto noted = FindNoted(column, number); noted != changes_.end()) changes_.erase(noted);
  changes_.emplace(number, Noted{ColumnKey(column), change});
  order_.emplace_back(number, change.when);
  while (order_.size() > kMaxChanges) ForgetOldest();
}

void RecentChanges::Changes::ForgetOldest() {
  const auto [oldest, when] = order_.front();
  order_.pop_front();
  auto [noted, end] = changes_.equal_range(oldest);
  while (noted != end && noted->second.change.when != when) ++noted;
  if (noted != end) changes_.erase(noted);
}

std::optional<RecentChanges::Change> RecentChanges::Changes::Find(const Place& column) const {
  if (changes_.empty()) return std::nullopt;
  const auto noted = FindNoted(column, column.ColumnNumber());
  if (noted == changes_.end()) return std::nullopt;
  return noted->second.change;
}

void RecentChanges::Changes::Forget(const Place& column) {
  if (changes_.empty()) return;
  const auto noted = FindNoted(column, column.ColumnNumber());
  if (noted != changes_.end()) changes_.erase(noted);
}

std::optional<Timestamp> RecentChanges::Find(const Changes& changes, const Place& column) const {
  std::lock_guard lock(mutex_);
  auto change = changes.Find(column);
  if (!change || change->when + age_ms_ < clock_.Now()) return std::nullopt;
  return change->timestamp;
}

void RecentChanges::NoteCreated(const Place& column, Timestamp version) {
  std::lock_guard lock(mutex_);
  created_.Note(column, {version, clock_.Now()});
}

std::optional<Timestamp> RecentChanges::CreatedVersion(const Place& column) {
  return Find(created_, column);
}

void RecentChanges::NoteRenamedAway(const Place& column, Timestamp tombstone) {
  std::lock_guard lock(mutex_);
  renamed_away_.Note(column, {tombstone, clock_.Now()});
}

std::optional<Timestamp> RecentChanges::RenamedAwayTombstone(const Place& column) {
  return Find(renamed_away_, column);
}

void RecentChanges::Forget(const Place& column) {
  std::lock_guard lock(mutex_);
  created_.Forget(column);
  renamed_away_.Forget(column);
}

void RecentChanges::NoteDeclared(const Place& family) {
  std::lock_guard lock(mutex_);
  declared_.emplace(family.table, family.family);
}

void RecentChanges::ForgetDeclared(const TableName& table) {
  std::lock_guard lock(mutex_);
  std::erase_if(declared_, [&](const auto& family) { return family.first == table; });
}

bool RecentChanges::WasDeclared(const Place& family) const {
  std::lock_guard lock(mutex_);
  return declared_.contains({family.table, family.family});
}

}  // namespace cellfs::fs
