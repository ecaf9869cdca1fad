// SPDX-License-Identifier: MIT
#include "src/commands/all.h"

#include <algorithm>
#include <iterator>

namespace cellfs {
namespace {

constexpr const Command* kAllCommands[] = {
    // Mounts
    &kMountCommand,
    &kUmountCommand,
    &kConfigCommand,
    // History
    &kLogCommand,
    &kDiffCommand,
    &kShowCommand,
    &kRestoreCommand,
    &kUndeleteCommand,
    // Data
    &kGetCommand,
    &kScanCommand,
    &kCountCommand,
    &kPutCommand,
    &kCheckAndPutCommand,
    &kMutateCommand,
    &kAppendCommand,
    &kIncrementCommand,
    &kGetCounterCommand,
    &kDeleteCommand,
    &kDeleteAllCommand,
    &kShellCommand,
    &kExportCommand,
    &kImportCommand,
    &kVerifyCommand,
    // Schemas
    &kCreateCommand,
    &kAlterCommand,
    &kDescribeCommand,
    &kListCommand,
    &kExistsCommand,
    &kDisableCommand,
    &kEnableCommand,
    &kIsEnabledCommand,
    &kDropCommand,
    &kTruncateCommand,
    &kRenameCommand,
    &kSplitCommand,
    &kCreateNamespaceCommand,
    &kAlterNamespaceCommand,
    &kDescribeNamespaceCommand,
    &kDropNamespaceCommand,
    &kListNamespacesCommand,
    // Rights and quotas
    &kGrantCommand,
    &kRevokeCommand,
    &kUserPermissionCommand,
    &kSetQuotaCommand,
    &kListQuotasCommand,
    // Maintenance
    &kStatusCommand,
    &kStatsCommand,
    &kTopCommand,
    &kErrorsCommand,
    &kMetricsCommand,
    &kFlushCommand,
    &kCompactCommand,
    &kCheckCommand,
    &kWalCommand,
    &kSetCommand,
    // Help
    &kReportCommand,
    &kVersionCommand,
};

}  // namespace

const Command kVersionCommand{
    .name = "version",
    .group = Group::kHelp,
    .summary = "print the version",
    .example = "version",
    .syntax = [](Syntax&) {},
    .prints_json = true,
    .run = [](const Front& front, const Arguments&) -> StatusOr<int> {
      if (front.printer.style().json) {
        front.printer.Json({{"version", CELLFS_VERSION}});
      } else {
        front.printer.Line(std::string("cellfs ") + CELLFS_VERSION);
      }
      return kExitDone;
    },
};

std::span<const Command* const> AllCommands() { return kAllCommands; }

const Command* FindCommand(std::string_view name) {
  const auto found = std::find_if(std::begin(kAllCommands), std::end(kAllCommands),
                                  [&](const Command* command) { return command->name == name; });
  return found == std::end(kAllCommands) ? nullptr : *found;
}

}  // namespace cellfs
