// SPDX-License-Identifier: MIT
#include "engine/local/write_pace.h"

#include <algorithm>
#include <cmath>

namespace cellfs {
namespace {

// Bytes a second where slowing begins: about what flushes, and compactions, write.
constexpr double kRateOfFlushes = 512 << 20;
constexpr double kRateOfCompactions = 128 << 20;
constexpr double kLeastRate = 1 << 20;
// So often the rate is halved until memory is full; and each time that so many flush sizes more wait.
constexpr double kHalvings = 8;
constexpr double kFlushesOfHalving = 8;

// 0: any.
double RateAt(const WriteBacklog& backlog) {
  const double part = (backlog.memory - WritePace::kSlowFrom) / (1 - WritePace::kSlowFrom);
  double rate = 0;
  if (part > 0) rate = kRateOfFlushes * std::exp2(-kHalvings * std::min(part, 1.0));
  if (backlog.files > 0) {
    const double of_files = kRateOfCompactions * std::exp2(-backlog.files / kFlushesOfHalving);
    rate = rate == 0 ? of_files : std::min(rate, of_files);
  }
  return rate == 0 ? 0 : std::max(rate, kLeastRate);
}

}  // namespace

std::chrono::microseconds WritePace::Take(uint64_t bytes, const WriteBacklog& backlog) {
  const double rate = RateAt(backlog);
  if (rate == 0) return {};
  const auto own = static_cast<int64_t>(static_cast<double>(bytes) / rate * 1e6);
  const int64_t owed = owed_.fetch_add(own, std::memory_order_relaxed) + own;
  if (owed < std::chrono::microseconds(kLeastPause).count()) return {};
  owed_.fetch_sub(owed, std::memory_order_relaxed);
  return std::min<std::chrono::microseconds>(std::chrono::microseconds(owed), kLongestPause);
}

}  // namespace cellfs
