// SPDX-License-Identifier: MIT
#include "engine/disk/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "engine/disk/file_layer.h"

namespace cellfs {
namespace {

constexpr std::string_view kUnknown = "(unknown)";

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
  return std::string(holder.empty() ? kUnknown : holder);
}

// Who only reads notes nothing; the kernel tells of him, where it calls the file's device as
// stat(2) does: "1: FLOCK  ADVISORY  READ 17 fe:00:398607 0 EOF".
std::string ReaderUnder(const Descriptor& lock) {
  struct stat found {};
  if (::fstat(lock.get(), &found) != 0) return std::string(kUnknown);
  char file[48];
  std::snprintf(file, sizeof(file), "%02x:%02x:%llu", major(found.st_dev), minor(found.st_dev),
                static_cast<unsigned long long>(found.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, process, of;
    words >> number >> kind >> advisory >> access >> process >> of;
    if (kind == "FLOCK" && of == file) return process;
  }
  return std::string(kUnknown);
}

struct Holder {
  std::string process;
  bool only_reads = false;
};

// What is noted is of who changed the store last: one who reads it has noted nothing.
std::optional<std::string> WriterUnder(const Descriptor& lock) {
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) return NotedIn(lock);
  return std::nullopt;
}

std::optional<Holder> HolderOf(const Descriptor& lock) {
  if (auto writer = WriterUnder(lock)) return Holder{*std::move(writer)};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  ::flock(lock.get(), LOCK_UN);  // or the kernel tells of us
  return Holder{ReaderUnder(lock), true};
}

Status InUse(const std::string& path, const Holder& holder) {
  const std::string by =
      holder.process == kUnknown ? "another process" : "process " + holder.process;
  return {StatusCode::kUnavailable, "store '" + path + "' is in use by " + by +
                                        (holder.only_reads ? ", which only reads it" : "")};
}

Status Refused(const std::string& path, const Descriptor& lock) {
  if (errno != EWOULDBLOCK) return ErrnoStatus("lock", path, errno);
  return InUse(path, HolderOf(lock).value_or(Holder{std::string(kUnknown)}));
}

}  // namespace

StatusOr<Descriptor> LockToChange(const std::string& path) {
  const std::string file = FileOf(path);
  Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (lock.get() < 0 && errno == EROFS) {
    return Status(StatusCode::kReadOnly,
                  "store '" + path + "' is on a file system that is read-only; 'mount -o ro' and "
                  "the commands that change nothing read it");
  }
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
  const auto holder = lock.get() < 0 ? std::nullopt : HolderOf(lock);
  return holder ? std::optional(holder->process) : std::nullopt;
}

Status CheckIsUnlocked(const std::string& path) {
  const Descriptor lock = OpenToRead(path);
  const auto holder = lock.get() < 0 ? std::nullopt : HolderOf(lock);
  return holder ? InUse(path, *holder) : Status();
}

std::optional<std::string> WriterUnderLock(const std::string& path) {
  const Descriptor lock = OpenToRead(path);
  return lock.get() < 0 ? std::nullopt : WriterUnder(lock);
}

}  // namespace cellfs
