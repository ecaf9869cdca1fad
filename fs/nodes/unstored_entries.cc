// SPDX-License-Identifier: MIT
#include "fs/nodes/unstored_entries.h"

namespace cellfs::fs {

std::string OrderKey(const Place& place) {
  const PlaceKey key = place.traits().key;
  if (key == PlaceKey::kVersion || key == PlaceKey::kTimestamp) {
    return place.qualifier + "@" + std::to_string(place.timestamp);
  }
  const std::string* const part = place.KeyPart();
  return part == nullptr ? std::string() : *part;
}

UnstoredEntries::Entries::const_iterator UnstoredEntries::FindLocked(const Place& place) const {
  if (entries_.empty()) return entries_.end();
  auto [entry, end] = entries_.equal_range(place.InodeNumber());
  while (entry != end && !(entry->second->place == place)) ++entry;
  return entry == end ? entries_.end() : entry;
}

bool UnstoredEntries::Add(UnstoredEntry entry) {
  const uint64_t inode = entry.place.InodeNumber();
  Place directory = entry.place.Parent();
  std::string key = OrderKey(entry.place);
  std::lock_guard lock(mutex_);
  auto shared = std::make_shared<const UnstoredEntry>(std::move(entry));
  Children& children = directories_[std::move(directory)];
  if (!children.emplace(std::move(key), shared).second) return false;
  entries_.emplace(inode, std::move(shared));
  return true;
}

bool UnstoredEntries::Remove(const Place& place) {
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(place);
  if (entry == entries_.end()) return false;
  const auto directory = directories_.find(place.Parent());
  if (directory == directories_.end()) return false;
  const auto child = directory->second.find(OrderKey(place));
  if (child == directory->second.end() || !(child->second->place == place)) return false;
  directory->second.erase(child);
  entries_.erase(entry);
  if (directory->second.empty()) directories_.erase(directory);
  return true;
}

UnstoredPtr UnstoredEntries::Find(const Place& place) const {
  std::lock_guard lock(mutex_);
  const auto entry = FindLocked(place);
  return entry == entries_.end() ? nullptr : entry->second;
}

void UnstoredEntries::Move(const Place& from, const Place& to) {
  const UnstoredPtr entry = Find(from);
  if (entry == nullptr) return;
  Remove(from);
  Remove(to);
  UnstoredEntry moved = *entry;
  moved.place = to;
  Add(std::move(moved));
}

bool UnstoredEntries::HasChildren(const Place& directory) const {
  std::lock_guard lock(mutex_);
  return directories_.contains(directory);
}

void UnstoredEntries::RemoveBelow(const Place& directory) {
  Children children;
  {
    std::lock_guard lock(mutex_);
    const auto it = directories_.find(directory);
    if (it == directories_.end()) return;
    children = std::move(it->second);
    directories_.erase(it);
    for (const auto& [key, child] : children) {
      entries_.erase(FindLocked(child->place));
    }
  }
  for (const auto& [key, child] : children) {
    if (child->place.IsDirectory()) RemoveBelow(child->place);
  }
}

void UnstoredEntries::RemoveFamily(const TableName& table, const std::string& family) {
  std::vector<Place> dropped;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [directory, children] : directories_) {
      for (const auto& [key, child] : children) {
        const Place& place = child->place;
        if (place.kind == PlaceKind::kFamily && place.table == table && place.family == family) {
          dropped.push_back(place);
        }
      }
    }
  }
  for (const Place& place : dropped) {
    RemoveBelow(place);
    Remove(place);
  }
}

std::vector<UnstoredPtr> UnstoredEntries::ChildrenAfter(const Place& directory,
                                                        const std::optional<std::string>& after,
                                                        size_t limit) const {
  std::vector<UnstoredPtr> found;
  std::lock_guard lock(mutex_);
  if (directories_.empty()) return found;
  const auto it = directories_.find(directory);
  if (it == directories_.end()) return found;
  auto child = after ? it->second.upper_bound(*after) : it->second.begin();
  for (; child != it->second.end() && found.size() < limit; ++child) found.push_back(child->second);
  return found;
}

void UnstoredEntries::HideToml(const Place& table_or_namespace) {
  std::lock_guard lock(mutex_);
  hidden_tomls_.insert(table_or_namespace);
}

void UnstoredEntries::ShowToml(const Place& table_or_namespace) {
  std::lock_guard lock(mutex_);
  if (!hidden_tomls_.empty()) hidden_tomls_.erase(table_or_namespace);
}

bool UnstoredEntries::IsTomlHidden(const Place& table_or_namespace) const {
  std::lock_guard lock(mutex_);
  return !hidden_tomls_.empty() && hidden_tomls_.contains(table_or_namespace);
}

}  // namespace cellfs::fs
