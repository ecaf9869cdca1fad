// SPDX-License-Identifier: MIT
//
// LongNames: the full keys of the shortened file names that were shown lately, for /.cellfs/keys.
#ifndef CELLFS_FS_TREE_LONG_NAMES_H_
#define CELLFS_FS_TREE_LONG_NAMES_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace cellfs::fs {

// Thread-safe.
class LongNames {
 public:
  void Remember(const std::string& name, std::string_view key) const {
    std::lock_guard lock(mutex_);
    if (keys_.size() >= kKept || bytes_ >= kKeptBytes) {
      keys_.clear();
      bytes_ = 0;
    }
    if (keys_.insert_or_assign(name, std::string(key)).second) bytes_ += name.size() + key.size();
  }
  std::optional<std::string> Find(std::string_view name) const {
    std::lock_guard lock(mutex_);
    const auto it = keys_.find(name);
    return it == keys_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  static constexpr size_t kKept = 1000;
  static constexpr size_t kKeptBytes = size_t{2} << 20;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string, std::less<>> keys_;
  mutable size_t bytes_ = 0;  // of these
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_TREE_LONG_NAMES_H_
