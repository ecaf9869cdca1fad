// SPDX-License-Identifier: MIT
#include "engine/local/block_cache.h"

#include <cstring>
#include <new>

namespace cellfs {
namespace {

constexpr int64_t kOverhead = 128;  // of a block: its nodes in list and map

}  // namespace

size_t BlockCache::HashOfKey::operator()(const Key& key) const {
  uint64_t hash = key.owner * 0x9e3779b97f4a7c15 + key.block;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return hash ^ (hash >> 29);
}

int64_t BlockCache::CostOf(const Block& block) {
  return static_cast<int64_t>(block.bytes.size()) + kOverhead;
}

void BlockCache::SetCapacity(int64_t bytes) {
  capacity_ = bytes;
  for (Shard& shard : shards_) {
    Order gone;
    const std::lock_guard lock(shard.mutex);
    Shrink(shard, gone);
  }
}

const BlockCache::Block* BlockCache::Find(Shard& shard, const Key& key) {
  const auto found = shard.blocks.find(key);
  if (found == shard.blocks.end()) return nullptr;
  shard.order.splice(shard.order.begin(), shard.order, found->second);
  return &*found->second;
}

bool BlockCache::Read(uint64_t owner, uint64_t block, void* to, size_t size) {
  const Key key{owner, block};
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Block* const found = Find(shard, key);
  if (found == nullptr || found->bytes.size() < size) return false;
  std::memcpy(to, found->bytes.data(), size);
  return true;
}

// Without memory the block is not kept.
void BlockCache::Insert(uint64_t owner, uint64_t block, std::string_view bytes) noexcept try {
  const Key key{owner, block};
  Order made;
  made.push_back({key, std::vector<char>(bytes.begin(), bytes.end())});
  Shard& shard = ShardOf(key);
  Order gone;  // freed after the lock
  const std::lock_guard lock(shard.mutex);
  if (!shard.blocks.emplace(key, made.begin()).second) return;
  shard.bytes += CostOf(made.front());
  shard.order.splice(shard.order.begin(), made);
  Shrink(shard, gone);
} catch (const std::bad_alloc&) {
}

void BlockCache::Shrink(Shard& shard, Order& gone) {
  const int64_t most = capacity_.load() / static_cast<int64_t>(kShards);
  while (shard.bytes > most && !shard.order.empty()) {
    const Order::iterator last = std::prev(shard.order.end());
    shard.bytes -= CostOf(*last);
    shard.blocks.erase(last->key);
    gone.splice(gone.begin(), shard.order, last);
  }
}

void BlockCache::Forget(uint64_t owner) {
  for (Shard& shard : shards_) {
    Order gone;
    const std::lock_guard lock(shard.mutex);
    for (auto block = shard.order.begin(); block != shard.order.end();) {
      const auto here = block++;
      if (here->key.owner != owner) continue;
      shard.bytes -= CostOf(*here);
      shard.blocks.erase(here->key);
      gone.splice(gone.begin(), shard.order, here);
    }
  }
}

int64_t BlockCache::bytes() const {
  int64_t bytes = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

}  // namespace cellfs
