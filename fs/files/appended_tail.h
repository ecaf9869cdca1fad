// SPDX-License-Identifier: MIT
//
// AppendedTail: the bytes that handles of one file have appended (O_APPEND) and not put yet, in the
// order of the kernel's WRITE requests. The kernel gives each of them the offset behind the one
// before (docs/kernel.md), so the file is its stored value followed by the tail, and the tail is
// put in this order, whichever handle is closed first.
//
// Who opens the file reads the tail too, so that it is there for all from then on. So where another
// opens it with O_TRUNC what was appended before is put before his bytes are, and what is appended
// later behind them: the runs that are there are closed. But the kernel may send one write(2) in
// several WRITEs, and the rest of it belongs to its beginning.
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
    uint64_t number = 0;
  };

  // `may_share`: the writer may share a run with the one who appended before. That bounds the
  // number of runs when two handles take turns.
  // `continues`: they may be the rest of what he appended last.
  void Append(CellWriter* writer, std::string_view bytes, bool may_share, bool continues = false);
  // The number of the next run; those that are there have lower ones.
  uint64_t CloseRuns() { return closed_below_ = next_number_; }
  bool has_below(uint64_t number) const { return !runs_.empty() && runs_.front().number < number; }
  // In bytes, of the runs with lower numbers.
  uint64_t size_below(uint64_t number) const;
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
  uint64_t next_number_ = 1;
  uint64_t closed_below_ = 0;
  uint64_t size_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_APPENDED_TAIL_H_
