// SPDX-License-Identifier: MIT
#include "tests/support/faulty_files.h"

#include <algorithm>
#include <filesystem>

namespace cellfs {

class FaultyFiles::File : public AppendFile {
 public:
  File(FaultyFiles* files, std::string path, std::unique_ptr<AppendFile> base)
      : files_(files), path_(std::move(path)), base_(std::move(base)) {}

  Status Append(std::string_view bytes) override {
    const std::lock_guard lock(files_->mutex_);
    Status status = files_->MayFail("append to " + path_);
    std::string_view written = bytes;
    if (!status.ok()) written = bytes.substr(0, bytes.size() / 2);
    if (bytes.size() > files_->room_) {
      status = {StatusCode::kStoreFull, "no room for " + path_};
      written = bytes.substr(0, files_->room_);
    }
    CELLFS_RETURN_IF_ERROR(base_->Append(written));
    files_->room_ -= written.size();
    files_->lengths_[path_].now += written.size();
    files_->lengths_[path_].is_ours = true;
    return status;
  }

  Status Sync() override {
    Length length;
    std::function<void()> hook;
    {
      const std::lock_guard lock(files_->mutex_);
      length = files_->lengths_[path_];
      hook = files_->sync_hook_;
    }
    if (hook) hook();
    const std::lock_guard lock(files_->mutex_);
    ++files_->syncs_;
    if (files_->syncs_fail_) return {StatusCode::kIoError, "sync of " + path_};
    CELLFS_RETURN_IF_ERROR(files_->MayFail("sync of " + path_));
    files_->lengths_[path_].synced = length.now;
    files_->lengths_[path_].reserved_synced = length.reserved;
    files_->TellSynced(path_);
    return {};
  }

  Status Truncate(uint64_t size) override {
    const std::lock_guard lock(files_->mutex_);
    CELLFS_RETURN_IF_ERROR(files_->MayFail("truncate of " + path_));
    CELLFS_RETURN_IF_ERROR(base_->Truncate(size));
    Length& length = files_->lengths_[path_];
    const uint64_t freed = length.now > size ? length.now - size : 0;
    files_->room_ += std::min(freed, FaultyFiles::kNoBound - files_->room_);
    length.now = size;
    length.synced = std::min(length.synced, size);
    length.reserved = 0;
    length.is_ours = true;
    return {};
  }

  Status Reserve(uint64_t size) override {
    const std::lock_guard lock(files_->mutex_);
    CELLFS_RETURN_IF_ERROR(files_->MayFail("reserving in " + path_));
    CELLFS_RETURN_IF_ERROR(base_->Reserve(size));
    files_->lengths_[path_].reserved = size;
    files_->lengths_[path_].is_ours = true;
    return {};
  }

 private:
  FaultyFiles* const files_;
  const std::string path_;
  const std::unique_ptr<AppendFile> base_;
};

void FaultyFiles::FailNth(int n, StatusCode code) {
  const std::lock_guard lock(mutex_);
  until_failure_ = n;
  code_ = code;
  failed_ = false;
}

bool FaultyFiles::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

void FaultyFiles::SetRoom(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  room_ = bytes;
}

void FaultyFiles::SetSyncsFail(bool fail) {
  const std::lock_guard lock(mutex_);
  syncs_fail_ = fail;
}

void FaultyFiles::SetSyncHook(std::function<void()> hook) {
  const std::lock_guard lock(mutex_);
  sync_hook_ = std::move(hook);
}

void FaultyFiles::SetChangeHook(std::function<bool()> hook, StatusCode code) {
  const std::lock_guard lock(mutex_);
  change_hook_ = std::move(hook);
  hook_code_ = code;
}

void FaultyFiles::SetSyncedHook(std::function<void(const std::string& path)> hook) {
  const std::lock_guard lock(mutex_);
  synced_hook_ = std::move(hook);
}

void FaultyFiles::TellSynced(const std::string& path) const {
  if (synced_hook_) synced_hook_(path);
}

void FaultyFiles::LosePower() {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, length] : lengths_) {
    if (!length.is_ours || !std::filesystem::exists(path)) continue;
    std::filesystem::resize_file(path, length.synced);
    // What was reserved, and zeros again.
    if (length.reserved_synced > length.synced)
      std::filesystem::resize_file(path, length.reserved_synced);
  }
  for (const std::string& path : unsynced_names_) std::filesystem::remove(path);
  lengths_.clear();
  unsynced_names_.clear();
}

int FaultyFiles::syncs() const {
  const std::lock_guard lock(mutex_);
  return syncs_;
}

StatusOr<std::unique_ptr<AppendFile>> FaultyFiles::OpenForAppend(const std::string& path) {
  const std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_ERROR(MayFail("open of " + path));
  const bool is_new = !std::filesystem::exists(path);
  CELLFS_ASSIGN_OR_RETURN(auto base, base_.OpenForAppend(path));
  if (is_new) unsynced_names_.insert(path);
  const uint64_t size = std::filesystem::file_size(path);
  lengths_.try_emplace(path, Length{.now = size, .synced = size, .is_ours = is_new});
  return std::unique_ptr<AppendFile>(std::make_unique<File>(this, path, std::move(base)));
}

void FaultyFiles::SetUnreadable(std::string path) {
  const std::lock_guard lock(mutex_);
  unreadable_ = std::move(path);
}

Status FaultyFiles::CheckReadable(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  if (unreadable_.empty() || !path.starts_with(unreadable_)) return {};
  return {StatusCode::kIoError, "cannot read '" + path + "': Input/output error"};
}

StatusOr<std::string> FaultyFiles::Read(const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckReadable(path));
  return base_.Read(path);
}

StatusOr<bool> FaultyFiles::Exists(const std::string& path) {
  CELLFS_RETURN_IF_ERROR(CheckReadable(path));
  return base_.Exists(path);
}

Status FaultyFiles::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_ERROR(MayFail("rename of " + from));
  CELLFS_RETURN_IF_ERROR(base_.Rename(from, to));
  lengths_[to] = lengths_[from];
  lengths_.erase(from);
  unsynced_names_.erase(from);
  TellSynced(std::filesystem::path(to).parent_path());
  return {};
}

Status FaultyFiles::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_ERROR(MayFail("removal of " + path));
  CELLFS_RETURN_IF_ERROR(base_.Remove(path));
  lengths_.erase(path);
  unsynced_names_.erase(path);
  return {};
}

// All of it or, where it fails, nothing.
void FaultyFiles::RemoveTree(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (MayFail("removal of " + path).ok()) base_.RemoveTree(path);
}

StatusOr<std::vector<std::string>> FaultyFiles::List(const std::string& directory) {
  CELLFS_RETURN_IF_ERROR(CheckReadable(directory));
  return base_.List(directory);
}

Status FaultyFiles::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_ERROR(MayFail("making of " + path));
  return base_.MakeDirectory(path);
}

Status FaultyFiles::SyncDirectory(const std::string& path) {
  const std::lock_guard lock(mutex_);
  CELLFS_RETURN_IF_ERROR(MayFail("sync of " + path));
  std::erase_if(unsynced_names_, [&](const std::string& name) {
    return std::filesystem::path(name).parent_path() == path;
  });
  TellSynced(path);
  return {};
}

Status FaultyFiles::MayFail(const std::string& what) {
  if (change_hook_ && change_hook_()) return {hook_code_, "told to fail: " + what};
  if (until_failure_ == 0 || --until_failure_ != 0) return {};
  failed_ = true;
  return {code_, "told to fail: " + what};
}

}  // namespace cellfs
