// SPDX-License-Identifier: MIT
//
// AppendedTail: the bytes that handles of one file have appended (O_APPEND) and not put yet, in the
// order of the kernel's WRITE requests. The kernel gives each of them the offset behind the one
// before (docs/kernel.md), so the file is its stored value followed by the tail, and the tail is
// put in this order, whichever handle is closed first.
#ifndef CELLFS_FS_FILES_APPENDED_TAIL_H_
#define CELLFS_FS_FILES_APPENDED_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellfs::fs {

class CellWriter;

// Guarded by the column's lock.
class AppendedTail {
 public:
  // Bytes that are put in one step, by the first of the writers.
  struct Run {
    std::vector<CellWriter*> writers;
    std::string bytes;
  };

  // `may_share`: the writer may share a run with the one who appended before. That bounds the
  // number of runs when two handles take turns.
  void Append(CellWriter* writer, std::string_view bytes, bool may_share);
  bool Has(const CellWriter* writer) const;
  bool empty() const { return runs_.empty(); }
  uint64_t size() const { return size_; }
  // So many runs that it is time to put them.
  bool is_scattered() const { return runs_.size() > 2 * kManyRuns; }

  const CellWriter* last_writer() const;
  const Run& front() const { return runs_.front(); }
  void PopFront();
  // Runs of this writer alone go; in others, its bytes stay.
  void Remove(const CellWriter* writer);

  // Adds at most `size` bytes from `offset` on to `bytes`.
  void CopyTo(std::string& bytes, uint64_t offset, size_t size) const;

 private:
  static constexpr size_t kManyRuns = 16;

  std::vector<Run> runs_;  // few; the oldest first
  uint64_t size_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_APPENDED_TAIL_H_
