// SPDX-License-Identifier: MIT
#include "engine/local/moment_registry.h"

#include <algorithm>

namespace cellfs {

std::shared_ptr<const Moment> MomentRegistry::Pin(const std::atomic<SequenceId>& read_point,
                                                  Timestamp now) {
  auto* const moment = new Moment;
  std::shared_ptr<const Moment> pin(moment, [registry = shared_from_this()](const Moment* gone) {
    {
      const std::lock_guard lock(registry->mutex_);
      const auto [first, last] = registry->pinned_.equal_range(gone);
      if (const auto found = std::find(first, last, gone); found != last) {
        registry->pinned_.erase(found);
      }
    }
    delete gone;
  });
  const std::lock_guard lock(mutex_);
  moment->sequence_id = read_point.load();
  moment->now = now;
  pinned_.insert(moment);
  return pin;
}

SequenceId MomentRegistry::Newest(const std::unique_lock<std::mutex>& /*held*/) const {
  SequenceId newest = 0;
  for (const Moment* moment : pinned_) newest = std::max(newest, moment->sequence_id);
  return newest;
}

uint32_t MomentRegistry::Count() {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(pinned_.size());
}

Timestamp MomentRegistry::OldestNow(Timestamp otherwise) {
  const std::lock_guard lock(mutex_);
  return pinned_.empty() ? otherwise : (*pinned_.begin())->now;
}

}  // namespace cellfs
