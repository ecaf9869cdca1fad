// SPDX-License-Identifier: MIT
//
// Import where the store is: schemas are made, and lines about cells become steps of their rows.
#ifndef CELLFS_SRC_COMMANDS_IMPORT_LINES_H_
#define CELLFS_SRC_COMMANDS_IMPORT_LINES_H_

#include <cstdint>
#include <nlohmann/json.hpp>

#include "src/commands/command.h"

namespace cellfs {

// "schema": a line of a namespace or a table; or "lines" with their "numbers". Each that is refused is
// a record {"line", "refused"}; an error that is none of a line's ends it.
StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments);

// What is wrong with a line itself, and would be the next time: others may still be done.
inline bool IsOfLine(const Status& status) { return ExitCodeOf(status) != kExitFailed; }
// When a line's cell was written, as its store told; 0: it did not.
uint64_t SequenceOf(const nlohmann::json& line);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_LINES_H_
