// SPDX-License-Identifier: MIT
#include "engine/durations.h"

#include <cmath>

namespace cellfs {

uint64_t DurationFigures::Count() const {
  uint64_t count = 0;
  for (const uint64_t bucket : buckets) count += bucket;
  return count;
}

// Within a bucket they are taken to lie evenly.
uint64_t DurationFigures::Quantile(double part) const {
  const double wanted = part * static_cast<double>(Count());
  double below = 0;
  for (size_t n = 0; n < kBuckets; ++n) {
    const auto here = static_cast<double>(buckets[n]);
    if (here != 0 && below + here >= wanted) {
      const double begin = n == 0 ? 0 : std::exp2(static_cast<double>(n));
      const double end = std::exp2(static_cast<double>(n + 1));
      return static_cast<uint64_t>(begin + (end - begin) * (wanted - below) / here);
    }
    below += here;
  }
  return 0;
}

DurationFigures Durations::Figures() const {
  DurationFigures figures;
  figures.nanoseconds = nanoseconds_.load(std::memory_order_relaxed);
  for (size_t n = 0; n < DurationFigures::kBuckets; ++n)
    figures.buckets[n] = buckets_[n].load(std::memory_order_relaxed);
  return figures;
}

}  // namespace cellfs
