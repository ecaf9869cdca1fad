// SPDX-License-Identifier: MIT
//
// NotedControls: those of a store, and what was set by them, for who shows what is in force.
#ifndef CELLFS_SRC_DAEMON_NOTED_CONTROLS_H_
#define CELLFS_SRC_DAEMON_NOTED_CONTROLS_H_

#include <atomic>
#include <cstdint>

#include "engine/controlled_store.h"

namespace cellfs {

// As thread-safe as they are; they outlive it.
class NotedControls : public StoreControls {
 public:
  // `cache_bytes`: what the store was opened with.
  NotedControls(StoreControls& controls, int64_t cache_bytes)
      : controls_(controls), cache_bytes_(cache_bytes) {}

  void SetMaintenancePaused(bool paused) override { controls_.SetMaintenancePaused(paused); }
  Status CompactSelected(const Caller& caller, const TableName& table) override {
    return controls_.CompactSelected(caller, table);
  }
  void SetCacheBytes(int64_t bytes) override {
    controls_.SetCacheBytes(bytes);
    cache_bytes_ = bytes;
  }
  void SetRewriteObserver(RewriteObserver* observer) override {
    controls_.SetRewriteObserver(observer);
  }

  int64_t cache_bytes() const { return cache_bytes_; }

 private:
  StoreControls& controls_;
  std::atomic<int64_t> cache_bytes_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_DAEMON_NOTED_CONTROLS_H_
