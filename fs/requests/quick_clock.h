// SPDX-License-Identifier: MIT
//
// QuickClock: for how long something took, where asking the system for the time would be felt: the
// processor's own counter, a few instructions. Of processors with none that is known it is the
// system's.
#ifndef CELLFS_FS_REQUESTS_QUICK_CLOCK_H_
#define CELLFS_FS_REQUESTS_QUICK_CLOCK_H_

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <chrono>
#include <cstdint>

namespace cellfs::fs {

// Thread-safe, but for Calibrate.
class QuickClock {
 public:
  static uint64_t Ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return SystemTime();
#endif
  }
  // Negative where a processor's counter lags behind that of the one before.
  int64_t Nanoseconds(uint64_t begin, uint64_t end) const {
    return static_cast<int64_t>(Wide{static_cast<int64_t>(end - begin)} * scale_ >> kScaleBits);
  }
  uint64_t TicksIn(std::chrono::nanoseconds time) const {
    return static_cast<uint64_t>((Wide{time.count()} << kScaleBits) / scale_);
  }

  // Compares with the system's clock, over the time since this was made, of which a millisecond is
  // enough. Before it, a tick counts as a nanosecond.
  void Calibrate() {
    uint64_t time = SystemTime();
    while (time - begun_ < kLongEnough) time = SystemTime();
    const auto ticks = static_cast<int64_t>(Ticks() - ticks_begun_);
    if (ticks <= 0) return;
    const auto scale = static_cast<int64_t>(
        (Wide{static_cast<int64_t>(time - begun_)} << kScaleBits) / ticks);
    if (scale > 0) scale_ = scale;
  }

 private:
  __extension__ using Wide = __int128;
  static constexpr unsigned kScaleBits = 32;
  static constexpr uint64_t kLongEnough = 1'000'000;  // ns

  static uint64_t SystemTime() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }

  const uint64_t begun_ = SystemTime();
  const uint64_t ticks_begun_ = Ticks();
  int64_t scale_ = int64_t{1} << kScaleBits;  // nanoseconds of a tick
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_QUICK_CLOCK_H_
