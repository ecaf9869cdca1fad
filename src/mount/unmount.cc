// SPDX-License-Identifier: MIT
#include "src/mount/unmount.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/descriptor.h"
#include "engine/open.h"
#include "src/daemon/control_socket.h"
#include "src/mount/mount_elsewhere.h"
#include "src/mount/mount_table.h"
#include "src/mount/silent_daemon.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

using Tell = std::function<void(const std::string& why)>;

constexpr std::chrono::milliseconds kUnmountPause{10};
constexpr std::chrono::seconds kWaitIsLong{10};
constexpr std::chrono::seconds kStopIsNoticed{1};

// What it says on standard error, as one line.
std::string ReadLineFrom(int channel) {
  std::string text;
  char bytes[256];
  for (ssize_t count = 0; (count = read(channel, bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<size_t>(count));
  }
  return text.substr(0, text.find('\n'));
}

Status RunFusermount(const std::string& mountpoint, bool lazy) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return Status(StatusCode::kIoError, strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], STDERR_FILENO);
    execlp("fusermount3", "fusermount3", lazy ? "-uz" : "-u", "--", mountpoint.c_str(), nullptr);
    _exit(127);
  }
  close(channel[1]);
  const std::string reason = ReadLineFrom(channel[0]);
  close(channel[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    return Status(StatusCode::kUnavailable,
                  "fusermount3 could not unmount " + mountpoint +
                      (reason.empty() ? "" : ": " + reason) +
                      "; only who mounted it, and root, may do that, once nothing is open in it");
  }
  return {};
}

// The process behind a mount, as long as it runs: its id may be another's afterwards.
class DaemonProcess {
 public:
  explicit DaemonProcess(const MountedStore& mount) : id_(ProcessOfDaemon(mount)) {
    // glibc's header of pidfd_open(2) is none for C++.
    if (id_) process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, *id_, 0)));
  }

  bool is_known() const { return process_.get() >= 0; }
  std::string id() const { return std::to_string(id_.value_or(0)); }
  bool HasEnded() const {
    pollfd ended{.fd = process_.get(), .events = POLLIN, .revents = 0};
    return poll(&ended, 1, 0) > 0;
  }

 private:
  std::optional<pid_t> id_;
  Descriptor process_;
};

// Who still closes the store. Others may read it beside a daemon that only reads; where it is not
// known, one who only reads need not be it.
std::optional<std::string> StillClosing(const MountedStore& mount, const DaemonProcess& daemon) {
  if (!daemon.is_known()) return WriterOfLocalStore(mount.store);
  if (daemon.HasEnded() || !HolderOfLocalStore(mount.store)) return std::nullopt;
  return daemon.id();
}

// "36 35 98:0 / /mnt ...": the third word.
bool Mounts(const std::string& table, const std::string& device) {
  std::ifstream lines(table);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 3; ++i) words >> word;
    if (word == device) return true;
  }
  return false;
}

// A process of another mount namespace (unshare, a container) in which it is mounted as before: the
// daemon serves that one, and ends with it. What may not be looked at is passed over.
std::optional<std::string> KeptElsewhereBy(const MountedStore& mount) {
  if (Mounts("/proc/self/mountinfo", mount.device)) return std::nullopt;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", unreadable)) {
    const std::string process = entry.path().filename();
    if (process.find_first_not_of("0123456789") != process.npos) continue;
    if (Mounts(entry.path() / "mountinfo", mount.device)) return process;
  }
  return std::nullopt;
}

std::string WhyItWaits(const MountedStore& mount, const std::string& holder) {
  if (IsStopped(holder)) return SilentDaemon(holder, mount.mountpoint);
  if (const auto process = KeptElsewhereBy(mount)) {
    return mount.mountpoint + " is detached here, and mounted still in the mount namespace of " +
           "process " + *process + ", which the daemon " + holder + " serves: it closes the store " +
           "when that ends, or after 'nsenter -t " + *process + " -m umount " + mount.mountpoint +
           "'";
  }
  return mount.mountpoint + " is detached; process " + holder + " is still closing the store " +
         mount.store;
}

// kUnavailable names the process that still has the store.
Status AwaitClosing(const MountedStore& mount, const DaemonProcess& daemon, const Tell& tell,
                    std::chrono::milliseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  bool is_told = false;
  std::optional<bool> is_kept_elsewhere;
  while (const auto holder = StillClosing(mount, daemon)) {
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (!is_kept_elsewhere && waited >= kStopIsNoticed)
      is_kept_elsewhere = KeptElsewhereBy(mount).has_value();
    const bool is_known = IsStopped(*holder) || is_kept_elsewhere.value_or(false);
    if (!is_told && waited >= (is_known ? kStopIsNoticed : kWaitIsLong)) {
      tell(WhyItWaits(mount, *holder));
      is_told = true;
    }
    if (waited >= timeout) {
      if (KeptElsewhereBy(mount))
        return Status(StatusCode::kUnavailable, WhyItWaits(mount, *holder));
      return Status(StatusCode::kUnavailable,
                    mount.mountpoint + " is detached, but process " + *holder +
                        " has not closed the store " + mount.store + " within " +
                        std::to_string(timeout.count() / 1000) +
                        " s; wait for its end before you move or mount the store");
    }
    std::this_thread::sleep_for(kUnmountPause);
  }
  return {};
}

Status NothingIsMounted(const std::string& path) {
  const std::string store = CanonicalStore(path);
  const bool may_be_looked_at = !IsRemote(store) && !IsInMount(store);
  const auto holder = may_be_looked_at ? HolderOfLocalStore(store) : std::nullopt;
  const std::string elsewhere = holder ? DescribeMountElsewhere(store, *holder) : "";
  if (!elsewhere.empty())
    return {StatusCode::kUnavailable,
            path + ": no cellfs is mounted here; the store is in use by process " + *holder +
                elsewhere};
  return {StatusCode::kIllegalArgument, path + ": no cellfs is mounted there"};
}

// A cluster's name says which mount is meant as long as there is one.
Status CheckIsOne(const std::string& path) {
  if (FindMountOn(path)) return {};
  const std::vector<MountedStore> mounts = FindMountsOf(path);
  if (mounts.size() < 2) return {};
  return {StatusCode::kIllegalArgument, mounts.front().store + " is mounted on " +
                                            MountpointsOf(mounts) +
                                            "; name one of these, or --all"};
}

}  // namespace

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

Status Unmount(const std::string& path, bool lazy, const Tell& tell,
               std::chrono::milliseconds close_timeout) {
  if (IsRemote(path)) CELLFS_RETURN_IF_ERROR(CheckIsOne(path));
  const auto mount = FindMount(path);
  if (!mount) return NothingIsMounted(path);
  const DaemonProcess daemon(*mount);
  CELLFS_RETURN_IF_ERROR(Detach(mount->mountpoint, lazy));
  // What was taken away may have been left by a daemon that died; another may serve the store.
  if (lazy || (!daemon.is_known() && FindMountOf(mount->store))) return {};
  return AwaitClosing(*mount, daemon, tell, close_timeout);
}

Status UnmountAll(const std::string& store, bool lazy, const Tell& tell) {
  const std::vector<MountedStore> mounts = FindMountsOf(store);
  if (mounts.empty()) return NothingIsMounted(store);
  Status first;
  for (const MountedStore& mount : mounts) {
    Status ended = Unmount(mount.mountpoint, lazy, tell);
    if (first.ok()) first = std::move(ended);
  }
  return first;
}

}  // namespace cellfs
