// SPDX-License-Identifier: MIT
#include "engine/clock.h"

#include <chrono>

namespace cellfs {

Timestamp SystemClock::Now() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

int64_t SystemClock::Elapsed() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace cellfs
