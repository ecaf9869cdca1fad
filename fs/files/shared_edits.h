// SPDX-License-Identifier: MIT
//
// SharedEdits: what the handles of one file have written over its value and not put yet, as one
// sequence in the order of the kernel's WRITE requests. The kernel's pages show it to all who have
// the file open (docs/kernel.md), so it is put in one step, whichever handle is closed first.
#ifndef CELLFS_FS_FILES_SHARED_EDITS_H_
#define CELLFS_FS_FILES_SHARED_EDITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs/files/pending_edits.h"

namespace cellfs::fs {

class CellWriter;

// Guarded by the column's lock.
class SharedEdits {
 public:
  bool empty() const { return edits_.empty(); }
  bool Has(const CellWriter* writer) const;
  // Whose bytes these are; the one who began first.
  const std::vector<CellWriter*>& writers() const { return writers_; }
  const PendingEdits& edits() const { return edits_; }

  // Of the file, where they go over one of the size and generation that Begin was told.
  uint64_t size() const { return edits_.SizeAfter(size_below_); }
  uint64_t generation() const { return generation_; }
  // REQUIRES: it is empty.
  void Begin(uint64_t size_below, uint64_t generation);
  // What was appended before was put; the file is as it was.
  void FollowsPut(uint64_t generation) { generation_ = generation; }

  void Write(CellWriter* writer, std::string_view bytes, uint64_t offset);
  void Append(CellWriter* writer, std::string_view bytes);
  void Truncate(CellWriter* writer, uint64_t size);

  void Clear();
  // The edits of this writer alone go; where others wrote as well, its bytes stay.
  void Remove(const CellWriter* writer);

 private:
  void AddWriter(CellWriter* writer);

  PendingEdits edits_;
  std::vector<CellWriter*> writers_;  // few
  uint64_t size_below_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_SHARED_EDITS_H_
