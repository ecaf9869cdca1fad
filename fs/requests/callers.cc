// SPDX-License-Identifier: MIT
#include "fs/requests/callers.h"

#include <pwd.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace cellfs::fs {

// Who runs the daemon is the superuser, as who runs HBase's servers is.
const Caller& Callers::Of(uid_t uid) {
  if (!authorization_ || uid == geteuid()) return Caller::Superuser();
  const std::lock_guard lock(mutex_);
  auto& caller = callers_[uid];
  if (caller == nullptr) {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    caller = std::make_unique<Caller>(
        Caller{found != nullptr ? std::string(found->pw_name) : std::to_string(uid)});
  }
  return *caller;
}

}  // namespace cellfs::fs
