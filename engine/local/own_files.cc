// SPDX-License-Identifier: MIT
#include "engine/local/own_files.h"

#include <sys/stat.h>

#include <utility>

namespace cellfs {

OwnFiles::OwnFiles(FileLayer& files, std::string directory)
    : files_(files), directory_(std::move(directory)) {
  struct stat found {};
  if (stat(directory_.c_str(), &found) != 0) return;
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

Status OwnFiles::CheckIsInPlace() const {
  struct stat found {};
  const bool is_there = stat(directory_.c_str(), &found) == 0;
  if (inode_ == 0 || (is_there && found.st_dev == device_ && found.st_ino == inode_)) return {};
  return {StatusCode::kIoError,
          "'" + directory_ + "' is not the store's directory any more: that was moved, or another " +
              "put in its place, and nothing is written there; unmount, and mount it where it is " +
              "now: what was acknowledged is in its log"};
}

StatusOr<std::unique_ptr<AppendFile>> OwnFiles::OpenForAppend(const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckIsInPlace());
  return files_.OpenForAppend(path);
}

Status OwnFiles::Rename(const std::string& from, const std::string& to) {
  CELLFS_RETURN_IF_ERROR(CheckIsInPlace());
  return files_.Rename(from, to);
}

Status OwnFiles::Remove(const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckIsInPlace());
  return files_.Remove(path);
}

void OwnFiles::RemoveTree(const std::string& path) {
  if (CheckIsInPlace().ok()) files_.RemoveTree(path);
}

Status OwnFiles::MakeDirectory(const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckIsInPlace());
  return files_.MakeDirectory(path);
}

uint64_t OwnFiles::Hold(const std::string& path, uint64_t bytes) {
  return CheckIsInPlace().ok() ? files_.Hold(path, bytes) : 0;
}

}  // namespace cellfs
