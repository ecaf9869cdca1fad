// SPDX-License-Identifier: MIT
//
// LineRate: how many lines each user may bring into a log that keeps all of them. Whoever may use a
// mount can fail as often as he likes, and a log that takes a line each time fills the disk.
#ifndef CELLFS_FS_BASE_LINE_RATE_H_
#define CELLFS_FS_BASE_LINE_RATE_H_

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "engine/cell.h"

namespace cellfs::fs {

// Not thread-safe.
class LineRate {
 public:
  // A user has so many at once,
  static constexpr int64_t kAtOnce = 200;
  // and one more each time as much has gone by.
  static constexpr Timestamp kPause = 10'000;

  struct Turn {
    bool may_write = false;
    bool is_last = false;   // the user's next one, at this time, may not be written
    uint64_t left_out = 0;  // of the user, since the last that was written
  };
  Turn Take(uid_t user, Timestamp now);

 private:
  // Beyond them others wait until one of them has been quiet: user namespaces have many ids.
  static constexpr size_t kUsers = 1000;
  struct User {
    int64_t left = kAtOnce;
    Timestamp counted = 0;  // up to when pauses have been added
    uint64_t left_out = 0;
  };

  User* Find(uid_t user, Timestamp now);
  static void AddPauses(User& user, Timestamp now);

  std::map<uid_t, User> users_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_BASE_LINE_RATE_H_
