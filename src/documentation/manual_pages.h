// SPDX-License-Identifier: MIT
//
// Manual pages in roff, from the texts that the program itself prints.
#ifndef CELLFS_SRC_DOCUMENTATION_MANUAL_PAGES_H_
#define CELLFS_SRC_DOCUMENTATION_MANUAL_PAGES_H_

#include <string>
#include <string_view>

#include "src/documentation/command_page.h"

namespace cellfs {

// cellfs-COMMAND(1)
std::string CommandManual(const CommandPage& page);

// For cellfs(1): each command with its line, by groups.
std::string CommandList();
// For pages that end with the program's exit codes.
std::string ExitCodeList();
// For cellfs.toml(5): each key with its meaning and default.
std::string ConfigurationList();

}  // namespace cellfs

#endif  // CELLFS_SRC_DOCUMENTATION_MANUAL_PAGES_H_
