// SPDX-License-Identifier: MIT
//
// What shells complete, as tables in each shell's own language. packaging/completions has the scripts
// around them.
#ifndef CELLFS_SRC_DOCUMENTATION_COMPLETIONS_H_
#define CELLFS_SRC_DOCUMENTATION_COMPLETIONS_H_

#include <string>

namespace cellfs {

// A branch for each command, that sets `options` (all switches), `valued` (SWITCH=KIND of those with
// a value) and `operands` (KINDs; the last with * goes on). KIND is any, path, directory, user, time,
// mount_options, or words with | between them; time|all is a time or "all".
std::string BashTable();
// A branch for each command: its call of _arguments.
std::string ZshTable();
// Calls of complete.
std::string FishTable();

// "name:summary", quoted, a line each, for zsh; "name", for bash.
std::string ZshCommands();
std::string BashCommands();

}  // namespace cellfs

#endif  // CELLFS_SRC_DOCUMENTATION_COMPLETIONS_H_
