// SPDX-License-Identifier: MIT
#include "fs/attributes/attribute_cache.h"

#include <functional>
#include <mutex>

namespace cellfs::fs {
namespace {

// Of all rows, which count one each as well.
constexpr size_t kMaxEntries = 32768;

size_t EntriesOf(const StoredRow& row) {
  size_t entries = 1;
  for (const auto& [qualifier, stored] : row) entries += 1 + stored.times.size();
  return entries;
}

}  // namespace

// Those of one row do not keep another from being remembered, as long as there are few at once.
size_t AttributeCache::NumberOf(const std::string& row_key) {
  return std::hash<std::string>()(row_key) % std::tuple_size<decltype(changes_)>();
}

uint64_t AttributeCache::ChangesOf(const std::string& row_key) const {
  return changes_[NumberOf(row_key)].load();
}

std::optional<AttributeCache::Known> AttributeCache::Find(const std::string& row_key,
                                                          std::string_view qualifier,
                                                          Timestamp version,
                                                          std::string_view family) const {
  const std::shared_lock lock(mutex_);
  const auto row = rows_.find(row_key);
  if (row == rows_.end() || !freshness_.IsFresh(row->second.read_at)) return std::nullopt;
  Known known{.whole = row->second.whole, .owner = {}, .time = {}, .family = {}};
  const StoredRow& qualifiers = row->second.qualifiers;
  if (const auto own = qualifiers.find(qualifier); own != qualifiers.end()) {
    known.owner = own->second.owner;
    const auto time = own->second.times.find(version);
    if (time != own->second.times.end()) known.time = time->second;
  }
  if (const auto above = qualifiers.find(family); above != qualifiers.end()) {
    known.family = above->second.owner;
  }
  return known;
}

std::optional<std::vector<Timestamp>> AttributeCache::OwnerVersions(
    const std::string& row_key, std::string_view qualifier) const {
  const std::shared_lock lock(mutex_);
  const auto row = rows_.find(row_key);
  if (row == rows_.end() || !row->second.whole || !freshness_.IsFresh(row->second.read_at)) {
    return std::nullopt;
  }
  const auto own = row->second.qualifiers.find(qualifier);
  std::vector<Timestamp> versions;
  if (own == row->second.qualifiers.end() || own->second.owner.since == 0) return versions;
  versions = own->second.earlier;
  versions.push_back(own->second.owner.since);
  return versions;
}

void AttributeCache::Remember(const std::string& row_key, const StoredRow* row,
                              uint64_t changes_before, Timestamp read_at) {
  const std::unique_lock lock(mutex_);
  if (changes_[NumberOf(row_key)] != changes_before) return;
  if (row == nullptr) {
    return Keep(row_key, {.whole = false, .qualifiers = {}, .entries = 1, .read_at = read_at});
  }
  Keep(row_key,
       {.whole = true, .qualifiers = *row, .entries = EntriesOf(*row), .read_at = read_at});
}

void AttributeCache::Wrote(const std::string& row_key, const std::string& qualifier,
                           const OwnerRecord& owner, Timestamp version,
                           const TimeRecord& time, uint64_t changes_before) {
  const std::unique_lock lock(mutex_);
  const bool alone = changes_[NumberOf(row_key)]++ == changes_before;
  const auto found = rows_.find(row_key);
  if (found == rows_.end()) return;
  if (!alone) return Drop(row_key);
  Row& row = found->second;
  if (!row.whole) return;
  const auto [entry, added] = row.qualifiers.try_emplace(qualifier);
  StoredAttributes& stored = entry->second;
  const size_t before = added ? 0 : 1 + stored.times.size();
  if (owner.since == 0) stored.earlier.clear();
  const bool is_later = stored.owner.since != 0 && owner.since > stored.owner.since;
  if (is_later && stored.earlier.size() < kOwnerVersions) {
    stored.earlier.push_back(stored.owner.since);
  }
  stored.owner = owner;
  stored.times.erase(version);
  if (time.since != 0) stored.times.emplace(version, time);
  size_t after = 1 + stored.times.size();
  if (stored.IsEmpty()) {  // a temporary that has gone, and would count for ever
    row.qualifiers.erase(entry);
    after = 0;
  }
  row.entries += after - before;
  entries_ += after - before;
  if (row.entries > kMaxRowEntries || entries_ > kMaxEntries) Keep(row_key, std::move(row));
}

void AttributeCache::Forget(const std::string& row_key) {
  const std::unique_lock lock(mutex_);
  ++changes_[NumberOf(row_key)];
  Drop(row_key);
}

void AttributeCache::Clear() {
  const std::unique_lock lock(mutex_);
  for (auto& changes : changes_) ++changes;
  rows_.clear();
  entries_ = 0;
}

// In the place of what was kept of the row; bounds are seen to here.
void AttributeCache::Keep(const std::string& row_key, Row row) {
  Drop(row_key);
  if (row.entries > kMaxRowEntries) {
    row = {.whole = false, .qualifiers = {}, .entries = 1, .read_at = row.read_at};
  }
  if (entries_ + row.entries > kMaxEntries) {
    rows_.clear();
    entries_ = 0;
  }
  entries_ += row.entries;
  rows_.emplace(row_key, std::move(row));
}

void AttributeCache::Drop(const std::string& row_key) {
  const auto found = rows_.find(row_key);
  if (found == rows_.end()) return;
  entries_ -= found->second.entries;
  rows_.erase(found);
}

}  // namespace cellfs::fs
