// SPDX-License-Identifier: MIT
//
// mount, umount, config.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/commands/all.h"
#include "src/configuration.h"
#include "src/daemon/background.h"
#include "src/daemon/daemon.h"
#include "src/mount/mount_table.h"
#include "src/mount/mountpoint.h"
#include "src/mount/unmount.h"

namespace cellfs {
namespace {

void AddConfigurationOptions(Syntax& syntax) {
  syntax.Option("--config", "config", "FILE", "configuration file (TOML)");
  syntax.Options("-o", "options", "OPTIONS",
                 "options: key=value,... as 'cellfs config' lists them");
}

StatusOr<Configuration> ReadConfiguration(const Arguments& arguments) {
  Configuration configuration;
  if (const std::string file = arguments.Text("config"); !file.empty())
    CELLFS_RETURN_IF_ERROR(ReadConfigurationFile(file, configuration));
  configuration.mount.uid = configuration.mount.uid == 0 ? getuid() : configuration.mount.uid;
  configuration.mount.gid = configuration.mount.gid == 0 ? getgid() : configuration.mount.gid;
  for (const std::string& options : arguments.Texts("options"))
    CELLFS_RETURN_IF_ERROR(ApplyMountOptions(options, configuration));
  return configuration;
}

Status EmptyPath(const std::string& what) {
  return {StatusCode::kIllegalArgument, "the " + what + "'s path is empty; name its directory"};
}

StatusOr<int> Mount(const Front& /*front*/, const Arguments& arguments) {
  const std::string store = arguments.Text("store");
  const std::string mountpoint = arguments.Text("mountpoint");
  if (store.empty()) return EmptyPath("store");
  if (mountpoint.empty()) return EmptyPath("mount point");
  CELLFS_ASSIGN_OR_RETURN(const Configuration configuration, ReadConfiguration(arguments));
  const DaemonOptions options{
      .store_directory = CanonicalPath(store),
      .mountpoint = CanonicalPath(mountpoint),
      .foreground = arguments.Flag("foreground") || arguments.Flag("debug"),
      .debug = arguments.Flag("debug"),
      .configuration = configuration};
  CELLFS_RETURN_IF_ERROR(PrepareMountpoint(options.store_directory, options.mountpoint));
  if (options.foreground) {
    std::string failure;
    const int code = RunDaemon(options, [&](const std::string& reason) { failure = reason; });
    if (!failure.empty()) return Status(StatusCode::kUnavailable, failure);
    return code == 0 ? kExitDone : kExitFailed;
  }
  const std::string failure =
      RunInBackground([&](const Report& report) { return RunDaemon(options, report); });
  if (!failure.empty()) return Status(StatusCode::kUnavailable, failure);
  // The first request through the mount: it answers.
  struct stat attributes {};
  if (stat(mountpoint.c_str(), &attributes) != 0) {
    return Status(StatusCode::kUnavailable,
                  mountpoint + " is mounted but does not answer: " + strerror(errno));
  }
  return kExitDone;
}

}  // namespace

const Command kMountCommand{
    .name = "mount",
    .group = Group::kMounts,
    .summary = "mount a store; it is made where there is none",
    .example = "mount ~/store ~/m\nmount -o allow_other,names=printable ~/store /mnt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Word("store", "STORE", "the store's directory");
          syntax.Word("mountpoint", "MOUNTPOINT", "an existing directory");
          AddConfigurationOptions(syntax);
          syntax.Flag("-f,--foreground", "foreground", "stay in the foreground");
          syntax.Flag("-d,--debug", "debug", "show every request; implies -f");
        },
    .run = Mount,
};

const Command kUmountCommand{
    .name = "umount",
    .group = Group::kMounts,
    .summary = "end a mount and close its store",
    .example = "umount ~/m",
    .syntax =
        [](Syntax& syntax) {
          syntax.Word("path", "MOUNTPOINT|STORE", "the mount point or the store's directory");
          syntax.Flag("-l,--lazy", "lazy", "detach it now, end it when nobody uses it");
        },
    .run = [](const Front& /*front*/, const Arguments& arguments) -> StatusOr<int> {
      CELLFS_RETURN_IF_ERROR(Unmount(arguments.Text("path"), arguments.Flag("lazy")));
      return kExitDone;
    },
};

const Command kConfigCommand{
    .name = "config",
    .group = Group::kMounts,
    .summary = "print the configuration in force, every key explained",
    .example = "config -o names=printable",
    .syntax = AddConfigurationOptions,
    .run = [](const Front& front, const Arguments& arguments) -> StatusOr<int> {
      CELLFS_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration(arguments));
      front.printer.Bytes(ConfigurationText(std::move(configuration)));
      return kExitDone;
    },
};

}  // namespace cellfs
