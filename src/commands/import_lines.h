// SPDX-License-Identifier: MIT
//
// Import where the store is. The text comes as it is, in blocks, and is read here, so that a cell is
// made of it once:
//
//     "text", its first line's number in "line", and "whole": all of it is to be taken, as at the end.
//     Else what the last row in it has is left, for more of it may come.
//
// The answer is a record {"bytes", "lines", "cells"}: how much of the text was taken, and stored; and
// "begins" or "ends": the text had the first or last line of an export. Before it comes a record
// {"line", "refused"} for each line that was refused. An error that is none of a line's ends it.
#ifndef CELLFS_SRC_COMMANDS_IMPORT_LINES_H_
#define CELLFS_SRC_COMMANDS_IMPORT_LINES_H_

#include "src/commands/command.h"

namespace cellfs {

StatusOr<Answer> ServeImport(Session& session, const Arguments& arguments);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_IMPORT_LINES_H_
