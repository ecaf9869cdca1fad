// SPDX-License-Identifier: MIT
//
// Who asks with a request of libfuse: whether he has given up, and the groups that he is in.
#ifndef CELLFS_FS_KERNEL_FUSE_CALLER_H_
#define CELLFS_FS_KERNEL_FUSE_CALLER_H_

#include <fuse3/fuse_lowlevel.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "fs/requests/running_request.h"

namespace cellfs::fs {

// libfuse calls back with a lock of the request held, which fuse_req_interrupt_func takes: so it
// waits for a call that is under way.
class FuseInterruption final : public Interruption {
 public:
  explicit FuseInterruption(fuse_req_t request) : request_(request) {}

  void Hear(const std::function<void()>* heard) override {
    heard_ = heard;
    fuse_req_interrupt_func(
        request_, [](fuse_req_t, void* data) { (*static_cast<FuseInterruption*>(data)->heard_)(); },
        this);
  }
  void StopHearing() override { fuse_req_interrupt_func(request_, nullptr, nullptr); }
  bool HasHappened() const noexcept override { return fuse_req_interrupted(request_) != 0; }

 private:
  const fuse_req_t request_;
  const std::function<void()>* heard_ = nullptr;
};

class FuseGroups final : public CallerGroups {
 public:
  explicit FuseGroups(fuse_req_t request) : request_(request) {}

  // Where the others cannot be found the effective group alone counts: that is less than is
  // allowed, never more.
  std::vector<gid_t> All() const override {
    std::vector<gid_t> groups(kFewGroups + 1);
    groups[0] = fuse_req_ctx(request_)->gid;
    int found = Read(groups);
    if (found > kFewGroups) {
      groups.resize(static_cast<size_t>(found) + 1);
      found = std::min(found, Read(groups));
    }
    groups.resize(static_cast<size_t>(std::max(found, 0)) + 1);
    return groups;
  }

 private:
  static constexpr int kFewGroups = 32;

  int Read(std::vector<gid_t>& groups) const {
    return fuse_req_getgroups(request_, static_cast<int>(groups.size()) - 1, groups.data() + 1);
  }

  const fuse_req_t request_;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_CALLER_H_
