// SPDX-License-Identifier: MIT
#include "src/mount/new_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace cellfs {
namespace {

bool IsThere(const std::string& path) {
  struct stat attributes {};
  return lstat(path.c_str(), &attributes) == 0 || errno != ENOENT;
}

// Whoever opens a store notes its process id there, under the lock.
bool IsNotedAsOurs(int lock) {
  char text[24];
  const ssize_t length = pread(lock, text, sizeof text, 0);
  return length > 0 &&
         std::string_view(text, static_cast<size_t>(length)) == std::to_string(getpid()) + "\n";
}

}  // namespace

NewStore::NewStore(std::string directory)
    : directory_(std::move(directory)), was_there_(IsThere(directory_)) {}

// Under its lock, and under another name first: who opens the store in between makes a new one, of
// which nothing goes.
void NewStore::TakeAway() const {
  if (was_there_) return;
  const int lock = open((directory_ + "/LOCK").c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) {
    rmdir(directory_.c_str());  // only what is empty
    return;
  }
  if (flock(lock, LOCK_EX | LOCK_NB) == 0 && IsNotedAsOurs(lock)) {
    const std::string leaving = directory_ + ".refused." + std::to_string(getpid());
    std::error_code error;
    if (!IsThere(leaving) && rename(directory_.c_str(), leaving.c_str()) == 0) {
      std::filesystem::remove_all(leaving, error);
    }
  }
  close(lock);
}

}  // namespace cellfs
