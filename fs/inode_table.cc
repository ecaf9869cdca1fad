// SPDX-License-Identifier: MIT
#include "fs/inode_table.h"

#include <algorithm>

namespace cellfs::fs {

InodeTable::InodeTable() : root_(std::make_shared<Node>(RootPlace())) {
  nodes_.emplace(RootPlace().InodeNumber(), root_);
}

InodeTable::Nodes::const_iterator InodeTable::FindLocked(const Place& place, uint64_t inode) const {
  auto [node, end] = nodes_.equal_range(inode);
  while (node != end && !(*node->second->place() == place)) ++node;
  return node == end ? nodes_.end() : node;
}

NodePtr InodeTable::LookUp(const Place& place) {
  const uint64_t inode = place.InodeNumber();
  std::lock_guard lock(mutex_);
  auto it = FindLocked(place, inode);
  if (it == nodes_.end()) it = nodes_.emplace(inode, std::make_shared<Node>(place));
  ++it->second->lookups_;
  return it->second;
}

NodePtr InodeTable::Find(const Place& place) const {
  const uint64_t inode = place.InodeNumber();
  std::lock_guard lock(mutex_);
  const auto it = FindLocked(place, inode);
  return it == nodes_.end() ? nullptr : it->second;
}

void InodeTable::Forget(Node& node, uint64_t count) {
  if (&node == root_.get()) return;
  NodePtr dying;  // declared before the lock: dies after it
  std::lock_guard lock(mutex_);
  node.lookups_ -= std::min(count, node.lookups_);
  if (node.lookups_ > 0) return;
  if (const auto it = unlinked_.find(&node); it != unlinked_.end()) {
    dying = std::move(it->second);
    unlinked_.erase(it);
    return;
  }
  const auto place = node.place();
  const auto named = FindLocked(*place, place->InodeNumber());
  if (named == nodes_.end() || named->second.get() != &node) return;
  dying = named->second;
  nodes_.erase(named);
}

void InodeTable::Move(const Place& from, const Place& to) {
  std::lock_guard lock(mutex_);
  UnlinkLocked(to);
  const auto it = FindLocked(from, from.InodeNumber());
  if (it == nodes_.end()) return;
  NodePtr node = it->second;
  nodes_.erase(it);
  {
    std::lock_guard node_lock(node->mutex_);
    node->place_ = std::make_shared<const Place>(to);
  }
  node->ContentChanged();  // what was found at `to` before is not what is there now
  nodes_.emplace(to.InodeNumber(), std::move(node));
}

NodePtr InodeTable::Unlink(const Place& place) {
  std::lock_guard lock(mutex_);
  return UnlinkLocked(place);
}

NodePtr InodeTable::UnlinkLocked(const Place& place) {
  const auto it = FindLocked(place, place.InodeNumber());
  if (it == nodes_.end()) return nullptr;
  NodePtr node = it->second;
  nodes_.erase(it);
  node->unlinked_.store(true, std::memory_order_release);
  unlinked_.emplace(node.get(), node);
  return node;
}

std::vector<NodePtr> InodeTable::FindAll(const std::function<bool(const Place&)>& condition) const {
  std::vector<NodePtr> found;
  std::lock_guard lock(mutex_);
  for (const auto& [inode, node] : nodes_) {
    if (condition(*node->place())) found.push_back(node);
  }
  for (const auto& [address, node] : unlinked_) {
    if (condition(*node->place())) found.push_back(node);
  }
  return found;
}

size_t InodeTable::size() const {
  std::lock_guard lock(mutex_);
  return nodes_.size() + unlinked_.size();
}

bool InodeTable::Shrink() {
  constexpr size_t kWorthwhile = 65536;  // buckets
  std::lock_guard lock(mutex_);
  if (nodes_.bucket_count() < kWorthwhile || nodes_.size() > nodes_.bucket_count() / 4)
    return false;
  nodes_.rehash(0);
  return true;
}

}  // namespace cellfs::fs
