// SPDX-License-Identifier: MIT
//
// ListedKeys: which key stands at which offset of a directory, as it was listed last. The kernel
// keeps a listing with its offsets and asks on from any of them once the directory has changed;
// only with what was listed can that be answered without losing or repeating an entry.
#ifndef CELLFS_FS_LISTED_KEYS_H_
#define CELLFS_FS_LISTED_KEYS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf. The keys of all directories together take at most what
// `bytes_left` was at first.
class ListedKeys {
 public:
  explicit ListedKeys(std::atomic<int64_t>& bytes_left) : bytes_left_(bytes_left) {}
  ~ListedKeys() { Truncate(0); }
  ListedKeys(const ListedKeys&) = delete;
  ListedKeys& operator=(const ListedKeys&) = delete;

  // A listing came to the key at the offset; the first key of the directory stands at `first`. What
  // came behind another key there is forgotten. False: it cannot be kept, and nothing is.
  bool Note(uint64_t first, uint64_t offset, std::string_view key);

  // The first offset and the key, where known.
  struct Position {
    uint64_t first = 0;
    std::string key;
  };
  std::optional<Position> Find(uint64_t offset) const;

 private:
  std::string_view KeyAt(size_t index) const;
  void Truncate(size_t count);

  std::atomic<int64_t>& bytes_left_;
  mutable std::mutex mutex_;  // guards the rest
  uint64_t first_ = 0;
  std::string keys_;            // one after the other
  std::vector<uint32_t> ends_;  // where in keys_ each ends
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_LISTED_KEYS_H_
