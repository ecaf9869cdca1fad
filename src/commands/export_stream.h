// SPDX-License-Identifier: MIT
//
// ExportStream: the lines of an export one after the other, from a store where it is asked for, or
// from a file that export has written.
#ifndef CELLFS_SRC_COMMANDS_EXPORT_STREAM_H_
#define CELLFS_SRC_COMMANDS_EXPORT_STREAM_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/status_or.h"
#include "src/commands/cell_line.h"
#include "src/commands/command.h"

namespace cellfs {

// A table, or a cell of one.
struct ExportLine {
  std::string table;
  bool is_cell = false;
  CellLine cell;
};

// One thread takes from it.
class ExportStream {
 public:
  virtual ~ExportStream() = default;
  // False: that was all. What is about neither is passed over.
  virtual StatusOr<bool> Next(ExportLine& line) = 0;

  // Of a store, asked in a thread of its own, which is at most some lines ahead. `arguments` as of
  // `export`.
  static StatusOr<std::unique_ptr<ExportStream>> OfStore(const Front& front,
                                                         const std::string& target,
                                                         nlohmann::json arguments);
  // Of a file. It has to end as an export does.
  static StatusOr<std::unique_ptr<ExportStream>> OfFile(const std::string& path);
};

}  // namespace cellfs

#endif  // CELLFS_SRC_COMMANDS_EXPORT_STREAM_H_
