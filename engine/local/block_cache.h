// SPDX-License-Identifier: MIT
//
// BlockCache: blocks of store files in memory, one bound for all files of a store: the least
// recently used go.
#ifndef CELLFS_ENGINE_LOCAL_BLOCK_CACHE_H_
#define CELLFS_ENGINE_LOCAL_BLOCK_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cellfs {

// Thread-safe. Blocks lie in shards by their hash, so that readers seldom meet.
class BlockCache {
 public:
  explicit BlockCache(int64_t bytes) : capacity_(bytes) {}
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  void SetCapacity(int64_t bytes);
  // An id that is never given again.
  uint64_t NewOwner() { return ++last_owner_; }

  // Copies the first `size` bytes of the block; false: it is not here.
  bool Read(uint64_t owner, uint64_t block, void* to, size_t size);
  // What `look` says of the block's bytes; nullopt: it is not here. `look` runs under a lock.
  template <typename Look>
  std::optional<bool> Ask(uint64_t owner, uint64_t block, Look look) {
    const Key key{owner, block};
    Shard& shard = ShardOf(key);
    const std::lock_guard lock(shard.mutex);
    const Block* const found = Find(shard, key);
    if (found == nullptr) return std::nullopt;
    return look(std::string_view(found->bytes.data(), found->bytes.size()));
  }
  void Insert(uint64_t owner, uint64_t block, std::string_view bytes) noexcept;
  // Drops the owner's blocks.
  void Forget(uint64_t owner);
  int64_t bytes() const;

 private:
  struct Key {
    uint64_t owner;
    uint64_t block;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashOfKey {
    size_t operator()(const Key& key) const;
  };
  struct Block {
    Key key;
    std::vector<char> bytes;
  };
  using Order = std::list<Block>;  // used last: first
  struct Shard {
    std::mutex mutex;
    Order order;
    std::unordered_map<Key, Order::iterator, HashOfKey> blocks;
    int64_t bytes = 0;
  };
  static constexpr size_t kShards = 16;

  Shard& ShardOf(const Key& key) { return shards_[HashOfKey()(key) >> 60]; }
  // Null: it is not here. REQUIRES: the shard's lock.
  static const Block* Find(Shard& shard, const Key& key);
  void Shrink(Shard& shard, Order& gone);
  static int64_t CostOf(const Block& block);

  std::atomic<int64_t> capacity_;
  std::atomic<uint64_t> last_owner_{0};
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_BLOCK_CACHE_H_
