// SPDX-License-Identifier: MIT
//
// Lines of JSON about cells, written and read without making objects of them: an export has millions.
#ifndef CELLFS_SRC_COMMANDS_CELL_JSON_H_
#define CELLFS_SRC_COMMANDS_CELL_JSON_H_

#include <memory>
#include <string>
#include <string_view>

#include "engine/cell.h"
#include "src/commands/cell_line.h"

namespace cellfs {

// Of one thread.
class CellJsonReader {
 public:
  CellJsonReader();
  ~CellJsonReader();
  CellJsonReader(const CellJsonReader&) = delete;
  CellJsonReader& operator=(const CellJsonReader&) = delete;

  // False: it is no object of text and numbers with a "row", each member once. What it is then, or
  // what is wrong with it, FromJsonText tells (src/daemon/json_text.h).
  bool Read(std::string_view text, CellLine& line);

 private:
  class Parser;

  const std::unique_ptr<Parser> parser_;
};

// Adds the line with its end: all that is stored of the cell, as docs/export-format.md has it.
void AddCellJson(const Cell& cell, std::string_view table, std::string& text);

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_CELL_JSON_H_
