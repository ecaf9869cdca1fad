// SPDX-License-Identifier: MIT
//
// The callbacks of libfuse's low-level interface: unpack, call FileSystem, reply once.
#ifndef CELLFS_FS_KERNEL_FUSE_HANDLERS_H_
#define CELLFS_FS_KERNEL_FUSE_HANDLERS_H_

#include <fuse3/fuse_lowlevel.h>

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "fs/kernel/fuse_init_reply.h"
#include "fs/operations/filesystem.h"

namespace cellfs::fs {

// What the callbacks work on: the user data of a session. Thread-safe.
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

fuse_lowlevel_ops FuseHandlers(const MountOptions& options);

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_HANDLERS_H_
