// SPDX-License-Identifier: MIT
#include "engine/local/rest_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace cellfs {

// Who opens a store makes its LOCK: without one, as in a copy, it is open nowhere.
RestLock::RestLock(const std::string& store_directory)
    : lock_(::open((store_directory + "/LOCK").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {
  at_rest_ = lock_ < 0 ? errno == ENOENT : ::flock(lock_, LOCK_SH | LOCK_NB) == 0;
}

RestLock::~RestLock() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace cellfs
