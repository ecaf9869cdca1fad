// SPDX-License-Identifier: MIT
//
// OwnFiles: the files of a store's directory, reached by its path as long as that leads to the
// directory that was opened. Where it was moved, or another put in its place (a backup, while a
// daemon still ends), nothing is made, renamed or removed there: it would be another store's. What
// is open already goes on.
#ifndef CELLFS_ENGINE_LOCAL_OWN_FILES_H_
#define CELLFS_ENGINE_LOCAL_OWN_FILES_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/disk/file_layer.h"

namespace cellfs {

// Thread-safe.
class OwnFiles : public FileLayer {
 public:
  // The directory exists. `files` outlives this.
  OwnFiles(FileLayer& files, std::string directory);

  // kIoError, with what helps.
  Status CheckIsInPlace() const override;

  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) override;
  StatusOr<std::string> Read(const std::string& path) override { return files_.Read(path); }
  StatusOr<bool> Exists(const std::string& path) override { return files_.Exists(path); }
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  void RemoveTree(const std::string& path) override;
  StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return files_.List(directory);
  }
  Status MakeDirectory(const std::string& path) override;
  void StartSync(const std::string& path) override { files_.StartSync(path); }
  Status SyncDirectory(const std::string& path) override { return files_.SyncDirectory(path); }
  uint64_t Hold(const std::string& path, uint64_t bytes) override;
  StatusOr<StoreLock> Lock(const std::string& directory) override {
    return files_.Lock(directory);
  }

 private:
  FileLayer& files_;
  const std::string directory_;
  dev_t device_ = 0;
  ino_t inode_ = 0;  // 0: it is not known
};

}  // namespace cellfs

#endif  // CELLFS_ENGINE_LOCAL_OWN_FILES_H_
