// SPDX-License-Identifier: MIT
//
// FaultyFiles: the machine's files with faults on demand: an operation that fails, a disk that is
// full, a machine that loses power. Syncs do not reach the disk; what they would have saved is kept
// account of.
#ifndef CELLFS_TESTS_SUPPORT_FAULTY_FILES_H_
#define CELLFS_TESTS_SUPPORT_FAULTY_FILES_H_

#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "engine/disk/file_layer.h"

namespace cellfs {

// Thread-safe. Outlives the files that it opened.
class FaultyFiles : public FileLayer {
 public:
  FaultyFiles() = default;
  // With the mutex of those whom its hooks call (FaultyVfs).
  explicit FaultyFiles(std::recursive_mutex& shared) : mutex_(shared) {}

  // The nth operation from now that changes something (1: the next) fails; an append that fails
  // writes half of its bytes. 0: none fails.
  void FailNth(int n, StatusCode code = StatusCode::kIoError);
  bool failed() const;  // since FailNth
  // Appends beyond these many further bytes end with kStoreFull, the part that had room written.
  void SetRoom(uint64_t bytes);
  void SetSyncsFail(bool fail);
  // Called at the begin of every Sync of a file, by the thread that asked for it.
  void SetSyncHook(std::function<void()> hook);
  // Asked before everything that changes something; true: it shall fail, as by FailNth.
  void SetChangeHook(std::function<bool()> hook, StatusCode code = StatusCode::kIoError);
  // What lies below this path can be neither read nor listed, nor can anybody say whether it is
  // there. Empty: all can.
  void SetUnreadable(std::string path);
  // Told of every sync, and every rename, of a file or directory that has succeeded: of files that
  // are only synced through us others keep account (FaultyVfs). A rename counts for its directory:
  // it is durable here at once, and so are the names that were made before it.
  void SetSyncedHook(std::function<void(const std::string& path)> hook);
  // What was not synced is gone: bytes of files, and names in directories. Every file is closed.
  void LosePower();

  int syncs() const;  // of files

  StatusOr<std::unique_ptr<AppendFile>> OpenForAppend(const std::string& path) override;
  StatusOr<std::string> Read(const std::string& path) override;
  StatusOr<bool> Exists(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  Status MakeDirectory(const std::string& path) override;
  void StartSync(const std::string& path) override { base_.StartSync(path); }
  Status SyncDirectory(const std::string& path) override;
  void RemoveTree(const std::string& path) override;
  uint64_t Hold(const std::string& path, uint64_t bytes) override {
    return base_.Hold(path, bytes);
  }
  StatusOr<StoreLock> Lock(const std::string& directory) override {
    return base_.Lock(directory);
  }

 private:
  class File;
  struct Length {
    uint64_t now = 0;
    uint64_t synced = 0;
    uint64_t reserved = 0;
    uint64_t reserved_synced = 0;
    bool is_ours = false;  // else others write it, and we sync it
  };
  Status MayFail(const std::string& what);         // under mutex_
  Status CheckReadable(const std::string& path) const;
  void TellSynced(const std::string& path) const;  // under mutex_

  FileLayer& base_ = PosixFiles();
  std::recursive_mutex own_mutex_;
  std::recursive_mutex& mutex_ = own_mutex_;  // a hook may call LosePower
  int until_failure_ = 0;
  StatusCode code_ = StatusCode::kIoError;
  bool failed_ = false;
  bool syncs_fail_ = false;
  static constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();
  uint64_t room_ = kNoBound;
  int syncs_ = 0;
  std::function<void()> sync_hook_;
  std::function<bool()> change_hook_;
  StatusCode hook_code_ = StatusCode::kIoError;
  std::function<void(const std::string& path)> synced_hook_;
  std::string unreadable_;
  std::map<std::string, Length> lengths_;
  std::set<std::string> unsynced_names_;
};

}  // namespace cellfs

#endif  // CELLFS_TESTS_SUPPORT_FAULTY_FILES_H_
