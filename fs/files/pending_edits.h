// SPDX-License-Identifier: MIT
//
// PendingEdits: what was done to a file and is not put yet, to be applied over whatever the value is
// by then. Pure. Its memory follows the bytes that it would write, however often they were
// written.
#ifndef CELLFS_FS_FILES_PENDING_EDITS_H_
#define CELLFS_FS_FILES_PENDING_EDITS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellfs::fs {

// Not thread-safe.
class PendingEdits {
 public:
  bool empty() const { return layers_.empty(); }
  void clear() { layers_.clear(); }

  void Write(std::string_view bytes, uint64_t offset);
  void Append(std::string_view bytes);
  void Truncate(uint64_t size);

  // As write(2), O_APPEND and ftruncate(2) would leave a file of those bytes.
  void ApplyTo(std::string& value) const;
  uint64_t SizeAfter(uint64_t size) const;
  // How many are kept.
  uint64_t bytes() const;

  // The file does not depend on the value that they go over.
  bool IsWhole() const { return !layers_.empty() && layers_.front().kept == 0; }
  // So many pieces that what describes them outweighs the bytes: time to put them.
  bool is_scattered() const;

 private:
  static constexpr uint64_t kWhole = std::numeric_limits<uint64_t>::max();

  // Edits that apply one after the other: a truncation, writes, bytes appended. What is appended
  // after a truncation lies at a known offset, so that it is a write.
  struct Layer {
    uint64_t kept = kWhole;                  // bytes of what lies below, at most
    std::optional<uint64_t> size;            // known from a truncation on
    std::map<uint64_t, std::string> writes;  // by offset; they neither overlap nor touch
    uint64_t in_writes = 0;                  // bytes
    std::string appended;                    // only where the size is not known

    void Write(std::string_view bytes, uint64_t offset);
    void Truncate(uint64_t new_size);
    void ApplyTo(std::string& value) const;
    uint64_t SizeAfter(uint64_t size_below) const;
  };

  Layer& TopForWriting();

  std::vector<Layer> layers_;  // the oldest first; none is empty
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_FILES_PENDING_EDITS_H_
