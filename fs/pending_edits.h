// SPDX-License-Identifier: MIT
//
// PendingEdits: what one handle has done to a file and not put yet, to be applied over whatever the
// value is by then. Pure.
#ifndef CELLFS_FS_PENDING_EDITS_H_
#define CELLFS_FS_PENDING_EDITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellfs::fs {

// Not thread-safe.
class PendingEdits {
 public:
  bool empty() const { return edits_.empty(); }
  void clear() { edits_.clear(); }

  void Write(std::string_view bytes, uint64_t offset);
  void Append(std::string_view bytes);
  void Truncate(uint64_t size);

  // As write(2), O_APPEND and ftruncate(2) would leave a file of those bytes.
  void ApplyTo(std::string& value) const;
  uint64_t SizeAfter(uint64_t size) const;

  // Null where there is anything but appended bytes.
  const std::string* OnlyAppended() const;

 private:
  enum class Kind { kWrite, kAppend, kTruncate };
  struct Edit {
    Kind kind;
    uint64_t offset = 0;  // or the size
    std::string bytes;
  };
  std::vector<Edit> edits_;  // in the order they were made
};

// Writes over, and where needed beyond, what is there; a hole reads as zeros.
void WriteInto(std::string& value, std::string_view bytes, uint64_t offset);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_PENDING_EDITS_H_
