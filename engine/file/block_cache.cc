// SPDX-License-Identifier: MIT
#include "engine/file/block_cache.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace cellfs {
namespace {

// What an entry takes beside its block: nodes of the list and of the map, a bucket, and the
// allocator's headers.
constexpr int64_t kNodes = 160;

}  // namespace

// Neighbouring blocks of one file differ in few bits; all bits of the result depend on them.
size_t BlockCache::Hash::operator()(const Key& key) const {
  uint64_t hash = key.owner * 0x9e3779b97f4a7c15u + key.block;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

int64_t BlockCache::CostOf(size_t size) { return static_cast<int64_t>(size) + kNodes; }

BlockCache::BlockCache(int64_t bytes) { SetCapacity(bytes); }

BlockCache::Shard& BlockCache::ShardOf(const Key& key) {
  // The map takes the low bits.
  return shards_[Hash()(key) >> 60];
}

void BlockCache::SetCapacity(int64_t bytes) {
  for (Shard& shard : shards_) {
    Entries gone;
    const std::lock_guard lock(shard.mutex);
    shard.capacity = bytes / static_cast<int64_t>(shards_.size());
    shard.Shrink(shard.capacity, &gone);
  }
}

bool BlockCache::Read(uint64_t owner, uint64_t block, size_t offset, char* to, size_t size) {
  const Key key{owner, block};
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Entry* const entry = shard.Find(key);
  if (entry == nullptr || offset > entry->size || size > entry->size - offset) return false;
  std::copy_n(entry->bytes.get() + offset, size, to);
  return true;
}

const BlockCache::Entry* BlockCache::Shard::Find(const Key& key) {
  const auto found = entries.find(key);
  if (found == entries.end()) return nullptr;
  Keep(found->second);
  return &*found->second;
}

// What goes is mostly as long as what comes, and its memory is used again: pages that are freed
// among small pieces keep the allocator busy, up to a tenth of the time of a scan.
void BlockCache::Insert(uint64_t owner, uint64_t block, std::string_view bytes, Keep keep) {
  const Key key{owner, block};
  Shard& shard = ShardOf(key);
  Entries made, gone;
  try {
    const std::lock_guard lock(shard.mutex);
    const int64_t cost = CostOf(bytes.size());
    // Another reader may have missed it at the same time.
    if (cost > shard.capacity || shard.entries.contains(key)) return;
    shard.Shrink(shard.capacity - cost, &gone);
    if (!gone.empty() && gone.front().size == bytes.size()) {
      made.splice(made.begin(), gone, gone.begin());
    } else {
      made.emplace_front().bytes = std::make_unique_for_overwrite<char[]>(bytes.size());
    }
    Entry& entry = made.front();
    entry.key = key;
    entry.size = bytes.size();
    entry.is_kept = false;
    std::copy(bytes.begin(), bytes.end(), entry.bytes.get());
    shard.entries.emplace(key, made.begin());
    shard.bytes += cost;
    shard.probation.splice(shard.probation.begin(), made);
    if (keep == Keep::kAtOnce) shard.Keep(shard.probation.begin());
  } catch (const std::bad_alloc&) {
    // Whoever wants it reads it again.
  }
}

void BlockCache::Forget(uint64_t owner) {
  for (Shard& shard : shards_) {
    Entries gone;
    const std::lock_guard lock(shard.mutex);
    for (Entries* const list : {&shard.probation, &shard.kept}) {
      for (auto entry = list->begin(); entry != list->end();) {
        const auto here = entry++;
        if (here->key.owner == owner) shard.Remove(here, &gone);
      }
    }
  }
}

int64_t BlockCache::bytes() const {
  int64_t bytes = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

// Those kept take at most half, so that a new block has time to be read again. What is too much of
// them goes back on probation.
void BlockCache::Shard::Keep(Entries::iterator entry) {
  kept.splice(kept.begin(), entry->is_kept ? kept : probation, entry);
  if (entry->is_kept) return;
  entry->is_kept = true;
  kept_bytes += entry->Cost();
  while (kept_bytes > capacity / 2 && kept.size() > 1) {
    const auto last = std::prev(kept.end());
    last->is_kept = false;
    kept_bytes -= last->Cost();
    probation.splice(probation.begin(), kept, last);
  }
}

void BlockCache::Shard::Remove(Entries::iterator entry, Entries* gone) {
  entries.erase(entry->key);
  bytes -= entry->Cost();
  if (entry->is_kept) kept_bytes -= entry->Cost();
  gone->splice(gone->begin(), entry->is_kept ? kept : probation, entry);
}

void BlockCache::Shard::Shrink(int64_t most, Entries* gone) {
  while (bytes > most) Remove(std::prev((probation.empty() ? kept : probation).end()), gone);
}

}  // namespace cellfs
