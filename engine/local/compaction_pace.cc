// SPDX-License-Identifier: MIT
#include "engine/local/compaction_pace.h"

#include <algorithm>
#include <utility>

namespace cellfs {

int64_t CompactionPace::RateAt(uint64_t reads, Time now) {
  if (std::exchange(seen_reads_, reads) != reads) readers_until_ = now + kReadersStay;
  if (now >= readers_until_) return rate_;
  return rate_ == 0 ? kRateBesideReaders : std::min(rate_, kRateBesideReaders);
}

std::chrono::nanoseconds CompactionPace::Take(uint64_t bytes, uint64_t reads, Time now) {
  const std::lock_guard lock(mutex_);
  const int64_t rate = RateAt(reads, now);
  if (rate == 0) return {};
  const std::chrono::duration<double> takes(static_cast<double>(bytes) /
                                            static_cast<double>(rate));
  const Time from = std::max(now, free_from_);
  free_from_ = from + std::chrono::duration_cast<std::chrono::nanoseconds>(takes);
  return from - now;
}

}  // namespace cellfs
