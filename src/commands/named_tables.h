// SPDX-License-Identifier: MIT
//
// The tables that a command is about which may be of one, of a namespace, or of a whole store.
#ifndef CELLFS_SRC_COMMANDS_NAMED_TABLES_H_
#define CELLFS_SRC_COMMANDS_NAMED_TABLES_H_

#include <vector>

#include "engine/names.h"
#include "engine/status_or.h"
#include "src/commands/arguments.h"
#include "src/commands/command.h"

namespace cellfs {

// By what path and words name: a table, a namespace, or all but the system's and the file system's.
StatusOr<std::vector<TableName>> NamedTables(Session& session, const Arguments& arguments);
// Whether they name none, and so mean all.
inline bool NamesAllTables(const Arguments& arguments) {
  return arguments.Texts("path").empty() && arguments.Texts("words").empty();
}

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_NAMED_TABLES_H_
