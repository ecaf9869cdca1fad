// SPDX-License-Identifier: MIT
//
// mount, umount, config.
#include "src/commands/all.h"
#include "src/commands/mounting.h"
#include "src/configuration.h"
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

StatusOr<int> Mount(const Front& /*front*/, const Arguments& arguments) {
  const MountCall call = CallOf(arguments);
  CELLFS_ASSIGN_OR_RETURN(const Configuration configuration, ReadConfiguration(call));
  CELLFS_RETURN_IF_ERROR(CheckMount(call));
  CELLFS_RETURN_IF_ERROR(MountStore(call, configuration));
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
      CELLFS_ASSIGN_OR_RETURN(Configuration configuration, ReadConfiguration(CallOf(arguments)));
      front.printer.Bytes(ConfigurationText(std::move(configuration)));
      return kExitDone;
    },
};

}  // namespace cellfs
