// SPDX-License-Identifier: MIT
//
// What people see of `cellfs status`.
#ifndef CELLFS_SRC_COMMANDS_STATUS_TEXT_H_
#define CELLFS_SRC_COMMANDS_STATUS_TEXT_H_

#include <nlohmann/json.hpp>

#include "src/commands/printer.h"

namespace cellfs {

void PrintStatus(Printer& printer, const nlohmann::json& status);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_STATUS_TEXT_H_
