// SPDX-License-Identifier: MIT
//
// Attempts: how one kind of background work on one table, or family, went: after an error the next
// try waits, twice as long each time, up to a minute. So one damaged page, or a full disk, does not
// keep the machine busy for nothing. Times are Clock::Elapsed.
#ifndef CELLFS_ENGINE_LOCAL_ATTEMPTS_H_
#define CELLFS_ENGINE_LOCAL_ATTEMPTS_H_

#include <cstdint>
#include <mutex>

#include "engine/status.h"

namespace cellfs {

// Thread-safe.
class Attempts {
 public:
  static constexpr int64_t kFirstPause = 1000;  // milliseconds
  static constexpr int64_t kLongestPause = 60000;

  // Whether the background may try it now; whoever is asked by a person need not wait.
  bool MayTry(int64_t now) const;
  // Every try ends here, also one that somebody has asked for.
  void Ended(const Status& status, int64_t now);
  // Of the last try; OK: it went well, or there was none.
  Status last() const;
  // Until the background may try it again; 0: now.
  int64_t PauseLeft(int64_t now) const;

 private:
  mutable std::mutex mutex_;
  Status last_;
  int64_t pause_ = 0;
  int64_t next_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_ATTEMPTS_H_
