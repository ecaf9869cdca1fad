// SPDX-License-Identifier: MIT
#include "src/mount/mountpoint.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/open.h"
#include "src/daemon/control_socket.h"
#include "src/mount/mount_table.h"
#include "src/mount/silent_daemon.h"
#include "src/mount/unmount.h"

namespace cellfs {
namespace {

constexpr std::chrono::seconds kMountPatience{10};
constexpr std::chrono::milliseconds kMountPause{20};

// What a path names, by whatever way it was reached: symbolic link, bind mount, "..".
using Identity = std::pair<dev_t, ino_t>;

Status Refuse(std::string message) {
  return Status(StatusCode::kIllegalArgument, std::move(message));
}

std::optional<Identity> IdentityOf(int directory) {
  struct stat attributes {};
  if (fstat(directory, &attributes) != 0) return std::nullopt;
  return Identity(attributes.st_dev, attributes.st_ino);
}

// The directory first, then each one above it up to the root; empty where it is missing.
std::vector<Identity> Lineage(const std::string& path) {
  std::vector<Identity> lineage;
  int directory = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (directory >= 0) {
    const auto identity = IdentityOf(directory);
    const bool at_root = !identity || (!lineage.empty() && lineage.back() == *identity);
    if (!at_root) lineage.push_back(*identity);
    const int parent = at_root ? -1 : openat(directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(directory);
    directory = parent;
  }
  return lineage;
}

bool Contains(const std::vector<Identity>& lineage, const Identity& directory) {
  return std::find(lineage.begin(), lineage.end(), directory) != lineage.end();
}

Status CheckIsDirectory(const std::string& mountpoint) {
  struct stat attributes {};
  if (stat(mountpoint.c_str(), &attributes) != 0) {
    const int error = errno;
    std::string remedy;
    if (error == ENOENT) remedy = "; make it with mkdir";
    if (error == ENOTCONN) remedy = "; 'umount -l' takes away the mount that is left there";
    return Refuse(mountpoint + ": " + strerror(error) + remedy);
  }
  if (!S_ISDIR(attributes.st_mode)) return Refuse(mountpoint + " is no directory");
  if (access((mountpoint + "/FORMAT").c_str(), F_OK) == 0) {
    return Refuse(mountpoint + " is a store, which a mount would hide; the store comes first: "
                               "cellfs mount STORE MOUNTPOINT");
  }
  return {};
}

enum class MountState { kServed, kStale, kChanges };

// A daemon that keeps silent could keep us waiting for its mount, so that is not asked.
MountState StateOf(const MountedStore& mount) {
  const DaemonState daemon = AskDaemon(mount);
  if (daemon == DaemonState::kIsSilent) return MountState::kServed;
  if (IsStale(mount.mountpoint)) return MountState::kStale;
  const bool ends = daemon == DaemonState::kEnds || daemon == DaemonState::kIsMissing;
  return ends ? MountState::kChanges : MountState::kServed;
}

// Takes away what dead daemons have left there; waits for those that end.
Status FreeMountpoint(const std::string& mountpoint) {
  const auto deadline = std::chrono::steady_clock::now() + kMountPatience;
  while (const auto mount = FindMountOn(mountpoint)) {
    const MountState state = StateOf(*mount);
    if (state == MountState::kStale) {
      CELLFS_RETURN_IF_ERROR(Detach(mount->mountpoint, /*lazy=*/true));
      continue;
    }
    if (state == MountState::kServed || std::chrono::steady_clock::now() >= deadline) {
      return Refuse("the store " + mount->store + " is mounted on " + mount->mountpoint + "; " +
                    HowToEndMount(mount->mountpoint, HolderOfLocalStore(mount->store)));
    }
    std::this_thread::sleep_for(kMountPause);
  }
  return {};
}

std::string RemedyForDevice(int error) {
  if (error == EACCES) {
    return "its mode must let this user read and write it: 'chmod 666 /dev/fuse' as root";
  }
  if (error == ENOENT) {
    return "load the kernel's fuse module ('modprobe fuse'), or give this container the device";
  }
  if (error == EPERM) return "let this container, or this unit (DeviceAllow=), use the device";
  return "load the kernel's fuse module ('modprobe fuse')";
}

// By opening it: the node is there without the module too, and opening it loads that.
Status CheckDevice() {
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device >= 0) {
    close(device);
    return {};
  }
  const int error = errno;
  const bool is_forbidden = error == EACCES || error == EPERM;
  return Status(is_forbidden ? StatusCode::kAccessDenied : StatusCode::kUnavailable,
                std::string("/dev/fuse: ") + strerror(error) + "; " + RemedyForDevice(error));
}

bool HasCapability(int number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kKey = "CapEff:\t";
    if (line.starts_with(kKey))
      return (std::strtoull(line.c_str() + kKey.size(), nullptr, 16) >> number & 1) != 0;
  }
  return false;
}

// Or where libfuse looks besides. Empty: it is nowhere.
std::string FindInPath(const std::string& program) {
  const char* const path = getenv("PATH");
  std::istringstream directories(std::string("/usr/bin:/bin:") + (path == nullptr ? "" : path));
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string file = directory + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

bool IsSetUserIdOfRoot(const std::string& file) {
  struct stat attributes {};
  return stat(file.c_str(), &attributes) == 0 && attributes.st_uid == 0 &&
         (attributes.st_mode & S_ISUID) != 0;
}

// Empty: none is known.
std::string CauseOfRefusal(const std::string& mountpoint, bool allow_other) {
  if (HasCapability(CAP_SYS_ADMIN)) return "";
  if (getuid() == 0) return "root lacks CAP_SYS_ADMIN here, as in a container that may not mount";
  const std::string helper = FindInPath("fusermount3");
  if (helper.empty())
    return "a user mounts by fusermount3, which is missing; install fuse3";
  if (access(mountpoint.c_str(), W_OK) != 0)
    return "who mounts must be able to write to the mount point; mount on a directory of your own";
  if (allow_other)
    return "-o allow_other of a user needs the line user_allow_other in /etc/fuse.conf";
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
    return "fusermount3 gets no rights below no_new_privs; a unit with User= needs "
           "NoNewPrivileges=no, and nothing that implies yes";
  if (!IsSetUserIdOfRoot(helper))
    return helper + " has lost its set-user-ID bit; 'chmod u+s " + helper + "' as root";
  return "fusermount3 refuses it";
}

}  // namespace

// By statfs(2), which always reaches the daemon: the kernel keeps no answer of it. What waits for
// an answer when the daemon dies is aborted.
bool IsStale(const std::string& mountpoint) {
  struct statvfs answer {};
  return statvfs(mountpoint.c_str(), &answer) != 0 && (errno == ENOTCONN || errno == ECONNABORTED);
}

Status WithCause(const Status& refused, const std::string& mountpoint, bool allow_other) {
  const std::string cause = CauseOfRefusal(mountpoint, allow_other);
  if (cause.empty()) return refused;
  return Status(StatusCode::kAccessDenied, refused.message() + "; " + cause);
}

Status PrepareMountpoint(const std::string& mountpoint) {
  CELLFS_RETURN_IF_ERROR(FreeMountpoint(mountpoint));
  CELLFS_RETURN_IF_ERROR(CheckIsDirectory(mountpoint));
  return CheckDevice();
}

Status CheckNesting(const std::string& store_directory, const std::string& mountpoint) {
  const std::vector<Identity> above_mountpoint = Lineage(mountpoint);
  std::vector<Identity> above_store = Lineage(store_directory);
  if (above_mountpoint.empty()) return Refuse(mountpoint + " cannot be looked at");
  if (!above_store.empty() && above_store.front() == above_mountpoint.front()) {
    return Refuse(mountpoint + " is the store itself; mount it on another directory");
  }
  if (!above_store.empty() && Contains(above_mountpoint, above_store.front())) {
    return Refuse("the mount point " + mountpoint + " lies in the store " + store_directory +
                  "; mount it on a directory outside the store");
  }
  if (above_store.empty())
    above_store = Lineage(std::filesystem::path(store_directory).parent_path());
  if (Contains(above_store, above_mountpoint.front())) {
    return Refuse("the store " + store_directory + " lies below the mount point " + mountpoint +
                  ", which would hide it; mount it on a directory that is not above the store");
  }
  return {};
}

}  // namespace cellfs
