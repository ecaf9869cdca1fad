// SPDX-License-Identifier: MIT
//
// SharedFile: what the handles of one file share while any of them is open: what they appended and
// edited and did not put yet, the writers, and the bytes once the name has gone. It belongs to the
// node and goes where a rename takes that.
//
// The file that they share, and the kernel's pages with them, is the stored value, the appended
// tail behind it, and the edits over both. Only who replaces the file, for it was opened with
// O_TRUNC or made, holds its bytes for itself until they are put.
#ifndef CELLFS_FS_FILES_SHARED_FILE_H_
#define CELLFS_FS_FILES_SHARED_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/waiting.h"
#include "fs/files/appended_tail.h"
#include "fs/files/dropped_pages.h"
#include "fs/files/file_handle.h"
#include "fs/files/open_file_memory.h"
#include "fs/files/orphan_file.h"
#include "fs/files/shared_edits.h"

namespace cellfs::fs {

// Guarded by the column's lock (fs/nodes/column_lock.h), but for what says otherwise.
class SharedFile {
 public:
  // ---- Appended bytes -------------------------------------------------------------------------
  const AppendedTail& tail() const { return tail_; }
  // `offset` is the kernel's; `stored_size` is that of the value which the tail follows. False: they
  // are elsewhere in the kernel's pages, for somebody changed the column otherwise.
  [[nodiscard]] bool Append(CellWriter* writer, std::string_view bytes, uint64_t offset,
                            uint64_t stored_size, bool may_share);
  // What is there is put before what another replaces the file with. The number of the first run
  // that is not.
  uint64_t CloseRuns() { return tail_.CloseRuns(); }
  // No piece of what was being appended is still to come: somebody else writes, and the kernel lets
  // one write(2) after the other have a file.
  void AppendsAreWhole() { append_end_.reset(); }
  // Adds what was appended before anybody began to replace the file.
  void AddShownTo(std::string& stored) const;
  // Counts the tail as held by who appended first since it was empty. False: there is no room, and
  // it is time to put it.
  [[nodiscard]] bool HoldTail(OpenFileMemory& memory, uid_t user);
  // The first run was put, or will never be. Only then may the tail be without it: a reader that
  // takes no lock looks for the tail first and for the node's generation afterwards.
  void PopRun();
  void RemoveRuns(const CellWriter* writer);
  // Without the lock.
  bool has_tail() const { return tail_size_.load(std::memory_order_acquire) != 0; }
  // When the last byte was appended or edited.
  timespec written() const { return written_; }
  void WrittenAt(timespec time) { written_ = time; }

  // Of the value below the tail, as long as the node has that generation.
  void KeepStoredSize(uint64_t size, uint64_t generation) { stored_size_ = {size, generation}; }
  std::optional<uint64_t> stored_size(uint64_t generation) const {
    return stored_size_.generation == generation ? std::optional(stored_size_.size) : std::nullopt;
  }

  // ---- Edited bytes ---------------------------------------------------------------------------
  const SharedEdits& edits() const { return edits_; }
  // REQUIRES: there are none. `size_below`: of the stored value and the tail.
  void BeginEdits(uint64_t size_below, uint64_t generation) {
    edits_.Begin(size_below, generation);
  }
  void Edit(CellWriter* writer, std::string_view bytes, uint64_t offset);
  void AppendToEdits(CellWriter* writer, std::string_view bytes);
  void TruncateEdits(CellWriter* writer, uint64_t size);
  // Counts edits and shown bytes as held by who came first; the latter are not kept where there is
  // no room. False: there is none for the edits, and it is time to put them.
  [[nodiscard]] bool HoldEdits(OpenFileMemory& memory, uid_t user);
  // They were put, or will never be. As PopRun.
  void DropEdits();
  void RemoveEdits(const CellWriter* writer);
  // Without the lock.
  bool has_edits() const { return has_edits_.load(std::memory_order_acquire); }

  // ---- The file that is shared ----------------------------------------------------------------
  // What a put of the tail or of the edits did to the node's generation. A change between two
  // generations that did nothing else leaves what was read right.
  void NoteSharedPut(uint64_t generation_before, uint64_t generation_after);
  bool OnlySharedPuts(uint64_t generation_before, uint64_t generation_after) const;

  // All of its bytes, where they are kept for the node's generation, else null.
  const std::string* shown(uint64_t generation) const {
    return shown_ && shown_generation_ == generation ? &*shown_ : nullptr;
  }
  const std::string& Show(std::string stored, uint64_t generation);
  // These were put, and there is nothing else.
  void ShowPut(std::string bytes, uint64_t generation);
  // The same, at most `max_size` of them: nobody needs them here any more.
  std::optional<std::string> TakePut(uint64_t generation, size_t max_size);
  // At most `size` bytes from `offset`, over that stored value.
  SharedBytes Read(const std::shared_ptr<const std::string>& stored, uint64_t generation,
                   uint64_t offset, size_t size);

  // ---- Writers --------------------------------------------------------------------------------
  // Open ones. While one of them writes the kernel must drop no pages: what he has written is in a
  // page before it comes here, so that a page which is dropped then and read again lacks it. Without
  // the lock, as the next.
  int writers() const { return writers_.load(std::memory_order_acquire); }
  // While it is held no writer comes: for who has the kernel drop pages, which waits for reads that
  // take the column's lock. So it is taken before that.
  [[nodiscard]] std::unique_lock<std::mutex> KeepWritersOut() { return TakeLock(coming_); }
  // Between KeepWritersOut and its end.
  void AddWriter() { writers_.fetch_add(1, std::memory_order_acq_rel); }
  void RemoveWriter() { writers_.fetch_sub(1, std::memory_order_acq_rel); }
  DroppedPages& dropped_pages() { return dropped_pages_; }
  // Those that replace the file and have not put it: then the kernel's pages and what is read here
  // may mix. Without the lock.
  bool is_replaced() const { return replacers_.load(std::memory_order_acquire) != 0; }
  // `first_behind`: the number of the first run that goes behind its bytes. Without the lock.
  void AddReplacer(uint64_t first_behind);
  void RemoveReplacer(uint64_t first_behind);
  // Who opens the file to read then reads the value before. Without the lock.
  bool is_edited() const { return is_replaced() || has_edits(); }

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
  void EditsChanged();
  SharedBytes ReadWithTail(const std::shared_ptr<const std::string>& stored, uint64_t offset,
                           size_t size) const;

  AppendedTail tail_;
  std::optional<uint64_t> append_end_;  // the kernel's, of what was appended last
  std::optional<OpenFileMemory::Share> tail_share_;
  StoredSize stored_size_;
  SharedEdits edits_;
  std::optional<std::string> shown_;
  uint64_t shown_generation_ = 0;
  std::optional<OpenFileMemory::Share> edits_share_;  // of edits_ and shown_
  timespec written_{};
  uint64_t shared_puts_from_ = 0;
  uint64_t shared_puts_to_ = 0;
  std::unique_ptr<OrphanFile> orphan_;
  std::atomic<uint64_t> tail_size_{0};
  std::atomic<bool> has_edits_{false};
  std::mutex coming_;
  std::atomic<int> writers_{0};
  DroppedPages dropped_pages_;
  std::atomic<int> replacers_{0};
  mutable std::mutex behind_mutex_;
  // Of each replacer for which that is not 0, as it is of most; guarded by behind_mutex_.
  std::vector<uint64_t> first_behind_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_SHARED_FILE_H_
