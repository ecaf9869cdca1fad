// SPDX-License-Identifier: MIT
//
// Column: what the handles of one file share while any of them is open: the bytes appended and not
// put yet, the writers, and the bytes once the name has gone. It belongs to the node and goes where
// a rename takes that.
#ifndef CELLFS_FS_NODES_COLUMN_H_
#define CELLFS_FS_NODES_COLUMN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fs/nodes/appended_tail.h"
#include "fs/nodes/file_handle.h"
#include "fs/nodes/open_file_memory.h"
#include "fs/nodes/orphan_file.h"

namespace cellfs::fs {

// Guarded by the column's lock (fs/nodes/column_locks.h), but for what says otherwise.
class Column {
 public:
  // ---- Appended bytes -------------------------------------------------------------------------
  const AppendedTail& tail() const { return tail_; }
  // `offset` is the kernel's; `stored_size` is that of the value which the tail follows.
  void Append(CellWriter* writer, std::string_view bytes, uint64_t offset, uint64_t stored_size,
              bool may_share);
  // Counts the tail as held by who appended first since it was empty. False: there is no room, and
  // it is time to put it.
  bool HoldTail(OpenFileMemory& memory, uid_t user);
  // The first run was put, or will never be. Only then may the tail be without it: a reader that
  // takes no lock looks for the tail first and for the node's generation afterwards.
  void PopRun();
  void RemoveRuns(const CellWriter* writer);
  // Without the lock.
  bool has_tail() const { return tail_size_.load(std::memory_order_acquire) != 0; }
  // When the last byte was appended.
  timespec appended() const { return appended_; }
  void AppendedAt(timespec time) { appended_ = time; }

  // Another value is stored below the tail than that which the kernel appended to.
  void StoredChanged() { misplaced_ = misplaced_ || !tail_.empty(); }
  // The kernel appended at another offset than the tail's end, so its pages are not as the file is:
  // somebody changed the column otherwise. Told once.
  bool TakeMisplaced() { return std::exchange(misplaced_, false); }

  // Of the value below the tail, as long as the node has that generation.
  void KeepStoredSize(uint64_t size, uint64_t generation) { stored_size_ = {size, generation}; }
  std::optional<uint64_t> stored_size(uint64_t generation) const {
    return stored_size_.generation == generation ? std::optional(stored_size_.size) : std::nullopt;
  }

  // What a put of the tail did to the node's generation. A change between two generations that did
  // nothing else leaves what was read a beginning of the file.
  void NoteAppendPut(uint64_t generation_before, uint64_t generation_after);
  bool OnlyAppended(uint64_t generation_before, uint64_t generation_after) const;

  // At most `size` bytes from `offset` of the stored value and the tail behind it.
  SharedBytes ReadWithTail(const std::shared_ptr<const std::string>& stored, uint64_t offset,
                           size_t size) const;

  // ---- Writers --------------------------------------------------------------------------------
  // Open ones. While there are any, no open may make the kernel drop pages: one of them may be
  // about to fill one. Without the lock.
  int writers() const { return writers_.load(std::memory_order_acquire); }
  void AddWriter() { writers_.fetch_add(1, std::memory_order_acq_rel); }
  void RemoveWriter() { writers_.fetch_sub(1, std::memory_order_acq_rel); }
  // Those that hold something else than appended bytes that is not put: then the kernel's pages and
  // what is read here may mix. Without the lock.
  bool is_edited() const { return editors_.load(std::memory_order_acquire) != 0; }
  void AddEditor() { editors_.fetch_add(1, std::memory_order_acq_rel); }
  void RemoveEditor() { editors_.fetch_sub(1, std::memory_order_acq_rel); }

  // ---- Without a name -------------------------------------------------------------------------
  // Null while the file has its name, and where nobody had it open when that went.
  OrphanFile* orphan() const { return orphan_.get(); }
  // `user`: in whose name its bytes are held.
  void BecomeOrphan(OpenFileMemory& memory, uid_t user, OutcomeOr<std::string> stored,
                    timespec now);

 private:
  struct StoredSize {
    uint64_t size = 0;
    uint64_t generation = 0;
  };

  void TailShrank();

  AppendedTail tail_;
  std::optional<OpenFileMemory::Share> tail_share_;
  StoredSize stored_size_;
  timespec appended_{};
  bool misplaced_ = false;
  uint64_t append_puts_from_ = 0;
  uint64_t append_puts_to_ = 0;
  std::unique_ptr<OrphanFile> orphan_;
  std::atomic<uint64_t> tail_size_{0};
  std::atomic<int> writers_{0};
  std::atomic<int> editors_{0};
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_COLUMN_H_
