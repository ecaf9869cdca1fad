// SPDX-License-Identifier: MIT
//
// Lines of JSON that say what is to be done to a cell, as `scan --json` and `export` write them:
//
//     {"row": "r", "family": "f", "qualifier": "q", "value": "v", "timestamp": 1, "ttl": 60000}
//     {"row": "r", "column": "f:old", "type": "DeleteColumn"}
//     {"row": "r", "column": "f:visits", "type": "Increment", "amount": 1}
#ifndef CELLFS_SRC_COMMANDS_CELL_LINES_H_
#define CELLFS_SRC_COMMANDS_CELL_LINES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "engine/mutation.h"
#include "engine/status_or.h"

namespace cellfs {

// kIllegalArgument says what is wrong with the line, by the names of its members.
StatusOr<Mutation> MutationOf(const nlohmann::json& line);
// REQUIRES: it is of one cell, as MutationOf makes it.
const std::string& FamilyOf(const Mutation& mutation);
// Empty where the member is no text.
std::string TextIn(const nlohmann::json& line, const char* name);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELL_LINES_H_
