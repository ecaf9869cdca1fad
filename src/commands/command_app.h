// SPDX-License-Identifier: MIT
//
// What a command understands, as the parser of the command line has it: its own syntax and what all
// commands share. Help, manual pages and completions (src/documentation) read it from there.
#ifndef CELLFS_SRC_COMMANDS_COMMAND_APP_H_
#define CELLFS_SRC_COMMANDS_COMMAND_APP_H_

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/commands/command.h"

namespace cellfs {

// Adds the command to `app`. What is parsed goes into `arguments`, which outlive `app`.
CLI::App& AddCommand(CLI::App& app, const Command& command, nlohmann::json& arguments);

// "cellfs mount [OPTIONS] STORE MOUNTPOINT"
std::string UsageOf(const CLI::App& command);

const char* TitleOf(Group group);

struct ExitCode {
  int code;
  std::string_view meaning;
};
std::span<const ExitCode> ExitCodes();
// A line for each.
std::string ExitCodesText();

// The calls of an example, each with "cellfs ".
std::vector<std::string> ExamplesOf(const Command& command);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_COMMAND_APP_H_
