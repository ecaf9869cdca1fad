// SPDX-License-Identifier: MIT
#include "fs/nodes/column.h"

#include <algorithm>

#include "fs/nodes/column_table.h"
#include "fs/nodes/node.h"

namespace cellfs::fs {

Column::~Column() {
  std::lock_guard lock(shard_->mutex);
  shard_->newest_gone = std::max(shard_->newest_gone, generation());
  const auto [begin, end] = shard_->columns.equal_range(number_);
  const auto it = std::find_if(begin, end, [&](const auto& known) { return known.second == this; });
  if (it != end) shard_->columns.erase(it);
}

// Each node has the number as well, so that who asks a node takes no lock.
void Column::Changed(Change change) {
  std::lock_guard lock(shard_->mutex);
  generation_.Raise(change);
  for (Node* node = first_node_; node != nullptr; node = node->next_in_column_)
    node->generation_.RaiseTo(generation());
  cell_cache_.Drop();
}

std::optional<CachedCell> Column::cached_cell() const {
  std::lock_guard lock(shard_->mutex);
  return cell_cache_.cell();
}

void Column::Learn(const CachedCell& cell, uint64_t looked_at) {
  std::lock_guard lock(shard_->mutex);
  if (generation() <= looked_at) cell_cache_.Keep(cell, looked_at);
}

bool Column::IsShownBeside(const Node* node) const {
  std::lock_guard lock(shard_->mutex);
  return first_node_ != nullptr && (first_node_ != node || node->next_in_column_ != nullptr);
}

void Column::PagesAreStale() {
  std::lock_guard lock(shard_->mutex);
  for (Node* node = first_node_; node != nullptr; node = node->next_in_column_)
    node->PagesAreStale();
}

void Column::PagesExpire(Timestamp when) {
  std::lock_guard lock(shard_->mutex);
  for (Node* node = first_node_; node != nullptr; node = node->next_in_column_)
    node->PagesExpire(when);
}

void Column::Add(Node& node) {
  std::lock_guard lock(shard_->mutex);
  node.generation_.RaiseTo(generation());
  node.next_in_column_ = first_node_;
  if (first_node_ != nullptr) first_node_->previous_in_column_ = &node;
  first_node_ = &node;
}

// Of what no node shows nobody is told that it changed otherwise: by a flush, or with its table.
void Column::Remove(Node& node) {
  std::lock_guard lock(shard_->mutex);
  Node* const next = std::exchange(node.next_in_column_, nullptr);
  Node* const previous = std::exchange(node.previous_in_column_, nullptr);
  if (next != nullptr) next->previous_in_column_ = previous;
  (previous != nullptr ? previous->next_in_column_ : first_node_) = next;
  if (first_node_ == nullptr) cell_cache_.Drop();
}

// ---- What this mount made of it within the hour -------------------------------------------------

std::optional<Timestamp> Column::Read(std::optional<Stamp> Stamps::*stamp) const {
  if (stamps_ == nullptr || !((*stamps_).*stamp)) return std::nullopt;
  const Stamp& noted = *((*stamps_).*stamp);
  return table_.IsRecent(noted.when) ? std::optional(noted.timestamp) : std::nullopt;
}

void Column::Note(std::optional<Stamp> Stamps::*stamp, Timestamp timestamp) {
  const Timestamp now = table_.KeepForAWhile(shared_from_this());
  if (stamps_ == nullptr) stamps_ = std::make_unique<Stamps>();
  (*stamps_).*stamp = {timestamp, now};
}

std::optional<Timestamp> Column::created() const { return Read(&Stamps::created); }

void Column::NoteCreated(Timestamp version) { Note(&Stamps::created, version); }

std::optional<Timestamp> Column::renamed_away() const { return Read(&Stamps::renamed_away); }

void Column::NoteRenamedAway(Timestamp tombstone, const OwnerAndMode& from) {
  Note(&Stamps::renamed_away, tombstone);
  stamps_->renamed_from = from;
}

}  // namespace cellfs::fs
