// SPDX-License-Identifier: MIT
//
// FuseTarget: what the callbacks of libfuse work on, the user data of a session.
#ifndef CELLFS_FS_KERNEL_FUSE_TARGET_H_
#define CELLFS_FS_KERNEL_FUSE_TARGET_H_

#include <fuse3/fuse_lowlevel.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "fs/kernel/fuse_init_reply.h"
#include "fs/operations/filesystem.h"

namespace cellfs::fs {

// Thread-safe.
class FuseTarget {
 public:
  explicit FuseTarget(FileSystem& filesystem) : filesystem_(filesystem) {}

  FileSystem& filesystem() { return filesystem_; }
  const MountOptions& options() { return filesystem_.options(); }
  InitReply& init_reply() { return init_reply_; }

  Node& NodeOf(fuse_ino_t id) {
    return id == FUSE_ROOT_ID ? filesystem_.root() : *reinterpret_cast<Node*>(id);
  }
  fuse_ino_t IdOf(const Node& node) {
    return &node == &filesystem_.root() ? FUSE_ROOT_ID : reinterpret_cast<fuse_ino_t>(&node);
  }
  Request RequestOf(fuse_req_t request);

  // Where nothing can be written and everybody may read what the modes allow, the kernel opens by
  // itself, reads without a handle and keeps pages for ever.
  bool KernelOpens();

  // From its opening to its release, which the kernel does not send when the session is cut off.
  void Keep(std::unique_ptr<OpenDirectory> directory);
  void Release(OpenDirectory* directory);

 private:
  FileSystem& filesystem_;
  InitReply init_reply_;
  std::mutex directories_mutex_;
  // Guarded by directories_mutex_.
  std::unordered_map<OpenDirectory*, std::unique_ptr<OpenDirectory>> directories_;
};

inline Request FuseTarget::RequestOf(fuse_req_t request) {
  const fuse_ctx* context = fuse_req_ctx(request);
  Request made;
  made.uid = context->uid;
  made.gid = context->gid;
  made.pid = context->pid;
  made.umask = context->umask;
  made.caller = &filesystem_.parts().callers.Of(context->uid);
  return made;
}

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_TARGET_H_
