// SPDX-License-Identifier: MIT
//
// Callers: who asks, as the store's rights name him.
#ifndef CELLFS_FS_REQUESTS_CALLERS_H_
#define CELLFS_FS_REQUESTS_CALLERS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>

#include "engine/caller.h"

namespace cellfs::fs {

// Thread-safe.
class Callers {
 public:
  // Where the store checks no rights all are the superuser.
  explicit Callers(bool authorization) : authorization_(authorization) {}

  // By the user's name, or his number where he has none. Good as long as this lives.
  const Caller& Of(uid_t uid);

 private:
  const bool authorization_;
  std::mutex mutex_;
  std::map<uid_t, std::unique_ptr<Caller>> callers_;  // guarded by mutex_
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_REQUESTS_CALLERS_H_
