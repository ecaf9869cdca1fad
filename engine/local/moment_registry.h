// SPDX-License-Identifier: MIT
//
// MomentRegistry: the moments that readers have pinned. What would take something away from them (a
// flush, a compaction, a withdrawal) looks here, and holds off new pins until its result is in
// force.
#ifndef CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_
#define CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "engine/read.h"

namespace cellfs {

// Thread-safe. A pinned moment keeps the registry alive.
class MomentRegistry : public std::enable_shared_from_this<MomentRegistry> {
 public:
  // The moment of the present `read_point`.
  std::shared_ptr<const Moment> Pin(const std::atomic<SequenceId>& read_point, Timestamp now);

  // While held, the set of pins cannot change.
  std::unique_lock<std::mutex> HoldOff() { return std::unique_lock(mutex_); }
  bool AnyPinned(const std::unique_lock<std::mutex>& /*held*/) const { return !pinned_.empty(); }
  // REQUIRES: AnyPinned.
  SequenceId Newest(const std::unique_lock<std::mutex>& /*held*/) const;

  bool AnyPinned() { return AnyPinned(HoldOff()); }
  uint32_t Count();
  Timestamp OldestNow(Timestamp otherwise);  // of the moments, the earliest `now`

 private:
  struct Earlier {
    bool operator()(const Moment* a, const Moment* b) const { return a->now < b->now; }
  };

  std::mutex mutex_;
  std::multiset<const Moment*, Earlier> pinned_;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_MOMENT_REGISTRY_H_
