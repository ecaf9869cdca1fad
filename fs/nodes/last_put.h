// SPDX-License-Identifier: MIT
//
// LastPut: the bytes of the file that was closed last after it was written. Savers and copiers
// rename it at once, and a rename puts those bytes again. Without it a temporary with times, mode
// and rename takes 4 % more instructions, and its bytes are read from the store.
#ifndef CELLFS_FS_NODES_LAST_PUT_H_
#define CELLFS_FS_NODES_LAST_PUT_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/cell.h"
#include "fs/nodes/node.h"

namespace cellfs::fs {

// Thread-safe; its mutex is a leaf.
class LastPut {
 public:
  static constexpr size_t kMaxBytes = size_t{256} << 10;

  // `generation` is the node's after the put.
  void Keep(const NodePtr& node, uint64_t generation, std::string bytes) {
    std::lock_guard lock(mutex_);
    node_ = node;
    generation_ = generation;
    bytes_.swap(bytes);
  }

  // What a read of the node's column would return, from here on no more; nullopt where that is not
  // known, or a TTL may have ended it.
  std::optional<Cell> Take(const Node& node) {
    const auto known = node.cached_cell();
    std::lock_guard lock(mutex_);
    if (!known || known->expires) return std::nullopt;
    if (node_.lock().get() != &node || generation_ != node.generation()) return std::nullopt;
    node_.reset();
    Cell cell;
    cell.timestamp = known->version;
    cell.value = std::exchange(bytes_, {});
    cell.value_length = cell.value.size();
    return cell;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<const Node> node_;  // guarded by mutex_, as are the others
  uint64_t generation_ = 0;
  std::string bytes_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_LAST_PUT_H_
