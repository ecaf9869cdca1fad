// SPDX-License-Identifier: MIT
#include "src/commands/mounting.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "src/daemon/background.h"
#include "src/daemon/daemon.h"
#include "src/mount/mount_table.h"
#include "src/mount/mountpoint.h"
#include "src/mount/store_name.h"
#include "src/mount/store_opening.h"

namespace cellfs {
namespace {

constexpr std::string_view kConfigKey = "config=";

Status EmptyPath(const std::string& what) {
  return {StatusCode::kIllegalArgument, "the " + what + "'s path is empty; name its directory"};
}

// Takes config=FILE out of a list of options: an fstab line has no other place for it.
std::string TakeConfigFrom(std::string& options) {
  std::string file;
  std::string rest;
  std::string_view left = options;
  while (!left.empty()) {
    const std::string_view option = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), option.size() + 1));
    if (option.starts_with(kConfigKey)) {
      file = option.substr(kConfigKey.size());
    } else {
      rest += (rest.empty() ? "" : ",") + std::string(option);
    }
  }
  options = rest;
  return file;
}

DaemonOptions DaemonOptionsOf(const MountCall& call, const Configuration& configuration) {
  return {.store = CanonicalStore(call.store),
          .mountpoint = CanonicalPath(call.mountpoint),
          .foreground = call.foreground || call.debug,
          .debug = call.debug,
          .configuration = configuration,
          .read_configuration = [call] { return ReadConfiguration(call); }};
}

Status CheckDirectory(const MountCall& call, bool read_only) {
  CELLFS_RETURN_IF_ERROR(read_only ? CheckIsThere(call.store)
                                   : CheckTakesMount(CanonicalPath(call.store)));
  return CheckMayUse(call.store, read_only ? Use::kReads : Use::kChanges);
}

Status RunInForeground(const DaemonOptions& options) {
  Status failure;
  const int code = RunDaemon(options, [&](const Status& status) { failure = status; });
  if (failure.ok() && code != 0)
    return {StatusCode::kUnavailable, "the mount has ended with an error, which the log has"};
  return failure;
}

}  // namespace

StatusOr<Configuration> ReadConfiguration(const MountCall& call) {
  Configuration configuration;
  std::vector<std::string> options = call.options;
  std::string file = call.config;
  for (std::string& list : options) {
    if (const std::string named = TakeConfigFrom(list); !named.empty()) file = named;
  }
  if (!file.empty()) CELLFS_RETURN_IF_ERROR(ReadConfigurationFile(file, configuration));
  configuration.mount.uid = configuration.mount.uid == 0 ? getuid() : configuration.mount.uid;
  configuration.mount.gid = configuration.mount.gid == 0 ? getgid() : configuration.mount.gid;
  for (const std::string& list : options)
    CELLFS_RETURN_IF_ERROR(ApplyMountOptions(list, configuration, call.unknown));
  return configuration;
}

Status CheckMount(const MountCall& call, const Configuration& configuration) {
  if (call.store.empty()) return EmptyPath("store");
  if (call.mountpoint.empty()) return EmptyPath("mount point");
  const bool is_remote = IsRemote(call.store);
  CELLFS_RETURN_IF_ERROR(is_remote ? ParseRemote(call.store).status()
                                   : CheckDirectory(call, configuration.mount.read_only));
  const std::string mountpoint = CanonicalPath(call.mountpoint);
  CELLFS_RETURN_IF_ERROR(PrepareMountpoint(mountpoint));
  return is_remote ? Status() : CheckNesting(CanonicalPath(call.store), mountpoint);
}

Status MountStore(const MountCall& call, const Configuration& configuration) {
  const DaemonOptions options = DaemonOptionsOf(call, configuration);
  if (options.foreground) return RunInForeground(options);
  CELLFS_RETURN_IF_ERROR(
      RunInBackground([&](const Report& report) { return RunDaemon(options, report); }));
  // The first request through the mount: it answers.
  struct stat attributes {};
  if (stat(call.mountpoint.c_str(), &attributes) == 0) return {};
  return Status(StatusCode::kUnavailable,
                call.mountpoint + " is mounted but does not answer: " + strerror(errno));
}

}  // namespace cellfs
