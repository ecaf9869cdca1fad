// SPDX-License-Identifier: MIT
#include "fs/nodes/inode_table.h"

#include <algorithm>

namespace cellfs::fs {

namespace {

// What is in a view does not change, and nobody locks it.
bool HasColumn(const Place& place) { return !place.IsDirectory() && place.view == nullptr; }

// A plain file shares it with its column.
std::shared_ptr<const Place> Shared(const Place& place, const ColumnPtr& column) {
  if (column != nullptr && place.kind == PlaceKind::kCell) return column->shared_cell();
  return std::make_shared<const Place>(place);
}

}  // namespace

InodeTable::InodeTable(ColumnTable& columns)
    : columns_(columns),
      root_(std::make_shared<Node>(Shared(RootPlace(), nullptr), RootPlace().InodeNumber())) {
  nodes_.emplace(root_->inode_number(), root_);
}

InodeTable::Nodes::const_iterator InodeTable::FindLocked(const Place& place, uint64_t inode) const {
  const auto is_there = [&](const Node& node) {
    const Snapshot<Place> now = node.place();
    return *now == place;
  };
  auto [node, end] = nodes_.equal_range(inode);
  while (node != end && !is_there(*node->second)) ++node;
  return node == end ? nodes_.end() : node;
}

NodePtr InodeTable::Make(const Place& place, uint64_t inode) const {
  ColumnPtr column =
      HasColumn(place) ? columns_.Get(place, Node::ColumnNumberOf(place, inode)) : nullptr;
  auto node = std::make_shared<Node>(Shared(place, column), inode);
  node->generation_.RaiseTo(newest_gone_);
  node->SetColumn(std::move(column));
  return node;
}

NodePtr InodeTable::LookUp(const Place& place) {
  const uint64_t inode = place.InodeNumber();
  std::lock_guard lock(mutex_);
  auto it = FindLocked(place, inode);
  if (it == nodes_.end()) {
    it = nodes_.emplace(inode, Make(place, inode));
    if (const ColumnPtr& column = it->second->column_) column->Add(*it->second);
  }
  ++it->second->lookups_;
  return it->second;
}

NodePtr InodeTable::Find(const Place& place, uint64_t inode_number) const {
  std::lock_guard lock(mutex_);
  const auto it = FindLocked(place, inode_number);
  return it == nodes_.end() ? nullptr : it->second;
}

// No place is made for it: each change of a column comes here.
NodePtr InodeTable::FindDirectory(const Place& column, PlaceKind directory) const {
  const uint64_t number = column.NumberAbove(directory);
  std::lock_guard lock(mutex_);
  const auto [begin, end] = nodes_.equal_range(number);
  for (auto it = begin; it != end; ++it) {
    const Snapshot<Place> place = it->second->place();
    if (column.IsIn(*place, directory)) return it->second;
  }
  return nullptr;
}

void InodeTable::Forget(Node& node, uint64_t count) {
  if (&node == root_.get()) return;
  NodePtr dying;  // declared before the lock: dies after it
  std::lock_guard lock(mutex_);
  node.lookups_ -= std::min(count, node.lookups_);
  if (node.lookups_ > 0) return;
  newest_gone_ = std::max(newest_gone_, node.generation());
  if (const auto it = unlinked_.find(&node); it != unlinked_.end()) {
    dying = std::move(it->second);
    unlinked_.erase(it);
    return Leave(node);
  }
  const Snapshot<Place> place = node.place();
  const auto named = FindLocked(*place, node.inode_number());
  if (named == nodes_.end() || named->second.get() != &node) return;
  dying = named->second;
  nodes_.erase(named);
  Leave(node);
}

// Who holds it still asks its column.
void InodeTable::Leave(Node& node) {
  if (node.column_ != nullptr) node.column_->Remove(node);
}

InodeTable::Spot InodeTable::SpotOf(const Place& place) const {
  const uint64_t number = place.InodeNumber();
  ColumnPtr column =
      HasColumn(place) ? columns_.Get(place, Node::ColumnNumberOf(place, number)) : nullptr;
  return {Shared(place, column), number, std::move(column)};
}

void InodeTable::Move(const Place& from, const Place& to) {
  Spot spot = SpotOf(to);  // before the lock: what was there goes after it
  std::lock_guard lock(mutex_);
  UnlinkLocked(to);
  if (const auto it = FindLocked(from, from.InodeNumber()); it != nodes_.end())
    MoveLocked(it, spot);
}

void InodeTable::MoveLocked(Nodes::const_iterator it, Spot& to) {
  auto moved = nodes_.extract(it);  // so that it cannot be lost
  const NodePtr& node = moved.mapped();
  Leave(*node);
  {
    std::lock_guard node_lock(node->mutex_);
    node->place_.swap(to.place);
    node->inode_number_ = to.number;
    to.column = node->SetColumn(std::move(to.column));
  }
  if (node->column_ != nullptr) node->column_->Add(*node);
  ++moves_;
  node->ContentChanged();  // what was found there before is not what is there now
  newest_gone_ = node->generation();
  moved.key() = node->inode_number();
  nodes_.insert(std::move(moved));
}

void InodeTable::MoveTable(const TableName& from, const TableName& to) {
  std::vector<Spot> spots;  // before the lock: what was there goes after it
  std::lock_guard lock(mutex_);
  std::vector<Nodes::const_iterator> moving;
  for (auto it = nodes_.cbegin(); it != nodes_.cend(); ++it) {
    const Snapshot<Place> place = it->second->place();
    if (place->view != nullptr || place->table != from) continue;
    Place moved = *place;
    moved.table = to;
    moving.push_back(it);
    spots.push_back(SpotOf(moved));
  }
  for (const Spot& spot : spots) UnlinkLocked(*spot.place);
  for (size_t i = 0; i < moving.size(); ++i) MoveLocked(moving[i], spots[i]);
}

NodePtr InodeTable::Unlink(const Place& place) {
  std::lock_guard lock(mutex_);
  return UnlinkLocked(place);
}

void InodeTable::InvalidateLookUps() {
  columns_.ForgetLooks();
  std::lock_guard lock(mutex_);
  newest_gone_ = Generation::Next();
}

NodePtr InodeTable::UnlinkLocked(const Place& place) {
  newest_gone_ = Generation::Next(Change::kTookAway);
  const auto it = FindLocked(place, place.InodeNumber());
  if (it == nodes_.end()) return nullptr;
  NodePtr node = it->second;
  unlinked_.emplace(node.get(), node);
  nodes_.erase(it);
  node->unlinked_.store(true, std::memory_order_release);
  return node;
}

std::vector<NodePtr> InodeTable::SliceLocked(size_t& bucket) const {
  constexpr size_t kBuckets = 1024;
  std::vector<NodePtr> slice;
  const size_t end = std::min(bucket + kBuckets, nodes_.bucket_count());
  for (; bucket < end; ++bucket) {
    for (auto it = nodes_.begin(bucket); it != nodes_.end(bucket); ++it)
      slice.push_back(it->second);
  }
  return slice;
}

// With millions of nodes the walk takes a second, in which requests are served between the slices.
// False: nodes have changed their buckets meanwhile, so that one may have been missed.
bool InodeTable::WalkSlices(const std::function<void(const std::vector<NodePtr>&)>& take) const {
  std::unique_lock lock(mutex_);
  const size_t buckets = nodes_.bucket_count();
  const uint64_t moves = moves_;
  for (size_t bucket = 0; bucket < buckets;) {
    {
      const std::vector<NodePtr> slice = SliceLocked(bucket);
      lock.unlock();
      take(slice);
    }
    lock.lock();
    if (nodes_.bucket_count() != buckets || moves_ != moves) return false;
  }
  std::vector<NodePtr> unlinked;
  for (const auto& [address, node] : unlinked_) unlinked.push_back(node);
  lock.unlock();
  take(unlinked);
  return true;
}

std::vector<NodePtr> InodeTable::FindAll(const std::function<bool(const Place&)>& condition) const {
  constexpr int kAttempts = 4;
  std::vector<NodePtr> found;
  const auto take = [&](const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) {
      const Snapshot<Place> place = node->place();
      if (condition(*place)) found.push_back(node);
    }
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    found.clear();
    if (WalkSlices(take)) return found;
  }
  found.clear();
  std::vector<NodePtr> all;
  std::lock_guard lock(mutex_);
  for (size_t bucket = 0; bucket < nodes_.bucket_count();) take(SliceLocked(bucket));
  for (const auto& [address, node] : unlinked_) all.push_back(node);
  take(all);
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
