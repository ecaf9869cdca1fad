// SPDX-License-Identifier: MIT
//
// The command line: arguments in, exit code out. 0: done; 1: it failed, and one line on standard
// error says what and what to do; 2: it was called wrongly.
#ifndef CELLFS_SRC_COMMAND_LINE_H_
#define CELLFS_SRC_COMMAND_LINE_H_

namespace cellfs {

int RunCommandLine(int argc, char** argv);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMAND_LINE_H_
