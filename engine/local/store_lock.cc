// SPDX-License-Identifier: MIT
#include "engine/local/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "engine/local/file_layer.h"

namespace cellfs {
namespace {

std::string FileOf(const std::string& path) { return path + "/LOCK"; }

// -1: neither is there, or may be read.
Descriptor OpenToRead(const std::string& path) {
  Descriptor lock(
      ::open(FileOf(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (lock.get() >= 0 || errno != ENOENT) return lock;
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::string NotedIn(const Descriptor& lock) {
  char text[24];
  const ssize_t length = ::pread(lock.get(), text, sizeof(text), 0);
  std::string_view holder(text, length < 0 ? 0 : static_cast<size_t>(length));
  holder = holder.substr(0, holder.find('\n'));
  return std::string(holder.empty() ? "(unknown)" : holder);
}

// What is noted is of who changed the store last: one who reads it has noted nothing.
std::optional<std::string> WriterUnder(const Descriptor& lock) {
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return NotedIn(lock);
  return std::nullopt;
}

std::optional<std::string> HolderOf(const Descriptor& lock) {
  if (auto writer = WriterUnder(lock)) return writer;
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return "(unknown), which only reads it";
  return std::nullopt;
}

Status InUse(const std::string& path, const std::string& holder) {
  return {StatusCode::kUnavailable, "store '" + path + "' is in use by process " + holder};
}

Status Refused(const std::string& path, const Descriptor& lock) {
  if (errno != EWOULDBLOCK) return ErrnoStatus("lock", path, errno);
  return InUse(path, HolderOf(lock).value_or("(unknown)"));
}

}  // namespace

StatusOr<Descriptor> LockToChange(const std::string& path) {
  const std::string file = FileOf(path);
  Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (lock.get() < 0) return ErrnoStatus("open", file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Refused(path, lock);
  const std::string holder = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), holder.data(), holder.size(), 0) < 0) {
    // A full disk: the store can still be read, and others are told "(unknown)".
  }
  return lock;
}

StatusOr<Descriptor> LockToRead(const std::string& path) {
  Descriptor lock = OpenToRead(path);
  if (lock.get() < 0) return ErrnoStatus("open", FileOf(path), errno);
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return Refused(path, lock);
  return lock;
}

std::optional<std::string> HolderOfLock(const std::string& path) {
  const Descriptor lock = OpenToRead(path);
  return lock.get() < 0 ? std::nullopt : HolderOf(lock);
}

std::optional<std::string> WriterUnderLock(const std::string& path) {
  const Descriptor lock = OpenToRead(path);
  return lock.get() < 0 ? std::nullopt : WriterUnder(lock);
}

}  // namespace cellfs
