// SPDX-License-Identifier: MIT
//
// StreamOffsets: the offsets of one directory stream whose listing the kernel does not cache. An
// offset counts the names listed up to it. The stream remembers the latest names exactly and some
// of the older ones, so that it finds its place again after entries before it have come or gone; an
// offset between two that it remembers is reached by counting.
#ifndef CELLFS_FS_LISTING_STREAM_OFFSETS_H_
#define CELLFS_FS_LISTING_STREAM_OFFSETS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cellfs::fs {

class StreamOffsets {
 public:
  explicit StreamOffsets(uint64_t first) : first_(first) { Rewind(); }

  void Rewind();
  // The offset that the next name will have.
  uint64_t next() const { return window_begin_ + window_.size(); }
  // It was listed.
  void Add(const std::string& key) { Add(std::optional(key)); }
  // Goes back to the latest name known at or before the offset: its offset and key; none: the
  // beginning.
  std::pair<uint64_t, std::optional<std::string>> Return(uint64_t offset);
  // About how much memory it takes.
  size_t held_bytes() const;

 private:
  void Add(std::optional<std::string> key);
  void LeaveWindow();
  bool IsKept(uint64_t offset) const;
  template <typename Which>
  void ForgetOlder(Which which);

  const uint64_t first_;
  // Keys at the latest offsets without gaps, and at some of the older ones; none at `first_` - 1,
  // where a stream begins.
  std::deque<std::optional<std::string>> window_;
  uint64_t window_begin_ = 0;  // the offset of window_.front()
  size_t window_bytes_ = 0;
  std::map<uint64_t, std::optional<std::string>> older_;
  size_t older_bytes_ = 0;
  uint64_t older_step_ = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTING_STREAM_OFFSETS_H_
