// SPDX-License-Identifier: MIT
//
// CachedCell: what is cached of the cell that a column shows, or of the first one in a directory,
// from when it was read or put until it may have changed. Valid only when the store checks no
// rights.
#ifndef CELLFS_FS_NODES_CACHED_CELL_H_
#define CELLFS_FS_NODES_CACHED_CELL_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/cell.h"

namespace cellfs::fs {

struct CachedCell {
  Timestamp version = 0;
  uint64_t size = 0;
  std::optional<Timestamp> expires;  // when a TTL may end it
  bool alone = false;  // the column has no other version and no tombstone, as far as is known
};

// One of them or none; its owner guards it. Most columns never have one.
class CellCache {
 public:
  void Keep(const CachedCell& cell, uint64_t looked_at) {
    if (kept_ == nullptr) kept_ = std::make_unique<Kept>();
    *kept_ = {cell, looked_at};
  }
  // The memory stays for the next one, which mostly comes at once.
  void Drop() {
    if (kept_ != nullptr) kept_->cell.reset();
  }
  std::optional<CachedCell> cell() const {
    return kept_ == nullptr ? std::nullopt : kept_->cell;
  }
  // The same, unless anything at all has changed since it was looked at: `newest` is then higher.
  std::optional<CachedCell> CellAsOf(uint64_t newest) const {
    return kept_ == nullptr || newest > kept_->looked_at ? std::nullopt : kept_->cell;
  }

 private:
  struct Kept {
    std::optional<CachedCell> cell;
    uint64_t looked_at = 0;
  };
  std::unique_ptr<Kept> kept_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_NODES_CACHED_CELL_H_
