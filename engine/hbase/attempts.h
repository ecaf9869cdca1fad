// SPDX-License-Identifier: MIT
//
// How often something is tried, and how long to wait in between: HBase's own table of pauses, a
// little of chance added, so that many clients do not come back at once.
#ifndef CELLFS_ENGINE_HBASE_ATTEMPTS_H_
#define CELLFS_ENGINE_HBASE_ATTEMPTS_H_

#include <chrono>
#include <optional>

#include "engine/remote/patience.h"
#include "engine/status.h"

namespace cellfs::hbase {

// Whether what ended so may end otherwise when it is tried again.
inline bool MayPass(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kTimedOut;
}

// False where the patience is over before that.
bool Wait(SteadyClock::duration pause, const Patience& patience);

class Attempts {
 public:
  struct Options {
    int retries = 15;                                          // hbase.client.retries.number
    SteadyClock::duration pause = std::chrono::milliseconds(100);    // hbase.client.pause
  };
  // The first attempt is being made.
  Attempts(const Options& options, const Patience& patience)
      : options_(options), patience_(patience) {}

  // Waits, for as long as it is told or else as the table says. False where no other attempt is to
  // be made: there were enough, or the patience would be over.
  bool WaitForNext(std::optional<std::chrono::milliseconds> pause = std::nullopt);
  // How the work ends whose last attempt ended so, once there is no other: kTimedOut in place of
  // kUnavailable where it was the time that did not suffice.
  Status End(Status last) const;

 private:
  const Options options_;
  const Patience patience_;
  int made_ = 0;
  bool is_out_of_time_ = false;
};

}  // namespace cellfs::hbase

#endif  // CELLFS_ENGINE_HBASE_ATTEMPTS_H_
