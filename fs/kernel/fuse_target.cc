// SPDX-License-Identifier: MIT
#include "fs/kernel/fuse_target.h"

#include <utility>

namespace cellfs::fs {

bool FuseTarget::KernelOpens() {
  const MountOptions& options = filesystem_.options();
  return options.read_only && !options.authorization && filesystem_.freshness().is_exact();
}

void FuseTarget::Keep(std::unique_ptr<OpenDirectory> directory) {
  OpenDirectory* const address = directory.get();
  std::lock_guard lock(directories_mutex_);
  directories_.emplace(address, std::move(directory));
}

void FuseTarget::Release(OpenDirectory* directory) {
  std::unique_ptr<OpenDirectory> released;  // declared before the lock: dies after it
  std::lock_guard lock(directories_mutex_);
  const auto found = directories_.find(directory);
  if (found == directories_.end()) return;
  released = std::move(found->second);
  directories_.erase(found);
}

}  // namespace cellfs::fs
