// SPDX-License-Identifier: MIT
//
// A line of JSON about a cell, read without making an object of it: an import has millions.
#ifndef CELLFS_SRC_COMMANDS_CELL_JSON_H_
#define CELLFS_SRC_COMMANDS_CELL_JSON_H_

#include <string_view>

#include "src/commands/cell_line.h"

namespace cellfs {

// False: it is no object of text and numbers with a "row", each member once. What it is then, or what
// is wrong with it, FromJsonText tells (src/daemon/json_text.h).
bool ReadCellJson(std::string_view text, CellLine& line);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELL_JSON_H_
