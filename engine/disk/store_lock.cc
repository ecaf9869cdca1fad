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

Descriptor OpenDirectory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Descriptor OpenFile(const std::string& path) {
  return Descriptor(
      ::open(FileOf(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Without what is not there, or may not be read.
StoreLock OpenToLook(const std::string& path) { return {OpenDirectory(path), OpenFile(path)}; }

std::string NotedIn(const Descriptor& lock) {
  char text[24];
  const ssize_t length = ::pread(lock.get(), text, sizeof(text), 0);
  std::string_view holder(text, length < 0 ? 0 : static_cast<size_t>(length));
  holder = holder.substr(0, holder.find('\n'));
  return std::string(holder.empty() ? kUnknown : holder);
}

// Who only reads notes nothing, and what is noted goes with a LOCK that is removed; the kernel tells
// of both, where it calls the file's device as stat(2) does:
// "1: FLOCK  ADVISORY  READ 17 fe:00:398607 0 EOF".
std::string ProcessUnder(const Descriptor& lock) {
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

bool Take(const Descriptor& lock, int operation) {
  return ::flock(lock.get(), operation | LOCK_NB) == 0;
}

// By another process. Gives up what we have of it, or the kernel would tell of us.
bool IsTaken(const Descriptor& lock, int operation) {
  if (lock.get() < 0) return false;
  if (!Take(lock, operation)) return errno == EWOULDBLOCK;
  ::flock(lock.get(), LOCK_UN);
  return false;
}

// What is noted is of who changed the store last: one who reads it has noted nothing.
std::optional<std::string> WriterUnder(const StoreLock& lock) {
  if (IsTaken(lock.file, LOCK_SH)) return NotedIn(lock.file);
  if (IsTaken(lock.directory, LOCK_SH)) return ProcessUnder(lock.directory);
  return std::nullopt;
}

std::optional<Holder> HolderOf(const StoreLock& lock) {
  if (auto writer = WriterUnder(lock)) return Holder{*std::move(writer)};
  for (const Descriptor* one : {&lock.file, &lock.directory}) {
    if (IsTaken(*one, LOCK_EX)) return Holder{ProcessUnder(*one), true};
  }
  return std::nullopt;
}

Status InUse(const std::string& path, const Holder& holder) {
  const std::string by =
      holder.process == kUnknown ? "another process" : "process " + holder.process;
  return {StatusCode::kUnavailable, "store '" + path + "' is in use by " + by +
                                        (holder.only_reads ? ", which only reads it" : "")};
}

// With what we have of the lock.
Status Refused(const std::string& path, StoreLock& lock) {
  if (errno != EWOULDBLOCK) return ErrnoStatus("lock", path, errno);
  if (lock.file.get() < 0) lock.file = OpenFile(path);
  return InUse(path, HolderOf(lock).value_or(Holder{std::string(kUnknown)}));
}

// Where that fails (a full disk) others are told "(unknown)"; the store can still be read.
void NoteOurselves(const Descriptor& file) {
  const std::string holder = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), holder.data(), holder.size(), 0) < 0)
    return;
}

}  // namespace

// The directory first: who is refused makes no LOCK.
StatusOr<StoreLock> LockToChange(const std::string& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 && errno == EROFS) {
    return Status(StatusCode::kReadOnly,
                  "store '" + path + "' is on a file system that is read-only; 'mount -o ro' and "
                  "the commands that change nothing read it");
  }
  StoreLock lock;
  lock.directory = OpenDirectory(path);
  if (lock.directory.get() < 0) return ErrnoStatus("open", path, errno);
  if (!Take(lock.directory, LOCK_EX)) return Refused(path, lock);
  const std::string file = FileOf(path);
  lock.file = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (lock.file.get() < 0) return ErrnoStatus("open", file, errno);
  if (!Take(lock.file, LOCK_EX)) return Refused(path, lock);
  NoteOurselves(lock.file);
  return lock;
}

StatusOr<StoreLock> LockToRead(const std::string& path) {
  StoreLock lock;
  lock.directory = OpenDirectory(path);
  if (lock.directory.get() < 0) return ErrnoStatus("open", path, errno);
  if (!Take(lock.directory, LOCK_SH)) return Refused(path, lock);
  lock.file = OpenFile(path);
  if (lock.file.get() < 0 && errno != ENOENT) return ErrnoStatus("open", FileOf(path), errno);
  if (lock.file.get() >= 0 && !Take(lock.file, LOCK_SH)) return Refused(path, lock);
  return lock;
}

std::optional<std::string> HolderOfLock(const std::string& path) {
  const auto holder = HolderOf(OpenToLook(path));
  return holder ? std::optional(holder->process) : std::nullopt;
}

Status CheckIsUnlocked(const std::string& path) {
  const auto holder = HolderOf(OpenToLook(path));
  return holder ? InUse(path, *holder) : Status();
}

std::optional<std::string> WriterUnderLock(const std::string& path) {
  return WriterUnder(OpenToLook(path));
}

}  // namespace cellfs
