// SPDX-License-Identifier: MIT
#include "src/mount/mount_elsewhere.h"

#include <algorithm>
#include <vector>

#include "src/daemon/control_socket.h"
#include "src/mount/mount_table.h"
#include "src/mount/store_name.h"

namespace cellfs {
namespace {

std::string DescribeRenamed(const MountedStore& mount) {
  return ", mounted on " + mount.mountpoint + " as " + mount.store +
         ": the directory was renamed since; 'cellfs umount " + mount.mountpoint +
         "' ends that, and commands that name the mount point reach it";
}

std::string DescribeInOtherNamespace(const MountedStore& mount, const std::string& holder) {
  const std::string enter = "'nsenter -t " + holder + " -m cellfs ";
  return ", mounted on " + mount.mountpoint + " in another mount namespace, as of a container; " +
         enter + "umount " + mount.mountpoint + "' ends that, and " + enter +
         "...' runs other commands there";
}

}  // namespace

std::string DescribeMountElsewhere(const std::string& directory, const std::string& holder) {
  const std::vector<MountedStore> here = ListMounts();
  for (const MountedStore& mount : here) {
    if (IsRemote(mount.store) || IsSameDirectory(mount.store, directory)) continue;
    const auto process = ProcessOfDaemon(mount);
    if (process && std::to_string(*process) == holder) return DescribeRenamed(mount);
  }
  for (const MountedStore& mount : ListMountsSeenBy(holder)) {
    const bool is_here = std::any_of(here.begin(), here.end(), [&](const MountedStore& known) {
      return known.device == mount.device;
    });
    const std::string store = "/proc/" + holder + "/root" + mount.store;
    if (!is_here && !IsRemote(mount.store) && IsSameDirectory(store, directory))
      return DescribeInOtherNamespace(mount, holder);
  }
  return "";
}

}  // namespace cellfs
