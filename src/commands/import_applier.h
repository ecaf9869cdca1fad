// SPDX-License-Identifier: MIT
//
// ImportApplier: does in a store what import_steps.h has made. Each line that is refused is a record
// {"line", "refused"}, and the rest goes on; an error that is none of a line's ends it.
#ifndef CELLFS_SRC_COMMANDS_IMPORT_APPLIER_H_
#define CELLFS_SRC_COMMANDS_IMPORT_APPLIER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/commands/command.h"
#include "src/commands/import_steps.h"

namespace cellfs {

// One thread.
class ImportApplier {
 public:
  // The session outlives it. `into`: the table that the call names, where all goes.
  ImportApplier(Session& session, std::optional<TableName> into)
      : session_(session), into_(std::move(into)) {}

  Status Do(ImportWork work);
  uint64_t cells() const { return cells_; }  // stored

 private:
  Status Store(const TableName& table, std::vector<ImportStep> steps);
  Status MakeSchema(const SchemaLine& line);
  void Refuse(int64_t line, const std::string& why) const;

  Session& session_;
  const std::optional<TableName> into_;
  uint64_t cells_ = 0;
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_APPLIER_H_
