// SPDX-License-Identifier: MIT
#include "engine/clock.h"

#include <chrono>

namespace cellfs {

Timestamp SystemClock::Now() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace cellfs
