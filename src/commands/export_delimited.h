// SPDX-License-Identifier: MIT
//
// export --tsv and --csv, where the store is: of each row that shows one of the columns a record with
// its newest values, an empty field where there is none; where a field is HBASE_TS_KEY or
// HBASE_CELL_TTL, of each of these that its cells have.
#ifndef CELLFS_SRC_COMMANDS_EXPORT_DELIMITED_H_
#define CELLFS_SRC_COMMANDS_EXPORT_DELIMITED_H_

#include "engine/names.h"
#include "src/commands/command.h"
#include "src/commands/delimited.h"

namespace cellfs {

// Records {"text", "count"}, of some at a time, and {"refused", "row"} of each that cannot be written so.
Status ExportDelimited(Session& session, const TableName& table, const Delimited& delimited);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_EXPORT_DELIMITED_H_
