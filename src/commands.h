// SPDX-License-Identifier: MIT
//
// The commands that a store answers, mounted or not: in the daemon they come over its socket, else
// the command line opens the store for them. Each answers JSON text.
#ifndef CELLFS_SRC_COMMANDS_H_
#define CELLFS_SRC_COMMANDS_H_

#include <functional>
#include <string>
#include <vector>

#include "engine/local_store.h"
#include "fs/tree/asof.h"
#include "src/control_socket.h"

namespace cellfs {

// The mount that a store has; empty where it has none.
struct MountStatus {
  std::string mountpoint;
  int pid = 0;
  fs::AsofRegistry* asof = nullptr;  // the times that its `.asof` directories hold
};

class Commands {
 public:
  // `controls` is null where the store is not in this process.
  Commands(Store& store, LocalControls* controls, MountStatus mount)
      : store_(store), controls_(controls), mount_(std::move(mount)) {}

  // ping; status; flush [table]; compact [table] [kind=minor|major]; release time; set name value.
  // Without a table: all that are enabled; a table that fails does not stop the others, and the
  // error names each that failed. `release` lets go what an `.asof` holds: a time in milliseconds,
  // or `all` that nothing uses. kIllegalArgument for an unknown command or argument,
  // kUnsupportedOperation for a setting that the store does not have. Thread-safe.
  StatusOr<std::string> Run(const std::string& command, const Arguments& arguments);

 private:
  StatusOr<std::string> ShowStatus();
  StatusOr<std::string> Flush(const Arguments& arguments);
  StatusOr<std::string> Compact(const Arguments& arguments);
  StatusOr<std::string> Release(const Arguments& arguments);
  StatusOr<std::string> Set(const Arguments& arguments);
  Status SetControl(const std::string& name, const std::string& value);
  // The names of the tables done, as JSON.
  StatusOr<std::string> ForTables(const Arguments& arguments,
                                  const std::function<Status(const TableName&)>& act);
  // The system's are left out.
  StatusOr<std::vector<TableName>> AllTables();

  Status CompactTable(const TableName& table, const std::string& kind);

  Store& store_;
  LocalControls* const controls_;
  const MountStatus mount_;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_H_
