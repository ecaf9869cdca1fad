// SPDX-License-Identifier: MIT
//
// FuseSession: one mount as an object: made by Mount, served by Run, undone by its destructor.
#ifndef CELLFS_FS_KERNEL_FUSE_SESSION_H_
#define CELLFS_FS_KERNEL_FUSE_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/status_or.h"
#include "fs/kernel/transport.h"
#include "fs/operations/filesystem.h"

namespace cellfs::fs {

struct SessionOptions {
  std::string source = "cellfs";  // what mount(8) and /proc/mounts show
  bool debug = false;             // libfuse's trace on standard error
  // That serve, at least 2. One that reads comes on top, and those that wait; with io_uring there is
  // one for each processor at least.
  int max_threads = 10;
  Transport transport = Transport::kDevice;
  std::string extra;  // comma-separated options for the kernel, as of `mount -o`
};

// Of the library that runs: "3.14.0".
std::string FuseVersion();

class FuseSession {
 public:
  // Mounts; the kernel's requests wait until Run. kUnavailable with the reason where that fails.
  static StatusOr<std::unique_ptr<FuseSession>> Mount(FileSystem& filesystem,
                                                      const std::string& mountpoint,
                                                      const SessionOptions& options);
  virtual ~FuseSession() = default;  // unmounts, lazily where somebody is still in there

  // Serves requests until Exit or until somebody unmounts. `ready`, if any, is called once requests
  // are being served.
  virtual Status Run(const std::function<void()>& ready) = 0;
  // Whether Run ended because the kernel ended the connection.
  virtual bool disconnected() const = 0;
  // The one that is in use, never kBest. Known once the kernel's first request is answered.
  virtual Transport transport() const = 0;
  // Why that is not io_uring, though it was to be the best; else empty.
  virtual std::string why_no_uring() const = 0;
  // Ends Run. From any thread or signal handler.
  virtual void Exit() = 0;
};

}  // namespace cellfs::fs

#endif  // CELLFS_FS_KERNEL_FUSE_SESSION_H_
