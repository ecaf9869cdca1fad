// SPDX-License-Identifier: MIT
//
// Node: something the kernel has looked up and may ask about until it forgets it. Its address is
// the FUSE node id. Rename gives it another place; unlink leaves it without a name while handles
// live.
#ifndef CELLFS_FS_NODES_NODE_H_
#define CELLFS_FS_NODES_NODE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/snapshot.h"
#include "fs/files/file_handle.h"
#include "fs/files/shared_file.h"
#include "fs/nodes/cached_cell.h"
#include "fs/nodes/cached_listing.h"
#include "fs/nodes/column.h"
#include "fs/nodes/generation.h"
#include "fs/nodes/kernel_size.h"
#include "fs/tree/place.h"

namespace cellfs::fs {

// Thread-safe. While its mutex is held nothing but its column is asked.
class Node : public std::enable_shared_from_this<Node> {
 public:
  // `inode_number`: the place's.
  Node(std::shared_ptr<const Place> place, uint64_t inode_number)
      : place_(std::move(place)), inode_number_(inode_number) {}
  ~Node() {
    if (first_time_ >= 0) --first_times_;
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // As it is now.
  Snapshot<Place> place() const;
  uint64_t inode_number() const { return inode_number_.load(std::memory_order_relaxed); }
  // Of a file of the present: the column that it is in, which it does not leave while that one's
  // lock is held. Null: a directory, or what is in a view.
  ColumnPtr column() const;
  bool IsIn(const Column& column) const {
    return column_at_.load(std::memory_order_acquire) == &column;
  }
  // The name is gone or belongs to somebody else: what handles still put goes nowhere.
  bool unlinked() const { return unlinked_.load(std::memory_order_acquire); }

  // Open handles live here until they are released.
  FileHandle* AddHandle(std::shared_ptr<FileHandle> handle);
  void RemoveHandle(FileHandle* handle);
  std::vector<std::shared_ptr<FileHandle>> handles() const;
  size_t handle_count() const { return handle_count_.load(std::memory_order_acquire); }

  // What its handles share, made with the first one; null where none of a column is open.
  std::shared_ptr<SharedFile> shared_file() const;
  std::shared_ptr<SharedFile> ShareFile();

  // What a handle is about to put, where one is: what stat shows. The latest opened goes first.
  std::optional<PendingWrite> pending() const;

  // Whether a handle holds something that is not put.
  bool is_being_written() const;

  // Grows whenever what is read here may have changed. Bytes read before that are stale. Of a file
  // in a column that is the column's, by whatever name it changed.
  uint64_t generation() const { return generation_.get(); }
  void ContentChanged();
  static uint64_t NewestGeneration() { return Generation::Newest(); }
  // The cell that the column shows, cached when it was read or put. Of a row or family: the first
  // cell in it, which may change with any of its columns. Nullopt: not cached, or it may have
  // changed since.
  std::optional<CachedCell> cached_cell() const;
  // As Column::Learn.
  void Cache(const CachedCell& cell, uint64_t looked_at);
  // The kernel's pages may differ from the file, until they are dropped (fs/nodes/kernel_cache.h).
  void PagesAreStale() { stale_pages_.store(Generation::Next(), std::memory_order_release); }
  // When a TTL ends what pages were filled with: they are stale then.
  void PagesExpire(Timestamp when);
  // 0: they are not stale.
  uint64_t stale_pages(Timestamp now);
  uint64_t stale_pages() const { return stale_pages_.load(std::memory_order_acquire); }
  bool has_stale_pages() const { return stale_pages() != 0; }
  void PagesWereDropped(uint64_t stale) { stale_pages_.compare_exchange_strong(stale, 0); }
  // Of a file.
  KernelSize& kernel_size() { return kernel_size_; }

  // Counts how often names came to the directory or went from it.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  void EntriesChanged() { changes_.fetch_add(1, std::memory_order_acq_rel); }
  // Of a directory for which no time is noted or stored: that of its first cell when it was first
  // shown, which it shows as long as no entry comes or goes, though that cell be put again. < 0:
  // there is none.
  const std::atomic<Timestamp>& first_time() const { return first_time_; }
  // Counts how often it was forgotten.
  uint64_t forgotten_first_times() const { return forgotten_.load(std::memory_order_acquire); }
  // `forgotten`: forgotten_first_times() from before `time` was read. The time to be shown.
  Timestamp KeepFirstTime(Timestamp time, uint64_t forgotten);
  void ForgetFirstTime();
  // How many directories came to have one, of all; and whether any has one now.
  static uint64_t FirstTimesEver() { return first_times_ever_.load(std::memory_order_acquire); }
  static bool AnyFirstTimes() { return first_times_.load(std::memory_order_acquire) > 0; }
  // Of a directory, for a stream that is being opened; null where the kernel must not cache its
  // listing.
  std::shared_ptr<CachedListing> cached_listing(std::atomic<int64_t>& bytes_left);
  // It will be replaced: its offsets must have gone from the kernel by then.
  bool HasOutgrownListing() const;
  // From now on: it is too large, or entries come to it or go from it without a request: cells with
  // a TTL of their own, families that were found with nothing in them.
  void DoNotCacheListing();

 private:
  friend class Column;
  friend class InodeTable;

  // Of a file at the place, of that number.
  static uint64_t ColumnNumberOf(const Place& place, uint64_t inode_number) {
    return place.kind == PlaceKind::kCell ? inode_number : place.ColumnNumber();
  }
  // The one before. REQUIRES: mutex_.
  ColumnPtr SetColumn(ColumnPtr column) {
    column_at_.store(column.get(), std::memory_order_release);
    return std::exchange(column_, std::move(column));
  }

  std::atomic<bool> unlinked_{false};
  std::atomic<uint32_t> handle_count_{0};  // written under mutex_
  mutable std::mutex mutex_;
  std::shared_ptr<const Place> place_;  // guarded by mutex_
  std::atomic<uint64_t> inode_number_;  // changes with it
  ColumnPtr column_;                    // guarded by mutex_; changes with it
  std::atomic<const Column*> column_at_{nullptr};  // likewise, to be compared with
  Node* next_in_column_ = nullptr;      // guarded by the column, as the next
  Node* previous_in_column_ = nullptr;
  std::vector<std::shared_ptr<FileHandle>> handles_;  // guarded by mutex_
  std::weak_ptr<SharedFile> shared_file_;            // guarded by mutex_; the handles own it
  std::shared_ptr<CachedListing> cached_listing_;     // guarded by mutex_
  bool may_cache_listing_ = true;                     // guarded by mutex_
  CellCache cell_cache_;                              // of a directory; guarded by mutex_
  std::atomic<uint64_t> stale_pages_{0};
  std::atomic<Timestamp> pages_expire_{kLatestTimestamp};
  KernelSize kernel_size_;
  // Of a file in a column at least that one's, and no lower than when it came: what was read of its
  // place before is no older.
  Generation generation_;
  std::atomic<uint64_t> changes_{0};
  std::atomic<Timestamp> first_time_{-1};  // changed under mutex_, as the next
  std::atomic<uint64_t> forgotten_{0};
  static inline std::atomic<uint64_t> first_times_ever_{0};
  static inline std::atomic<int64_t> first_times_{0};
  uint64_t lookups_ = 0;  // guarded by the table's mutex
};

using NodePtr = std::shared_ptr<Node>;

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_NODE_H_
