// SPDX-License-Identifier: MIT
#ifndef CELLFS_TESTS_SUPPORT_BUSY_FILES_H_
#define CELLFS_TESTS_SUPPORT_BUSY_FILES_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/disk/file_layer.h"

namespace cellfs {

// The store's own files; something happens before one of them is read.
class BusyFiles : public FileLayer {
 public:
  void BeforeRead(std::string path, std::function<void()> act) {
    path_ = std::move(path);
    act_ = std::move(act);
  }
  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) override {
    return PosixFiles().OpenForAppend(path);
  }
  void AfterRead(std::function<void()> act) { after_ = std::move(act); }
  StatusOr<std::string> Read(const std::string& path) override {
    if (path.ends_with(path_)) std::exchange(act_, [] {})();
    auto bytes = PosixFiles().Read(path);
    std::exchange(after_, [] {})();
    return bytes;
  }
  StatusOr<bool> Exists(const std::string& path) override { return PosixFiles().Exists(path); }
  Status Rename(const std::string& from, const std::string& to) override {
    return PosixFiles().Rename(from, to);
  }
  Status Remove(const std::string& path) override { return PosixFiles().Remove(path); }
  void RemoveTree(const std::string& path) override { PosixFiles().RemoveTree(path); }
  uint64_t Hold(const std::string& path, uint64_t bytes) override {
    return PosixFiles().Hold(path, bytes);
  }
  StatusOr<StoreLock> Lock(const std::string& directory) override {
    return PosixFiles().Lock(directory);
  }
  StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return PosixFiles().List(directory);
  }
  Status MakeDirectory(const std::string& path) override {
    return PosixFiles().MakeDirectory(path);
  }
  void StartSync(const std::string& path) override { PosixFiles().StartSync(path); }
  Status SyncDirectory(const std::string& path) override {
    return PosixFiles().SyncDirectory(path);
  }

 private:
  std::string path_;
  std::function<void()> act_ = [] {};
  std::function<void()> after_ = [] {};
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_BUSY_FILES_H_
