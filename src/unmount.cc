// SPDX-License-Identifier: MIT
#include "src/unmount.h"

#include <poll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/control_socket.h"
#include "src/mount_table.h"

namespace cellfs {
namespace {

constexpr int kCloseTimeout = 120'000;  // ms; a last flush may take a while

// The daemon as a descriptor that is readable once it has ended; -1 where nobody answers.
int OpenDaemon(const std::string& store_directory) {
  auto status = CallDaemon(store_directory, "status", {});
  if (!status.ok()) return -1;
  const auto text = nlohmann::json::parse(*status, nullptr, false);
  return static_cast<int>(syscall(SYS_pidfd_open, text.value("pid", 0), 0));
}

Status RunFusermount(const std::string& mountpoint, bool lazy) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("fusermount3", "fusermount3", lazy ? "-uz" : "-u", "--", mountpoint.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    return Status(StatusCode::kUnavailable, "fusermount3 could not unmount " + mountpoint);
  }
  return {};
}

Status Detach(const std::string& mountpoint, bool lazy) {
  if (umount2(mountpoint.c_str(), lazy ? MNT_DETACH : 0) == 0) return {};
  if (errno == EPERM) return RunFusermount(mountpoint, lazy);
  if (errno == EBUSY) {
    return Status(
        StatusCode::kUnavailable,
        mountpoint + " is in use; close what is open in it (fuser -m shows it), or --lazy");
  }
  return Status(StatusCode::kIoError, mountpoint + ": " + strerror(errno));
}

}  // namespace

Status Unmount(const std::string& path, bool lazy) {
  const auto mount = FindMount(path);
  if (!mount) {
    return Status(StatusCode::kIllegalArgument, path + ": no cellfs is mounted there");
  }
  const int daemon = OpenDaemon(mount->store);
  const Status detached = Detach(mount->mountpoint, lazy);
  if (daemon < 0) return detached;
  if (detached.ok() && !lazy) {
    pollfd ended{.fd = daemon, .events = POLLIN, .revents = 0};
    poll(&ended, 1, kCloseTimeout);
  }
  close(daemon);
  return detached;
}

}  // namespace cellfs
