// SPDX-License-Identifier: MIT
//
// The commands, each from a file of its own.
#ifndef CELLFS_SRC_COMMANDS_ALL_H_
#define CELLFS_SRC_COMMANDS_ALL_H_

#include "src/commands/command.h"

namespace cellfs {

extern const Command kMountCommand;
extern const Command kUmountCommand;
extern const Command kConfigCommand;
extern const Command kLogCommand;
extern const Command kDiffCommand;
extern const Command kShowCommand;
extern const Command kRestoreCommand;
extern const Command kUndeleteCommand;
extern const Command kGetCommand;
extern const Command kScanCommand;
extern const Command kCountCommand;
extern const Command kPutCommand;
extern const Command kCheckAndPutCommand;
extern const Command kMutateCommand;
extern const Command kAppendCommand;
extern const Command kIncrementCommand;
extern const Command kGetCounterCommand;
extern const Command kDeleteCommand;
extern const Command kDeleteAllCommand;
extern const Command kShellCommand;
extern const Command kExportCommand;
extern const Command kImportCommand;
extern const Command kVerifyCommand;
extern const Command kCreateCommand;
extern const Command kAlterCommand;
extern const Command kDescribeCommand;
extern const Command kListCommand;
extern const Command kExistsCommand;
extern const Command kDisableCommand;
extern const Command kEnableCommand;
extern const Command kIsEnabledCommand;
extern const Command kDropCommand;
extern const Command kTruncateCommand;
extern const Command kRenameCommand;
extern const Command kSplitCommand;
extern const Command kCreateNamespaceCommand;
extern const Command kAlterNamespaceCommand;
extern const Command kDescribeNamespaceCommand;
extern const Command kDropNamespaceCommand;
extern const Command kListNamespacesCommand;
extern const Command kGrantCommand;
extern const Command kRevokeCommand;
extern const Command kUserPermissionCommand;
extern const Command kSetQuotaCommand;
extern const Command kListQuotasCommand;
extern const Command kStatusCommand;
extern const Command kStatsCommand;
extern const Command kErrorsCommand;
extern const Command kMetricsCommand;
extern const Command kFlushCommand;
extern const Command kCompactCommand;
extern const Command kCheckCommand;
extern const Command kWalCommand;
extern const Command kTopCommand;
extern const Command kSetCommand;
extern const Command kReportCommand;
extern const Command kVersionCommand;

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_ALL_H_
