// SPDX-License-Identifier: MIT
//
// Retries: how often, and for how long, what did not happen is tried again: a write that the server
// rolled back for another's sake, a session that ended before its COMMIT arrived.
//
//     for (Retries retries(options.operation_timeout);;) {
//       auto done = act();
//       if (!DidNotHappen(done.status()) || !retries.Pause()) return done;
//     }
#ifndef CELLFS_ENGINE_OBKV_RETRIES_H_
#define CELLFS_ENGINE_OBKV_RETRIES_H_

#include <chrono>
#include <random>
#include <thread>

#include "engine/remote/patience.h"
#include "engine/status.h"
#include "engine/waiting.h"

namespace cellfs::obkv {

inline bool DidNotHappen(const Status& status) { return status.code() == StatusCode::kUnavailable; }

class Retries {
 public:
  // Of a call that may take so long: an attempt may need most of it.
  explicit Retries(std::chrono::milliseconds timeout) : patience_(Patience::For(timeout / 4)) {}

  // False: it is to be tried no more. Two that came into each other's way do not pause alike.
  bool Pause() {
    if (pause_ > kLongestPause || patience_.IsOver()) return false;
    std::uniform_int_distribution<int64_t> some(pause_.count() / 2, pause_.count());
    const Waiting waiting(Wait::kIsLong);
    std::this_thread::sleep_for(std::chrono::milliseconds(some(random_)));
    pause_ *= 2;
    return true;
  }

 private:
  static constexpr std::chrono::milliseconds kLongestPause{200};

  const Patience patience_;
  std::chrono::milliseconds pause_{4};
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace cellfs::obkv

#endif  // CELLFS_ENGINE_OBKV_RETRIES_H_
