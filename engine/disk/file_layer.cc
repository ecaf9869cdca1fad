// SPDX-License-Identifier: MIT
#include "engine/disk/file_layer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/descriptor.h"
#include "engine/disk/full_disk.h"

namespace cellfs {
namespace {

class PosixAppendFile : public AppendFile {
 public:
  PosixAppendFile(std::string path, int descriptor, uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), end_(size), reserved_(size) {}

  Status Append(std::string_view bytes) override {
    CELLFS_RETURN_IF_ERROR(WriteAt(end_, bytes));
    end_ += bytes.size();
    reserved_ = std::max(reserved_, end_);
    return {};
  }

  Status Sync() override {
    if (::fdatasync(descriptor_.get()) != 0) return ErrnoStatus("sync", path_, errno);
    return {};
  }

  Status Truncate(uint64_t size) override {
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(size)) != 0)
      return ErrnoStatus("truncate", path_, errno);
    end_ = reserved_ = size;
    return {};
  }

  Status Reserve(uint64_t size) override {
    if (size <= reserved_) return {};
    CELLFS_RETURN_IF_ERROR(WriteAt(reserved_, std::string(size - reserved_, '\0')));
    reserved_ = size;
    return {};
  }

 private:
  Status WriteAt(uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written =
          ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoStatus("write to", path_, errno);
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
    return {};
  }

  const std::string path_;
  const Descriptor descriptor_;
  uint64_t end_;
  uint64_t reserved_;  // the file's length
};

class PosixFileLayer : public FileLayer {
 public:
  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) override {
    // Whoever made the store could have a link lead anywhere.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return ErrnoStatus("open", path, errno);
    struct stat status;
    if (::fstat(descriptor, &status) != 0) {
      const int error = errno;
      ::close(descriptor);
      return ErrnoStatus("look at", path, error);
    }
    return std::unique_ptr<AppendFile>(
        std::make_unique<PosixAppendFile>(path, descriptor, static_cast<uint64_t>(status.st_size)));
  }

  StatusOr<std::string> Read(const std::string& path) override {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.get() < 0) return ErrnoStatus("open", path, errno);
    struct stat status;
    if (::fstat(descriptor.get(), &status) != 0) return ErrnoStatus("look at", path, errno);
    std::string bytes(static_cast<size_t>(status.st_size), '\0');
    size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = ::read(descriptor.get(), bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus("read", path, errno);
      if (got == 0) break;
      filled += static_cast<size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
  }

  StatusOr<bool> Exists(const std::string& path) override {
    struct stat status;
    if (::lstat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return ErrnoStatus("look at", path, errno);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus("rename", from, errno);
    return {};
  }

  Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return ErrnoStatus("remove", path, errno);
    return {};
  }

  void RemoveTree(const std::string& path) override {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  void StartSync(const std::string& path) override {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (descriptor.get() >= 0) (void)::sync_file_range(descriptor.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }

  StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
    if (stream == nullptr) return ErrnoStatus("list", directory, errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return ErrnoStatus("list", directory, errno);
    std::sort(names.begin(), names.end());
    return names;
  }

  Status MakeDirectory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return ErrnoStatus("make directory", path, errno);
    return {};
  }

  Status SyncDirectory(const std::string& path) override {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.get() < 0) return ErrnoStatus("open", path, errno);
    if (::fsync(descriptor.get()) != 0) return ErrnoStatus("sync", path, errno);
    return {};
  }

  // posix_fallocate writes where a file system knows nothing of blocks taken ahead.
  uint64_t Hold(const std::string& path, uint64_t bytes) override {
    if (bytes == 0) {
      ::unlink(path.c_str());
      return 0;
    }
    const Descriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) return 0;
    struct stat found {};
    uint64_t size = ::fstat(file.get(), &found) == 0 ? static_cast<uint64_t>(found.st_size) : 0;
    if (bytes < size) {
      if (::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0) size = bytes;
    } else if (::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) == 0) {
      size = bytes;
    } else if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
      size = 0;  // it may have holes: it counts for nothing
    }
    return size;
  }

  StatusOr<StoreLock> Lock(const std::string& directory) override {
    return LockToChange(directory);
  }
};

class NoAppendFile : public AppendFile {
 public:
  Status Append(std::string_view /*bytes*/) override { return {}; }
  Status Sync() override { return {}; }
  Status Truncate(uint64_t /*size*/) override { return {}; }
  Status Reserve(uint64_t /*size*/) override { return {}; }
};

class UnchangedFileLayer : public PosixFileLayer {
 public:
  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& /*path*/) override {
    return std::unique_ptr<AppendFile>(std::make_unique<NoAppendFile>());
  }
  Status Rename(const std::string& /*from*/, const std::string& /*to*/) override { return {}; }
  Status Remove(const std::string& /*path*/) override { return {}; }
  void RemoveTree(const std::string& /*path*/) override {}
  Status MakeDirectory(const std::string& /*path*/) override { return {}; }
  void StartSync(const std::string& /*path*/) override {}
  Status SyncDirectory(const std::string& /*path*/) override { return {}; }
  uint64_t Hold(const std::string& /*path*/, uint64_t bytes) override { return bytes; }
  StatusOr<StoreLock> Lock(const std::string& directory) override {
    return LockToRead(directory);
  }
};

}  // namespace

FileLayer& PosixFiles() {
  static PosixFileLayer files;
  return files;
}

FileLayer& UnchangedFiles() {
  static UnchangedFileLayer files;
  return files;
}

Status ReplaceFile(FileLayer& files, const std::string& directory, const std::string& name,
                   std::string_view bytes) {
  const std::string path = directory + "/" + name;
  const std::string temporary = path + ".new";
  {
    CELLFS_ASSIGN_OR_RETURN(const auto file, files.OpenForAppend(temporary));
    CELLFS_RETURN_IF_ERROR(file->Truncate(0));  // what an earlier attempt may have left
    CELLFS_RETURN_IF_ERROR(file->Append(bytes));
    CELLFS_RETURN_IF_ERROR(file->Sync());
  }
  CELLFS_RETURN_IF_ERROR(files.Rename(temporary, path));
  const Status synced = files.SyncDirectory(directory);
  return synced.ok() ? Status() : Status(StatusCode::kOutcomeUnknown, synced.message());
}

Status ErrnoStatus(std::string_view act, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return {full ? StatusCode::kStoreFull : StatusCode::kIoError,
          "cannot " + std::string(act) + " '" + path + "': " +
              std::generic_category().message(error) + " (errno " + std::to_string(error) + ")" +
              (full ? "; " + RemedyOfFullDisk(path) : "")};
}

}  // namespace cellfs
