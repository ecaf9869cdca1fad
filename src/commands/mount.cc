// SPDX-License-Identifier: MIT
//
// mount, umount, config.
#include <unistd.h>

#include <cstdio>

#include "src/commands/all.h"
#include "src/commands/mounting.h"
#include "src/configuration.h"
#include "src/mount/fstab.h"
#include "src/mount/mount_table.h"
#include "src/mount/mountpoint.h"
#include "src/mount/store_name.h"
#include "src/mount/unmount.h"

namespace cellfs {
namespace {

void AddConfigurationOptions(Syntax& syntax) {
  syntax.Option("--config", "config", "FILE", "configuration file (TOML)");
  syntax.Options("-o", "options", "OPTIONS",
                 "options: key=value,... as 'cellfs config' lists them");
}

MountCall CallOf(const Arguments& arguments) {
  return {.store = arguments.Text("store"),
          .mountpoint = arguments.Text("mountpoint"),
          .config = arguments.Text("config"),
          .options = arguments.Texts("options"),
          .foreground = arguments.Flag("foreground"),
          .debug = arguments.Flag("debug")};
}

// mount(8) needs its helper for "cellfs"; for the other it calls mount.fuse3(8), which calls us.
std::string TypeForFstab() {
  return access("/sbin/mount.cellfs", X_OK) == 0 ? "cellfs" : "fuse.cellfs";
}

// As it is called, so that fstab mounts it in the same way.
FstabLine FstabLineOf(const MountCall& call) {
  std::string options = call.config.empty() ? "" : "config=" + CanonicalPath(call.config);
  for (const std::string& list : call.options) options += (options.empty() ? "" : ",") + list;
  return {.store = CanonicalStore(call.store),
          .mountpoint = CanonicalPath(call.mountpoint),
          .type = TypeForFstab(),
          .options = options};
}

// What cannot be said in fstab is refused before anything is mounted.
Status CheckForFstab(const MountCall& call) {
  if (call.config.find(',') != std::string::npos) {
    return {StatusCode::kIllegalArgument,
            "the path " + call.config + " has a comma, which ends an option of fstab; rename it"};
  }
  if (call.foreground || call.debug)
    return {StatusCode::kIllegalArgument, "--update-fstab is for mounts in the background"};
  return CheckFstab(FstabPath(), FstabLineOf(call));
}

bool IsMountedSo(const MountCall& call) {
  const auto mount = FindMountOn(call.mountpoint);
  return mount && mount->store == CanonicalStore(call.store) && !IsStale(mount->mountpoint);
}

StatusOr<int> MountAndUpdateFstab(const MountCall& call, const Configuration& configuration) {
  CELLFS_RETURN_IF_ERROR(CheckForFstab(call));
  if (!IsMountedSo(call)) {
    CELLFS_RETURN_IF_ERROR(CheckMount(call, configuration));
    CELLFS_RETURN_IF_ERROR(MountStore(call, configuration));
  }
  CELLFS_RETURN_IF_ERROR(UpdateFstab(FstabPath(), FstabLineOf(call)));
  return kExitDone;
}

StatusOr<int> Mount(const Front& /*front*/, const Arguments& arguments) {
  const MountCall call = CallOf(arguments);
  CELLFS_ASSIGN_OR_RETURN(const Configuration configuration, ReadConfiguration(call));
  if (arguments.Flag("update_fstab")) return MountAndUpdateFstab(call, configuration);
  CELLFS_RETURN_IF_ERROR(CheckMount(call, configuration));
  CELLFS_RETURN_IF_ERROR(MountStore(call, configuration));
  return kExitDone;
}

}  // namespace

const Command kMountCommand{
    .name = "mount",
    .group = Group::kMounts,
    .summary = "mount a store; it is made where there is none",
    .description =
        "Makes the store, with the mode 0700, where there is none, and returns when the mount "
        "answers. Waits up to 10 seconds for a daemon of the store that is about to end, and "
        "detaches a stale mount at the mount point. A store that others can write to, and a mount "
        "point in the store or above it, are refused. SIGTERM and SIGINT end the daemon, SIGHUP "
        "makes it read its configuration file again.",
    .example = "mount ~/store ~/m\nmount -o allow_other,names=printable ~/store /mnt\n"
               "mount hbase://master1:16000,master2:16000/ /mnt",
    .syntax =
        [](Syntax& syntax) {
          syntax.Word("store", "STORE",
                      "the store's directory, or hbase://HOST:PORT[,HOST:PORT...]/");
          syntax.Word("mountpoint", "MOUNTPOINT", "an existing directory");
          AddConfigurationOptions(syntax);
          syntax.Flag("-f,--foreground", "foreground", "stay in the foreground");
          syntax.Flag("--update-fstab", "update_fstab",
                      "also write the line of /etc/fstab that mounts it so");
          syntax.Flag("-d,--debug", "debug", "show every request; implies -f");
        },
    .run = Mount,
};

const Command kUmountCommand{
    .name = "umount",
    .group = Group::kMounts,
    .summary = "end a mount and close its store",
    .description =
        "Ends a mount and waits until its store is closed. Fails after two minutes, and names the "
        "process that still has it; says meanwhile what it waits for. A cluster may have several "
        "mounts: its name means its only one, or with --all each of them.",
    .example = "umount ~/m\numount --all hbase://master1:16000/",
    .syntax =
        [](Syntax& syntax) {
          syntax.Word("path", "MOUNTPOINT|STORE",
                      "the mount point, the store's directory or the cluster's name");
          syntax.Flag("-a,--all", "all", "all mounts of that store");
          syntax.Flag("-l,--lazy", "lazy", "detach it now, end it when nobody uses it");
        },
    .run = [](const Front& /*front*/, const Arguments& arguments) -> StatusOr<int> {
      const auto tell = [](const std::string& why) {
        fprintf(stderr, "cellfs: %s; waiting\n", why.c_str());
      };
      const std::string path = arguments.Text("path");
      const bool lazy = arguments.Flag("lazy");
      CELLFS_RETURN_IF_ERROR(arguments.Flag("all") ? UnmountAll(path, lazy, tell)
                                                   : Unmount(path, lazy, tell));
      return kExitDone;
    },
};

const Command kConfigCommand{
    .name = "config",
    .group = Group::kMounts,
    .summary = "print the configuration in force, every key explained",
    .description =
        "A file that holds what this prints configures a mount as it would be without one.",
    .example = "config -o names=printable",
    .syntax = AddConfigurationOptions,
    .run = [](const Front& front, const Arguments& arguments) -> StatusOr<int> {
      CELLFS_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration(CallOf(arguments)));
      front.printer.Bytes(ConfigurationText(std::move(configuration)));
      return kExitDone;
    },
};

}  // namespace cellfs
