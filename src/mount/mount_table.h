// SPDX-License-Identifier: MIT
//
// What of ours is mounted where, as the kernel says (/proc/self/mountinfo).
#ifndef CELLFS_SRC_MOUNT_MOUNT_TABLE_H_
#define CELLFS_SRC_MOUNT_MOUNT_TABLE_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cellfs {

struct MountedStore {
  std::string store;  // its name, src/mount/store_name.h
  std::string mountpoint;
  std::string device;  // major:minor; its own as long as it is mounted
  uid_t user = 0;      // of the daemon
};

// Both as CanonicalStore and CanonicalPath write them.
std::vector<MountedStore> ListMounts();

// Those of the mount namespace of another process; none where that may not be looked at.
std::vector<MountedStore> ListMountsSeenBy(const std::string& process);

// A bind mount shows a directory by another name.
bool IsSameDirectory(const std::string& one, const std::string& other);

// Whether `path`, as CanonicalPath writes it, is one of our mounts or lies in one: what is asked of it
// is asked of a daemon, which may hang.
bool IsInMount(const std::string& path);

// The uppermost one, by the store's name (a bind mount of its directory is one, too) or by its mount
// point, however it is written.
std::optional<MountedStore> FindMountOf(const std::string& store);
std::optional<MountedStore> FindMountOn(const std::string& mountpoint);
// Of a cluster there may be several, each by a daemon of its own; once each, in the order in which
// they were mounted.
std::vector<MountedStore> FindMountsOf(const std::string& store);
// "/mnt/a, /mnt/b".
std::string MountpointsOf(const std::vector<MountedStore>& mounts);
// By either.
std::optional<MountedStore> FindMount(const std::string& path);

// Absolute and without symbolic links, as far as the path exists; touches nothing in a mount of
// ours, so that one whose daemon hangs can be named, and what is in it.
std::string CanonicalPath(const std::string& path);

}  // namespace cellfs

#endif  // CELLFS_SRC_MOUNT_MOUNT_TABLE_H_
