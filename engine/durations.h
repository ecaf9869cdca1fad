// SPDX-License-Identifier: MIT
//
// Durations: how often something was done, and how long it took. Counting takes two additions and
// no lock.
#ifndef CELLFS_ENGINE_DURATIONS_H_
#define CELLFS_ENGINE_DURATIONS_H_

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cellfs {

// In buckets[n] are those that took from 2^n to less than 2^(n+1) nanoseconds; in the first also
// those that took none.
struct DurationFigures {
  static constexpr size_t kBuckets = 64;

  uint64_t nanoseconds = 0;  // of all
  std::array<uint64_t, kBuckets> buckets{};

  uint64_t Count() const;
  // Within which that part of them ended, as far as the buckets tell; 0 where there were none.
  uint64_t Quantile(double part) const;
};

// Thread-safe.
class Durations {
 public:
  void Add(std::chrono::nanoseconds took) {
    const auto nanoseconds = static_cast<uint64_t>(took.count());
    const auto bucket = static_cast<size_t>(std::countl_zero(nanoseconds | 1) ^ 63);
    buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  // What the call returns; it counts also where it throws.
  template <typename Call>
  auto Time(const Call& call) {
    const Timed timed{*this};
    return call();
  }
  DurationFigures Figures() const;

 private:
  struct Timed {
    Durations& durations;
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    ~Timed() { durations.Add(std::chrono::steady_clock::now() - begin); }
  };

  std::atomic<uint64_t> nanoseconds_ = 0;
  std::array<std::atomic<uint64_t>, DurationFigures::kBuckets> buckets_{};
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_DURATIONS_H_
