// SPDX-License-Identifier: MIT
#include "engine/disk/private_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "engine/descriptor.h"
#include "engine/disk/file_layer.h"
#include "engine/status_or.h"

namespace cellfs {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr const char* kFiles[] = {"FORMAT", "FORMAT.new", "CATALOG", "CATALOG.new",
                                "EDITS",  "EDITS.new",  "LOCK"};
// With how many levels of directories each is: those of tables are below `tables` and `lost`.
constexpr std::pair<const char*, int> kDirectories[] = {{"tables", 2}, {"wal", 1}, {"lost", 2}};

Descriptor OpenIn(int parent, const char* name, int flags) {
  return Descriptor(::openat(parent, name, O_DIRECTORY | O_CLOEXEC | flags));
}

Status Refuse(const std::string& path, const std::string& why) {
  return {StatusCode::kAccessDenied, "'" + path + "' " + why};
}

Status CheckOwnerAndMode(const std::string& path, const struct stat& found) {
  if (found.st_uid != ::geteuid())
    return Refuse(path, "belongs to user " + std::to_string(found.st_uid) +
                            "; run this as that user, or chown the whole store");
  if ((found.st_mode & kOthersWrite) != 0)
    return Refuse(path,
                  "can be written to by others; make sure that nobody has changed it, then "
                  "chmod go-w it");
  return {};
}

Status CheckKind(const std::string& path, const struct stat& found, mode_t kind) {
  if (S_ISLNK(found.st_mode))
    return Refuse(path,
                  "is a symbolic link, which a store may not have; put there what it leads "
                  "to, if that is yours");
  if ((found.st_mode & S_IFMT) != kind)
    return Refuse(path, kind == S_IFDIR ? "is no directory" : "is no plain file");
  return {};
}

// One that is missing, or that the disk cannot read, is for others to miss: it costs its table, not
// the store.
bool MayBeMissed(int error) { return error == ENOENT || error == EIO; }

Status CheckEntry(const Descriptor& parent, const std::string& parent_path, const char* name,
                  mode_t kind) {
  const std::string path = parent_path + "/" + name;
  struct stat found {};
  if (::fstatat(parent.get(), name, &found, AT_SYMLINK_NOFOLLOW) != 0)
    return MayBeMissed(errno) ? Status() : ErrnoStatus("look at", path, errno);
  CELLFS_RETURN_IF_ERROR(CheckKind(path, found, kind));
  return CheckOwnerAndMode(path, found);
}

Status CheckTree(const Descriptor& parent, const std::string& parent_path, const char* name,
                 int levels);

// What lies in a directory, of `levels` levels of directories: files at the lowest.
Status CheckEntries(const Descriptor& directory, const std::string& path, int levels) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(
      ::fdopendir(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0)), ::closedir);
  if (stream == nullptr) return ErrnoStatus("list", path, errno);
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    CELLFS_RETURN_IF_ERROR(levels == 1 ? CheckEntry(directory, path, name.c_str(), S_IFREG)
                                       : CheckTree(directory, path, name.c_str(), levels - 1));
  }
  return {};
}

Status CheckTree(const Descriptor& parent, const std::string& parent_path, const char* name,
                 int levels) {
  CELLFS_RETURN_IF_ERROR(CheckEntry(parent, parent_path, name, S_IFDIR));
  const std::string path = parent_path + "/" + name;
  const Descriptor directory = OpenIn(parent.get(), name, O_RDONLY | O_NOFOLLOW);
  if (directory.get() < 0) return MayBeMissed(errno) ? Status() : ErrnoStatus("open", path, errno);
  return CheckEntries(directory, path, levels);
}

std::string NameOf(const Descriptor& directory) {
  char name[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(directory.get());
  const ssize_t length = ::readlink(link.c_str(), name, sizeof name);
  return length < 0 ? "a directory above" : std::string(name, static_cast<size_t>(length));
}

// Whoever is let into a group is trusted not to move what lies there: home directories are like
// that. In a sticky directory, as /tmp, others cannot.
Status CheckCannotBeReplaced(const Descriptor& store, const std::string& store_path) {
  struct stat below {};
  if (::fstat(store.get(), &below) != 0) return ErrnoStatus("look at", store_path, errno);
  Descriptor directory = OpenIn(store.get(), "..", O_PATH);
  while (directory.get() >= 0) {
    struct stat found {};
    if (::fstat(directory.get(), &found) != 0) return ErrnoStatus("look at", store_path, errno);
    if (found.st_dev == below.st_dev && found.st_ino == below.st_ino) return {};
    if ((found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0)
      return Refuse(NameOf(directory),
                    "can be written to by everybody, who could replace the "
                    "store '" +
                        store_path + "' in it; chmod o-w it");
    below = found;
    directory = OpenIn(directory.get(), "..", O_PATH);
  }
  return {};
}

}  // namespace

Status MakePrivate(const std::string& path) {
  const Descriptor directory = OpenIn(AT_FDCWD, path.c_str(), O_RDONLY);
  struct stat found {};
  if (directory.get() < 0 || ::fstat(directory.get(), &found) != 0)
    return ErrnoStatus("look at", path, errno);
  if (found.st_uid != ::geteuid() || (found.st_mode & 0777) == S_IRWXU) return {};
  if (::fchmod(directory.get(), (found.st_mode & 07000) | S_IRWXU) != 0)
    return ErrnoStatus("set the mode of", path, errno);
  return {};
}

Status CheckIsPrivate(const std::string& path) {
  const Descriptor store = OpenIn(AT_FDCWD, path.c_str(), O_RDONLY);
  struct stat found {};
  if (store.get() < 0 || ::fstat(store.get(), &found) != 0)
    return ErrnoStatus("look at", path, errno);
  CELLFS_RETURN_IF_ERROR(CheckOwnerAndMode(path, found));
  CELLFS_RETURN_IF_ERROR(CheckCannotBeReplaced(store, path));
  for (const char* file : kFiles) CELLFS_RETURN_IF_ERROR(CheckEntry(store, path, file, S_IFREG));
  for (const auto& [name, levels] : kDirectories)
    CELLFS_RETURN_IF_ERROR(CheckTree(store, path, name, levels));
  return {};
}

}  // namespace cellfs
