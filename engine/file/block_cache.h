// SPDX-License-Identifier: MIT
//
// BlockCache: the blocks of all of a store's files that have been read lately: their pages, their
// filters. What lies under the number of an owner and of a block never changes.
//
// A new block is on probation until it is read again; only then may it stay while others come. A
// walk over a huge file, which reads each block once, so pushes out little but its own blocks.
//
// Thread-safe; readers of different blocks seldom meet. No errors: what finds no room, or no
// memory, is not kept.
#ifndef CELLFS_ENGINE_FILE_BLOCK_CACHE_H_
#define CELLFS_ENGINE_FILE_BLOCK_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace cellfs {

class BlockCache {
 public:
  // What the blocks may take, with what the cache itself needs for them.
  explicit BlockCache(int64_t bytes);
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // Shrinks at once.
  void SetCapacity(int64_t bytes);

  // For a file: a number that no other ever had.
  uint64_t NewOwner() { return next_owner_++; }

  // Copies `size` bytes of the block from `offset` on. False: they are not there.
  bool Read(uint64_t owner, uint64_t block, size_t offset, char* to, size_t size);
  // What `look` says of the block's bytes, which it is shown under a lock. Nullopt: it is not here.
  template <typename Look>
  std::optional<bool> Ask(uint64_t owner, uint64_t block, const Look& look) {
    const Key key{owner, block};
    Shard& shard = ShardOf(key);
    const std::lock_guard lock(shard.mutex);
    const Entry* const entry = shard.Find(key);
    if (entry == nullptr) return std::nullopt;
    return look(std::string_view(entry->bytes.get(), entry->size));
  }
  // kAtOnce: it need not be read again to stay while others come.
  enum class Keep { kIfReadAgain, kAtOnce };
  void Insert(uint64_t owner, uint64_t block, std::string_view bytes,
              Keep keep = Keep::kIfReadAgain);
  // The owner has no blocks any more, but for those that are inserted meanwhile or later. Looks at
  // all blocks of the cache.
  void Forget(uint64_t owner);

  int64_t bytes() const;

  // How often a block was read from the disk for others than compactions.
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }
  void NoteRead() {
    if (!CompactionReads::OfThisThread()) reads_.fetch_add(1, std::memory_order_relaxed);
  }
  // As long as it lives its thread reads for a compaction: each page once, of a file that goes. So
  // nothing of it is looked for or kept here.
  class CompactionReads {
   public:
    CompactionReads() { OfThisThread() = true; }
    ~CompactionReads() { OfThisThread() = false; }
    CompactionReads(const CompactionReads&) = delete;
    CompactionReads& operator=(const CompactionReads&) = delete;

    static bool& OfThisThread() { return of_this_thread_; }

   private:
    static inline constinit thread_local bool of_this_thread_ = false;
  };

 private:
  struct Key {
    uint64_t owner = 0;
    uint64_t block = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  static int64_t CostOf(size_t size);
  struct Entry {
    Key key;
    std::unique_ptr<char[]> bytes;
    size_t size = 0;
    bool is_kept = false;  // on `kept`, not on `probation`
    int64_t Cost() const { return CostOf(size); }
  };
  using Entries = std::list<Entry>;
  // Each has its own lock, and an equal part of the room.
  struct alignas(64) Shard {
    // Read again. Null: it is not here.
    const Entry* Find(const Key& key);
    void Keep(Entries::iterator entry);
    // What goes moves to `gone`, to be freed without the lock.
    void Remove(Entries::iterator entry, Entries* gone);
    void Shrink(int64_t most, Entries* gone);

    mutable std::mutex mutex;
    Entries probation, kept;  // the latest at the front
    std::unordered_map<Key, Entries::iterator, Hash> entries;
    int64_t bytes = 0, kept_bytes = 0, capacity = 0;
  };

  Shard& ShardOf(const Key& key);

  std::array<Shard, 16> shards_;
  std::atomic<uint64_t> next_owner_ = 1;
  std::atomic<uint64_t> reads_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_FILE_BLOCK_CACHE_H_
