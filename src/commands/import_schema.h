// SPDX-License-Identifier: MIT
//
// Lines of an export that say what namespaces and tables are (docs/export-format.md).
#ifndef CELLFS_SRC_COMMANDS_IMPORT_SCHEMA_H_
#define CELLFS_SRC_COMMANDS_IMPORT_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/names.h"
#include "src/commands/command.h"

namespace cellfs {

// Makes the namespace or the table; one that is there stays as it is, and a table gets the families that
// it lacks. `into`: the table that the call names, where all goes.
Status MakeSchema(Session& session, const std::optional<TableName>& into,
                  const nlohmann::json& line);
// Where a line goes that names that table; empty: it names none.
StatusOr<TableName> TableOfLine(const std::optional<TableName>& into, const std::string& table);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_SCHEMA_H_
